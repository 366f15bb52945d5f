#pragma once

#include "on_host/thread.h"

// Atomics of integers: the types that CUDA has, and no floats, whose sums would
// depend on the order. Streams run at the same time, so they are real ones.

namespace sy_on_host {

template <class T, class F>
T atomic_update(T* address, F next) {
  T old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, next(old), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  Thread& t = self();
  if ((++t.calls & 63) == 0) t.operations->yield();
  return old;
}

}  // namespace sy_on_host

#define SY_ON_HOST_ATOMIC(name, T, expression)                             \
  inline T name(T* address, T value) {                                     \
    return sy_on_host::atomic_update(                                      \
        address, [&]([[maybe_unused]] T old) -> T { return expression; }); \
  }

#define SY_ON_HOST_ATOMICS(suffix)                                           \
  SY_ON_HOST_ATOMIC(atomicAdd##suffix, int,                                  \
                    static_cast<int>(static_cast<unsigned>(old) +            \
                                     static_cast<unsigned>(value)))          \
  SY_ON_HOST_ATOMIC(atomicAdd##suffix, unsigned, old + value)                \
  SY_ON_HOST_ATOMIC(atomicAdd##suffix, unsigned long long, old + value)      \
  SY_ON_HOST_ATOMIC(atomicSub##suffix, int,                                  \
                    static_cast<int>(static_cast<unsigned>(old) -            \
                                     static_cast<unsigned>(value)))          \
  SY_ON_HOST_ATOMIC(atomicSub##suffix, unsigned, old - value)                \
  SY_ON_HOST_ATOMIC(atomicExch##suffix, int, value)                          \
  SY_ON_HOST_ATOMIC(atomicExch##suffix, unsigned, value)                     \
  SY_ON_HOST_ATOMIC(atomicExch##suffix, unsigned long long, value)           \
  SY_ON_HOST_ATOMIC(atomicMin##suffix, int, old < value ? old : value)       \
  SY_ON_HOST_ATOMIC(atomicMin##suffix, unsigned, old < value ? old : value)  \
  SY_ON_HOST_ATOMIC(atomicMin##suffix, long long, old < value ? old : value) \
  SY_ON_HOST_ATOMIC(atomicMin##suffix, unsigned long long,                   \
                    old < value ? old : value)                               \
  SY_ON_HOST_ATOMIC(atomicMax##suffix, int, old > value ? old : value)       \
  SY_ON_HOST_ATOMIC(atomicMax##suffix, unsigned, old > value ? old : value)  \
  SY_ON_HOST_ATOMIC(atomicMax##suffix, long long, old > value ? old : value) \
  SY_ON_HOST_ATOMIC(atomicMax##suffix, unsigned long long,                   \
                    old > value ? old : value)                               \
  SY_ON_HOST_ATOMIC(atomicAnd##suffix, int, old& value)                      \
  SY_ON_HOST_ATOMIC(atomicAnd##suffix, unsigned, old& value)                 \
  SY_ON_HOST_ATOMIC(atomicAnd##suffix, unsigned long long, old& value)       \
  SY_ON_HOST_ATOMIC(atomicOr##suffix, int, old | value)                      \
  SY_ON_HOST_ATOMIC(atomicOr##suffix, unsigned, old | value)                 \
  SY_ON_HOST_ATOMIC(atomicOr##suffix, unsigned long long, old | value)       \
  SY_ON_HOST_ATOMIC(atomicXor##suffix, int, old ^ value)                     \
  SY_ON_HOST_ATOMIC(atomicXor##suffix, unsigned, old ^ value)                \
  SY_ON_HOST_ATOMIC(atomicXor##suffix, unsigned long long, old ^ value)      \
  SY_ON_HOST_ATOMIC(atomicInc##suffix, unsigned, old >= value ? 0 : old + 1) \
  SY_ON_HOST_ATOMIC(atomicDec##suffix, unsigned,                             \
                    old == 0 || old > value ? value : old - 1)               \
  SY_ON_HOST_CAS(atomicCAS##suffix, int)                                     \
  SY_ON_HOST_CAS(atomicCAS##suffix, unsigned)                                \
  SY_ON_HOST_CAS(atomicCAS##suffix, unsigned short)                          \
  SY_ON_HOST_CAS(atomicCAS##suffix, unsigned long long)

#define SY_ON_HOST_CAS(name, T)                                         \
  inline T name(T* address, T expected, T value) {                      \
    return sy_on_host::atomic_update(                                   \
        address, [&](T old) { return old == expected ? value : old; }); \
  }

SY_ON_HOST_ATOMICS()
SY_ON_HOST_ATOMICS(_block)
SY_ON_HOST_ATOMICS(_system)
#undef SY_ON_HOST_ATOMICS
#undef SY_ON_HOST_ATOMIC
#undef SY_ON_HOST_CAS
