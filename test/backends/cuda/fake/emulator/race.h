#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "test/backends/cuda/fake/emulator/clocks.h"
#include "test/backends/cuda/fake/on_host/thread.h"

// Remembers for each eight bytes of memory who touched them last, and finds
// accesses of two threads, one of them a write, that nothing orders: on a GPU
// either may come first. Atomics and volatile accesses need no order among
// themselves. It forgets all but four accesses, so it may miss a race; what it
// finds is one.

namespace fake_cuda {

struct EarlierAccess {
  ThreadName who;
  sy_on_host::Access how;
};

struct Touch {
  sy_on_host::Access how;
  uintptr_t at;
  size_t bytes;
  // 0: global memory. Else shared memory of this resident block.
  unsigned shared;
  bool is_variable;  // of shared memory: not dynamic
};

class RaceCheck {
 public:
  RaceCheck() = default;
  ~RaceCheck();
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;

  // Begins a launch: nothing is known of what was before it.
  void begin();
  // Whether it races with `*earlier`, at `*at`.
  bool races(BlockClocks& block, unsigned thread, const Touch& touch,
             EarlierAccess* earlier, uintptr_t* at);
  // The bytes of __shared__ variables that threads have touched.
  size_t shared_bytes() const { return shared_bytes_; }

 private:
  static constexpr unsigned kSlots = 4;
  static constexpr unsigned kPageBits = 12;
  // Accesses, packed; 0 is none.
  struct Cell {
    uint64_t slots[kSlots];
  };
  struct Page {
    Cell* cells;
    uint32_t launch;
  };
  struct Recent {
    uintptr_t page;
    Cell* cells;
  };

  // nullptr: there is no room for more.
  Cell* cell_of(uintptr_t at);
  Cell* find_page(uintptr_t page);
  bool touch_cell(BlockClocks& block, uint64_t mine, Cell& cell, bool is_shared,
                  EarlierAccess* earlier);
  void note_place(BlockClocks& block, unsigned thread, const Touch& touch,
                  uintptr_t at);
  void forget_pages();

  uint32_t launch_ = 0;
  size_t shared_bytes_ = 0;
  std::unordered_map<uintptr_t, Page> pages_;
  Recent recent_[256] = {};
  Places places_;
};

// "reads", "writes by an atomic", ...
const char* words_for(sy_on_host::Access how);

}  // namespace fake_cuda
