#include "frontend/compile/places.h"

#include <algorithm>
#include <cstring>

#include "frontend/compile/lists.h"

namespace sy::compiling {

namespace {

bool is_argument(const void* word, const Arguments& a) {
  return word != nullptr &&
         std::any_of(a.tensors.begin(), a.tensors.end(),
                     [&](const Tensor& t) { return t.impl() == word; });
}

}  // namespace

Places::Places(const Arguments& a, const Reach& reach) {
  if (a.tensors.empty()) return;
  for (const Reach::Image& image : reach.images()) {
    const bool is_callable = &image == &reach.images()[0];
    for (size_t k = 0; k < image.words.size(); ++k) {
      const auto* const word = reinterpret_cast<const void*>(image.words[k]);
      if (!is_argument(word, a)) continue;
      Place at{std::nullopt, k * sizeof word};
      if (!is_callable) at.path.emplace(reach, image, k);
      add(word, a, at);
    }
  }
  for (const StackList& l : stack_lists(a)) {
    const std::vector<const void*> words = l.words();
    for (size_t k = 0; k < words.size(); ++k) {
      if (!is_argument(words[k], a)) continue;
      add(words[k], a,
          {Path(l.header, reinterpret_cast<const void*>(l.begin),
                k * sizeof words[k])});
    }
  }
}

void Places::add(const void* word, const Arguments& a, Place at) {
  for (at.argument = 0; at.argument < a.tensors.size(); ++at.argument) {
    if (a.tensors[at.argument].impl() == word) places_.push_back(at);
  }
}

bool Places::Place::has(const Arguments& a) const {
  const void* word = nullptr;
  if (!path) {
    const auto* const callable = static_cast<const char*>(a.closure);
    std::memcpy(&word, callable + offset, sizeof word);
  } else if (!path->read(&word)) {
    return true;
  }
  return word == a.tensors[argument].impl();
}

bool Places::hold(const Arguments& a) const {
  return std::all_of(places_.begin(), places_.end(),
                     [&](const Place& p) { return p.has(a); });
}

void Places::accept(const Arguments& a) {
  std::erase_if(places_, [&](const Place& p) { return !p.has(a); });
}

}  // namespace sy::compiling
