#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sy::compiling {

// Memory of the stack or the heap as it was, in units of four bytes, as numbers
// and flags are. The caller knows that the memory is there. `bytes`: a multiple
// of 4.
class Window {
 public:
  // A unit that changes so often, with few calls between (Watch::rest), as a
  // counter does, is no sign.
  static constexpr int kRestless = 2;

  Window(const void* at, size_t bytes);

  bool holds() noexcept;
  // Counts the units that differed when holds() was called last, or had another
  // value at the call before. holds() ignores restless units from then on.
  void follow(const Window& before) noexcept;
  // Begins the count anew.
  void rest() noexcept;

  const char* at() const noexcept { return at_; }
  size_t size() const noexcept { return units_.size() * sizeof(uint32_t); }

 private:
  struct Unit {
    uint32_t was, mask = ~uint32_t{0};
    int changes = 0;
    bool differed = false;  // if held_ is false
  };
  void note_difference() noexcept;

  const char* at_;
  bool held_ = true;
  std::vector<Unit> units_;
};

}  // namespace sy::compiling
