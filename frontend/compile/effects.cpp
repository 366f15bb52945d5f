#include "frontend/compile/effects.h"

#include <algorithm>

#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

constexpr size_t kWord = sizeof(uintptr_t);

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

std::string Effects::written() const {
  for (const Reach::Image& image : reach_.images()) {
    const auto what = [&] {
      return &image == &reach_.images()[0] ? "the callable itself"
             : image.on_stack              ? "a variable on the stack"
                                           : "an object on the heap";
    };
    std::vector<uintptr_t> now(image.words.size());
    if (!read_memory(image.at, now.data(), now.size() * kWord)) return what();
    for (size_t i = 0; i < now.size(); ++i) {
      // What an argument was moved from is empty.
      const bool moved = now[i] == 0 && image.words[i] >> 32 != 0;
      const bool same = now[i] == image.words[i] || moved;
      if (!same && !is_left_out(image.at + i * kWord)) return what();
    }
  }
  return "";
}

}  // namespace sy::compiling
