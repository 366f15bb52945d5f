#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "backends/cuda/memory/block.h"
#include "backends/cuda/memory/owner_lock.h"
#include "backends/cuda/memory/size_class.h"
#include "c10/macros.h"

namespace sy::cuda {

// Small free blocks of one lane that one thread keeps: a stack for each class.
struct Bins {
  static constexpr std::array<uint16_t, kClasses + 1> kBegin = [] {
    std::array<uint16_t, kClasses + 1> out{};
    for (unsigned c = 0; c < kClasses; ++c) {
      out[c + 1] = static_cast<uint16_t>(out[c] + kept_of(c));
    }
    return out;
  }();

  Lane* lane = nullptr;
  Bins* next = nullptr;
  std::array<uint8_t, kClasses> count{};
  std::array<void*, kBegin[kClasses]> blocks;

  bool full(unsigned c) const { return count[c] == kept_of(c); }
  void push(unsigned c, void* data) { blocks[kBegin[c] + count[c]++] = data; }
  void* pop(unsigned c) { return blocks[kBegin[c] + --count[c]]; }
};

// The part of one device that one thread keeps. Only the thread itself uses it,
// inside `lock`; others empty it when memory is short. The counters are written
// by the thread alone and may be read by any.
struct ThreadPart {
  static constexpr int64_t kAskFirst = std::numeric_limits<int64_t>::min();

  OwnerLock lock;
  Bins* current = nullptr;  // of the stream that it allocated for last
  // The thread asks the device before `bytes` is more than that.
  int64_t report_at = kAskFirst;
  std::atomic<int64_t> bytes{0};  // that it allocated, less those it freed
  std::atomic<int64_t> calls{0};
  Bins* bins = nullptr;  // the first of a list
  ThreadPart* next = nullptr;

  void count(int64_t more, int64_t call) noexcept {
    bytes.store(bytes.load(std::memory_order_relaxed) + more,
                std::memory_order_relaxed);
    if (call == 0) return;
    calls.store(calls.load(std::memory_order_relaxed) + call,
                std::memory_order_relaxed);
  }
  Bins* find(const Lane* lane) const noexcept {
    Bins* b = bins;
    while (b != nullptr && b->lane != lane) b = b->next;
    return b;
  }

  // nullptr unless a block is at hand.
  SY_ALWAYS_INLINE void* take(unsigned c, int64_t asked, uint64_t stream) {
    lock.enter();
    void* data = nullptr;
    Bins* const b = current;
    if (SY_LIKELY(b != nullptr &&
                  b->lane->stream.load(std::memory_order_relaxed) == stream &&
                  b->count[c] != 0 &&
                  bytes.load(std::memory_order_relaxed) + asked <= report_at)) {
      data = b->pop(c);
      count(asked, 1);
    }
    lock.leave();
    return data;
  }
  // False unless there is room.
  SY_ALWAYS_INLINE bool keep(const Lane* lane, unsigned c, void* data,
                             int64_t asked) noexcept {
    lock.enter();
    Bins* const b = current;
    const bool kept = SY_LIKELY(b != nullptr && b->lane == lane && !b->full(c));
    if (kept) {
      b->push(c, data);
      count(-asked, 0);
    }
    lock.leave();
    return kept;
  }
};

inline constexpr int kMostDevices = 64;
// The parts by device; nullptr before the thread's first slow call and after
// its end.
extern SY_TLS_FAST constinit thread_local ThreadPart** thread_parts;

}  // namespace sy::cuda
