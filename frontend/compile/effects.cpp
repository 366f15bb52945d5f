#include "frontend/compile/effects.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

constexpr size_t kWord = sizeof(uintptr_t);
// Of one variable or object: those that are larger are seen in part.
constexpr size_t kMost = 512;
// Where no size is known.
constexpr size_t kLeast = 64;
constexpr size_t kMostPlaces = 64;

bool may_be_address(uintptr_t word) {
  return word >= uintptr_t{1} << 32 && word < uintptr_t{1} << 47 &&
         word % kWord == 0;
}

// The library, or the program, that has an address; nullptr if none has.
const void* module_of(const void* at) {
  Dl_info info;
  return dladdr(at, &info) == 0 ? nullptr : info.dli_fbase;
}

// Code, or a global variable.
bool is_static(const void* at) { return module_of(at) != nullptr; }

bool is_own_class(uintptr_t first_word) {
  static const void* const own =
      module_of(reinterpret_cast<const void*>(&is_own_class));
  return may_be_address(first_word) &&
         module_of(reinterpret_cast<const void*>(first_word)) == own;
}

// The bytes from `at` to the end of its block, if glibc's header before it, or
// before a control block of make_shared, looks like one; else kLeast.
size_t bytes_on_heap(const char* at) {
  constexpr size_t kControl = 16;
  uintptr_t header[1 + kControl / kWord];
  if (!read_memory(at - sizeof header, header, sizeof header)) return kLeast;
  const auto in_block = [](uintptr_t size, size_t before) -> size_t {
    const size_t block = size & ~uintptr_t{7};
    const bool good = block % 16 == 0 && block >= 32 && block <= 1 << 16 &&
                      block > before + kWord;
    return good ? block - before - kWord : 0;
  };
  if (const size_t n = in_block(header[kControl / kWord], 0)) return n;
  if (const size_t n = in_block(header[0], kControl)) return n;
  return kLeast;
}

}  // namespace

Effects::Effects(const Arguments& a, const Outputs* out)
    : left_out_{{reinterpret_cast<const char*>(out), sizeof *out},
                {static_cast<const char*>(a.result), a.result_bytes}} {
  for (const Tensor& t : a.tensors) {
    if (!t.defined() || !t.device().is_cpu() || !t.storage()) continue;
    left_out_.emplace_back(static_cast<const char*>(t.storage()->data()),
                           t.storage()->nbytes());
  }
  take({{a.closure, a.closure_bytes, "the callable itself"}});
  for (size_t first = 0, level = 0; level < 2; ++level) {
    const size_t next = images_.size();
    take(behind(first));
    first = next;
  }
}

bool Effects::is_known(const void* at) const {
  return std::any_of(images_.begin(), images_.end(), [&](const Image& i) {
    const auto offset = static_cast<const char*>(at) - i.at;
    return offset >= 0 &&
           offset < static_cast<std::ptrdiff_t>(i.words.size() * kWord);
  });
}

bool Effects::is_left_out(const char* at) const {
  return std::any_of(left_out_.begin(), left_out_.end(), [&](const auto& r) {
    return at + kWord > r.first && at < r.first + r.second;
  });
}

Effects::Place Effects::place_of(uintptr_t word) const {
  const auto* const at = reinterpret_cast<const char*>(word);
  const void* const frame = __builtin_frame_address(0);
  if (!is_on_stack(at, kWord, frame)) {
    return {at, std::min(bytes_on_heap(at), kMost), "an object on the heap"};
  }
  size_t bytes = kMost;
  while (!is_on_stack(at, bytes, frame)) bytes -= kWord;
  return {at, bytes, "a variable on the stack"};
}

std::vector<Effects::Place> Effects::behind(size_t first) const {
  const void* const frame = __builtin_frame_address(0);
  std::vector<Place> places;
  for (size_t i = first; i < images_.size(); ++i) {
    const Image& image = images_[i];
    // On the stack other variables follow, and what is left of calls.
    size_t n = image.words.size();
    if (i != 0 && is_on_stack(image.at, kWord, frame)) {
      n = std::min(n, kLeast / kWord);
    }
    for (size_t k = 0; k < n; ++k) {
      const auto* const at = reinterpret_cast<const void*>(image.words[k]);
      const bool known =
          is_known(at) ||
          std::any_of(places.begin(), places.end(),
                      [&](const Place& p) { return p.at == at; });
      if (known || !may_be_address(image.words[k]) || is_static(at)) continue;
      if (places.size() == kMostPlaces) return places;
      places.push_back(place_of(image.words[k]));
    }
  }
  return places;
}

void Effects::take(const std::vector<Place>& places) {
  for (const Place& p : places) {
    Image image{static_cast<const char*>(p.at), p.what, {}};
    image.words.resize(p.bytes / kWord);
    size_t bytes = image.words.size() * kWord;
    if (bytes == 0 || !read_memory(p.at, image.words.data(), bytes)) continue;
    const bool is_closure = images_.empty();
    if (!is_closure && is_own_class(image.words[0])) continue;
    images_.push_back(std::move(image));
  }
}

std::string Effects::written() const {
  for (const Image& image : images_) {
    std::vector<uintptr_t> now(image.words.size());
    if (!read_memory(image.at, now.data(), now.size() * kWord)) {
      return image.what;  // it was there
    }
    for (size_t i = 0; i < now.size(); ++i) {
      // What an argument was moved from is empty.
      const bool moved = now[i] == 0 && may_be_address(image.words[i]);
      if (now[i] == image.words[i] || moved ||
          is_left_out(image.at + i * kWord)) {
        continue;
      }
      return image.what;
    }
  }
  return "";
}

}  // namespace sy::compiling
