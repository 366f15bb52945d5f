#pragma once

#include <cstring>

#include "on_host/thread.h"

// Barriers, and the operations that lanes of a warp do together.

inline void __syncthreads() {
  sy_on_host::self().operations->barrier(sy_on_host::Barrier::kSync, 0);
}
inline int __syncthreads_count(int predicate) {
  return sy_on_host::self().operations->barrier(sy_on_host::Barrier::kCount,
                                                predicate);
}
inline int __syncthreads_and(int predicate) {
  return sy_on_host::self().operations->barrier(sy_on_host::Barrier::kAnd,
                                                predicate);
}
inline int __syncthreads_or(int predicate) {
  return sy_on_host::self().operations->barrier(sy_on_host::Barrier::kOr,
                                                predicate);
}

namespace sy_on_host {

inline uint64_t collective(Collective kind, unsigned mask, uint64_t value = 0,
                           int source = 0) {
  return self().operations->collective(kind, mask, value, source);
}

template <class T>
T shuffle(unsigned mask, T value, int source) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = collective(Collective::kShuffle, mask, bits, source);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// The lane that each form of shuffle reads: segments of `width` lanes; a lane
// outside of the segment is the thread's own.
inline int source_at(int lane, int from, int width) {
  return (lane & ~(width - 1)) | (from & (width - 1));
}
inline int source_up(int lane, unsigned delta, int width) {
  const int within = lane & (width - 1);
  return delta > static_cast<unsigned>(within) ? lane
                                               : lane - static_cast<int>(delta);
}
inline int source_down(int lane, unsigned delta, int width) {
  const unsigned within = static_cast<unsigned>(lane & (width - 1));
  return delta >= static_cast<unsigned>(width) - within
             ? lane
             : lane + static_cast<int>(delta);
}
inline int source_xor(int lane, int lanes, int width) {
  const int to = lane ^ lanes;
  // Segments before the own one may be read, as on the device.
  return to < (lane & ~(width - 1)) + width ? to : lane;
}

}  // namespace sy_on_host

#define SY_ON_HOST_SHUFFLES(T)                                               \
  inline T __shfl_sync(unsigned mask, T v, int from, int width = 32) {       \
    const int lane = static_cast<int>(sy_on_host::self().lane);              \
    return sy_on_host::shuffle(mask, v,                                      \
                               sy_on_host::source_at(lane, from, width));    \
  }                                                                          \
  inline T __shfl_up_sync(unsigned mask, T v, unsigned delta,                \
                          int width = 32) {                                  \
    const int lane = static_cast<int>(sy_on_host::self().lane);              \
    return sy_on_host::shuffle(mask, v,                                      \
                               sy_on_host::source_up(lane, delta, width));   \
  }                                                                          \
  inline T __shfl_down_sync(unsigned mask, T v, unsigned delta,              \
                            int width = 32) {                                \
    const int lane = static_cast<int>(sy_on_host::self().lane);              \
    return sy_on_host::shuffle(mask, v,                                      \
                               sy_on_host::source_down(lane, delta, width)); \
  }                                                                          \
  inline T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32) {  \
    const int lane = static_cast<int>(sy_on_host::self().lane);              \
    return sy_on_host::shuffle(mask, v,                                      \
                               sy_on_host::source_xor(lane, lanes, width));  \
  }
SY_ON_HOST_SHUFFLES(int)
SY_ON_HOST_SHUFFLES(unsigned)
SY_ON_HOST_SHUFFLES(long)
SY_ON_HOST_SHUFFLES(unsigned long)
SY_ON_HOST_SHUFFLES(long long)
SY_ON_HOST_SHUFFLES(unsigned long long)
SY_ON_HOST_SHUFFLES(float)
SY_ON_HOST_SHUFFLES(double)
#undef SY_ON_HOST_SHUFFLES

inline void __syncwarp(unsigned mask = 0xffffffffu) {
  sy_on_host::collective(sy_on_host::Collective::kSync, mask);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(sy_on_host::collective(
      sy_on_host::Collective::kBallot, mask, predicate != 0));
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}
// No thread is sure to run beside another.
inline unsigned __activemask() { return 1u << sy_on_host::self().lane; }

#define SY_ON_HOST_MATCH(T)                                  \
  inline unsigned __match_any_sync(unsigned mask, T value) { \
    uint64_t bits = 0;                                       \
    std::memcpy(&bits, &value, sizeof(T));                   \
    return static_cast<unsigned>(sy_on_host::collective(     \
        sy_on_host::Collective::kMatchAny, mask, bits));     \
  }
SY_ON_HOST_MATCH(int)
SY_ON_HOST_MATCH(unsigned)
SY_ON_HOST_MATCH(long)
SY_ON_HOST_MATCH(unsigned long)
SY_ON_HOST_MATCH(long long)
SY_ON_HOST_MATCH(unsigned long long)
SY_ON_HOST_MATCH(float)
SY_ON_HOST_MATCH(double)
#undef SY_ON_HOST_MATCH

#define SY_ON_HOST_REDUCE(name, T, kind)                      \
  inline T name(unsigned mask, T value) {                     \
    return static_cast<T>(sy_on_host::collective(             \
        sy_on_host::Collective::kind, mask,                   \
        static_cast<uint64_t>(static_cast<int64_t>(value)))); \
  }
SY_ON_HOST_REDUCE(__reduce_add_sync, int, kAdd)
SY_ON_HOST_REDUCE(__reduce_add_sync, unsigned, kAdd)
SY_ON_HOST_REDUCE(__reduce_min_sync, int, kMin)
SY_ON_HOST_REDUCE(__reduce_min_sync, unsigned, kMinUnsigned)
SY_ON_HOST_REDUCE(__reduce_max_sync, int, kMax)
SY_ON_HOST_REDUCE(__reduce_max_sync, unsigned, kMaxUnsigned)
SY_ON_HOST_REDUCE(__reduce_and_sync, unsigned, kAnd)
SY_ON_HOST_REDUCE(__reduce_or_sync, unsigned, kOr)
SY_ON_HOST_REDUCE(__reduce_xor_sync, unsigned, kXor)
#undef SY_ON_HOST_REDUCE

namespace sy_on_host {
// Threads that spin call this, or an atomic. Every 64th lets others run.
SY_ON_HOST_PLAIN inline void fence(bool for_all_blocks) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  Thread& t = self();
  t.operations->fence(for_all_blocks);
  if ((++t.calls & 63) == 0) t.operations->yield();
}
}  // namespace sy_on_host

inline void __threadfence() { sy_on_host::fence(true); }
inline void __threadfence_block() { sy_on_host::fence(false); }
inline void __threadfence_system() { sy_on_host::fence(true); }
inline void __nanosleep(unsigned) { sy_on_host::self().operations->yield(); }
[[noreturn]] inline void __trap() {
  sy_on_host::self().operations->trap("__trap()");
  __builtin_unreachable();
}

namespace sy_on_host {
// Faults, as an instruction for global memory does at memory of the block.
inline void expect_global(const void* p) {
  const Thread& me = self();
  const auto at = reinterpret_cast<uintptr_t>(p);
  if (me.memory_end == 0 || (at >= me.memory_begin && at < me.memory_end)) {
    return;
  }
  me.operations->trap("global memory is written at an address that is not");
}
}  // namespace sy_on_host
