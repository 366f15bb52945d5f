#pragma once

#include "on_host/thread.h"

// Atomics of integers: the types that CUDA has, and no floats, whose sums would
// depend on the order. Streams run at the same time, so they are real ones.

namespace sy_on_host {

template <class T, class F>
SY_ON_HOST_PLAIN T atomic_update(T* address, Access how, F next) {
  Thread& t = self();
  t.operations->access(how, address, sizeof(T), __builtin_return_address(0));
  T old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, next(old), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  if ((++t.calls & 63) == 0) t.operations->yield();
  return old;
}

}  // namespace sy_on_host

#define SY_ON_HOST_ATOMIC(name, how, T, expression)               \
  inline T name(T* address, T value) {                            \
    return sy_on_host::atomic_update(                             \
        address, sy_on_host::Access::how,                         \
        [&]([[maybe_unused]] T old) -> T { return expression; }); \
  }

#define SY_ON_HOST_ATOMICS(suffix, how)                                      \
  SY_ON_HOST_ATOMIC(atomicAdd##suffix, how, int,                             \
                    static_cast<int>(static_cast<unsigned>(old) +            \
                                     static_cast<unsigned>(value)))          \
  SY_ON_HOST_ATOMIC(atomicAdd##suffix, how, unsigned, old + value)           \
  SY_ON_HOST_ATOMIC(atomicAdd##suffix, how, unsigned long long, old + value) \
  SY_ON_HOST_ATOMIC(atomicSub##suffix, how, int,                             \
                    static_cast<int>(static_cast<unsigned>(old) -            \
                                     static_cast<unsigned>(value)))          \
  SY_ON_HOST_ATOMIC(atomicSub##suffix, how, unsigned, old - value)           \
  SY_ON_HOST_ATOMIC(atomicExch##suffix, how, int, value)                     \
  SY_ON_HOST_ATOMIC(atomicExch##suffix, how, unsigned, value)                \
  SY_ON_HOST_ATOMIC(atomicExch##suffix, how, unsigned long long, value)      \
  SY_ON_HOST_ATOMIC(atomicMin##suffix, how, int, old < value ? old : value)  \
  SY_ON_HOST_ATOMIC(atomicMin##suffix, how, unsigned,                        \
                    old < value ? old : value)                               \
  SY_ON_HOST_ATOMIC(atomicMin##suffix, how, long long,                       \
                    old < value ? old : value)                               \
  SY_ON_HOST_ATOMIC(atomicMin##suffix, how, unsigned long long,              \
                    old < value ? old : value)                               \
  SY_ON_HOST_ATOMIC(atomicMax##suffix, how, int, old > value ? old : value)  \
  SY_ON_HOST_ATOMIC(atomicMax##suffix, how, unsigned,                        \
                    old > value ? old : value)                               \
  SY_ON_HOST_ATOMIC(atomicMax##suffix, how, long long,                       \
                    old > value ? old : value)                               \
  SY_ON_HOST_ATOMIC(atomicMax##suffix, how, unsigned long long,              \
                    old > value ? old : value)                               \
  SY_ON_HOST_ATOMIC(atomicAnd##suffix, how, int, old& value)                 \
  SY_ON_HOST_ATOMIC(atomicAnd##suffix, how, unsigned, old& value)            \
  SY_ON_HOST_ATOMIC(atomicAnd##suffix, how, unsigned long long, old& value)  \
  SY_ON_HOST_ATOMIC(atomicOr##suffix, how, int, old | value)                 \
  SY_ON_HOST_ATOMIC(atomicOr##suffix, how, unsigned, old | value)            \
  SY_ON_HOST_ATOMIC(atomicOr##suffix, how, unsigned long long, old | value)  \
  SY_ON_HOST_ATOMIC(atomicXor##suffix, how, int, old ^ value)                \
  SY_ON_HOST_ATOMIC(atomicXor##suffix, how, unsigned, old ^ value)           \
  SY_ON_HOST_ATOMIC(atomicXor##suffix, how, unsigned long long, old ^ value) \
  SY_ON_HOST_ATOMIC(atomicInc##suffix, how, unsigned,                        \
                    old >= value ? 0 : old + 1)                              \
  SY_ON_HOST_ATOMIC(atomicDec##suffix, how, unsigned,                        \
                    old == 0 || old > value ? value : old - 1)               \
  SY_ON_HOST_CAS(atomicCAS##suffix, how, int)                                \
  SY_ON_HOST_CAS(atomicCAS##suffix, how, unsigned)                           \
  SY_ON_HOST_CAS(atomicCAS##suffix, how, unsigned short)                     \
  SY_ON_HOST_CAS(atomicCAS##suffix, how, unsigned long long)

#define SY_ON_HOST_CAS(name, how, T)                           \
  inline T name(T* address, T expected, T value) {             \
    return sy_on_host::atomic_update(                          \
        address, sy_on_host::Access::how,                      \
        [&](T old) { return old == expected ? value : old; }); \
  }

SY_ON_HOST_ATOMICS(, kAtomic)
SY_ON_HOST_ATOMICS(_block, kAtomicBlock)
SY_ON_HOST_ATOMICS(_system, kAtomic)
#undef SY_ON_HOST_ATOMICS
#undef SY_ON_HOST_ATOMIC
#undef SY_ON_HOST_CAS
