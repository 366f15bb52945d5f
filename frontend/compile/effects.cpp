#include "frontend/compile/effects.h"

#include <algorithm>
#include <string_view>

#include "frontend/compile/heap.h"

namespace sy::compiling {

namespace {

constexpr size_t kWord = sizeof(uintptr_t);

// Whether one was added to the word, or to halves of it, and it is no pointer
// to characters.
bool is_counted(uintptr_t was, uintptr_t now) {
  const auto low = static_cast<uint32_t>(was), high = uint32_t(was >> 32);
  const auto more = static_cast<uint32_t>(now), above = uint32_t(now >> 32);
  const bool is_pointer = high >= 0x5500 && high < 0x8000;
  const auto counts = [](uint32_t a, uint32_t b) {
    return b == a || b == a + 1;
  };
  return !is_pointer && counts(low, more) && counts(high, above);
}

// Whether the object is what a std::shared_ptr counts in, by the name of its
// class: the word before the virtual functions leads to a type_info, whose
// second word is the name.
bool counts_owners(const Reach::Image& object) {
  uintptr_t type = 0, at = 0;
  char name[32] = {};
  const auto* const functions = reinterpret_cast<const char*>(object.words[0]);
  if (!read_memory(functions - kWord, &type, kWord) ||
      !read_memory(reinterpret_cast<const char*>(type) + kWord, &at, kWord) ||
      !read_memory(reinterpret_cast<const char*>(at), name, sizeof name)) {
    return false;
  }
  return std::string_view(name, sizeof name).find("_Sp_counted_") !=
         std::string_view::npos;
}

}  // namespace

Effects::Effects(const Arguments& a, const Outputs* out)
    : left_out_{{reinterpret_cast<const char*>(out), sizeof *out},
                {static_cast<const char*>(a.result), a.result_bytes}},
      reach_(a) {
  for (const Tensor& t : a.tensors) {
    if (!t.defined() || !t.device().is_cpu() || !t.storage()) continue;
    left_out_.emplace_back(static_cast<const char*>(t.storage()->data()),
                           t.storage()->nbytes());
  }
}

bool Effects::is_left_out(const char* at) const {
  return std::any_of(
      left_out_.begin(), left_out_.end(), [&](const auto& place) {
        return at + kWord > place.first && at < place.first + place.second;
      });
}

Effects::Found Effects::found() const {
  Found found;
  for (const Reach::Image& image : reach_.images()) {
    // Many pointers in objects lead to the end of what is theirs.
    if (image.from >= 0 && !image.has_size) continue;
    const auto what = [&] {
      return &image == &reach_.images()[0] ? "the callable itself"
             : image.on_stack              ? "a variable on the stack"
                                           : "an object on the heap";
    };
    std::vector<uintptr_t> now(image.words.size());
    if (!read_memory(image.at, now.data(), now.size() * kWord)) {
      found.written = what();  // it was there
      break;
    }
    for (size_t i = 0; i < now.size(); ++i) {
      const char* const at = image.at + i * kWord;
      const uintptr_t was = image.words[i];
      // A variable that an argument was moved from is empty.
      const bool moved = now[i] == 0 && was >> 32 != 0;
      if (now[i] == was || moved || is_left_out(at)) continue;
      if (i == 1 && !image.on_stack && counts_owners(image)) continue;
      if (!is_counted(was, now[i])) {
        found.written = what();
        return found;
      }
      found.counters.push_back(at);
    }
  }
  std::sort(found.counters.begin(), found.counters.end());
  return found;
}

}  // namespace sy::compiling
