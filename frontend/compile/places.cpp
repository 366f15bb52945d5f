#include "frontend/compile/places.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "frontend/compile/lists.h"
#include "frontend/compile/reach.h"

namespace sy::compiling {

namespace {

bool is_argument(const void* word, const Arguments& a) {
  return word != nullptr &&
         std::any_of(a.tensors.begin(), a.tensors.end(),
                     [&](const Tensor& t) { return t.impl() == word; });
}

}  // namespace

Places::Places(const Arguments& a, const void* code) {
  const std::vector<uintptr_t> words = words_of(a);
  for (size_t k = 0; k < words.size(); ++k) {
    const auto* const word = reinterpret_cast<const void*>(words[k]);
    add(word, a, {std::nullopt, k * sizeof word});
  }
  std::vector<const void*> tensors;
  for (const Tensor& t : a.tensors) {
    if (t.defined()) tensors.push_back(t.impl());
  }
  const Search search(std::move(tensors), a, code);
  for (const Search::Found& f : search.found()) {
    add(f.tensor, a, {Path(search, f)});
  }
  // Lists may be too long for a search.
  for (const StackList& l : stack_lists(a)) {
    const std::vector<const void*> elements = l.words();
    const auto* const first = reinterpret_cast<const void*>(l.begin);
    for (size_t k = 0; k < elements.size(); ++k) {
      add(elements[k], a, {Path(l.header, {{first, k * sizeof first}})});
    }
  }
}

void Places::add(const void* word, const Arguments& a, ArgumentPlace at) {
  if (!is_argument(word, a)) return;
  for (at.argument = 0; at.argument < a.tensors.size(); ++at.argument) {
    if (a.tensors[at.argument].impl() == word) places_.push_back(at);
  }
}

bool Places::ArgumentPlace::has(const Arguments& a) const {
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
                     [&](const ArgumentPlace& p) { return p.has(a); });
}

void Places::accept(const Arguments& a) {
  std::erase_if(places_, [&](const ArgumentPlace& p) { return !p.has(a); });
}

}  // namespace sy::compiling
