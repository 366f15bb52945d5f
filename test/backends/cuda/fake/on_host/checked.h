#pragma once

#include "on_host/thread.h"

// The functions that gcc calls before each access of code that it compiles with
// -fsanitize=thread; the last header of a unit of kernels. The pair of macros
// makes the calls of programs with kernels of their own, too
// (emulator/checked.cpp).

// `touch(how, p, bytes, from)` is the function that they go on to.
#define SY_ON_HOST_CHECKED_BYTES(touch, n)                            \
  SY_ON_HOST_PLAIN void __tsan_read##n(void* p) {                     \
    touch(sy_on_host::Access::kRead, p, n, SY_ON_HOST_FROM);          \
  }                                                                   \
  SY_ON_HOST_PLAIN void __tsan_write##n(void* p) {                    \
    touch(sy_on_host::Access::kWrite, p, n, SY_ON_HOST_FROM);         \
  }                                                                   \
  SY_ON_HOST_PLAIN void __tsan_volatile_read##n(void* p) {            \
    touch(sy_on_host::Access::kVolatileRead, p, n, SY_ON_HOST_FROM);  \
  }                                                                   \
  SY_ON_HOST_PLAIN void __tsan_volatile_write##n(void* p) {           \
    touch(sy_on_host::Access::kVolatileWrite, p, n, SY_ON_HOST_FROM); \
  }

#define SY_ON_HOST_CHECKED(touch)                                   \
  extern "C" {                                                      \
  SY_ON_HOST_CHECKED_BYTES(touch, 1)                                \
  SY_ON_HOST_CHECKED_BYTES(touch, 2)                                \
  SY_ON_HOST_CHECKED_BYTES(touch, 4)                                \
  SY_ON_HOST_CHECKED_BYTES(touch, 8)                                \
  SY_ON_HOST_CHECKED_BYTES(touch, 16)                               \
  SY_ON_HOST_PLAIN void __tsan_read_range(void* p, size_t bytes) {  \
    touch(sy_on_host::Access::kRead, p, bytes, SY_ON_HOST_FROM);    \
  }                                                                 \
  SY_ON_HOST_PLAIN void __tsan_write_range(void* p, size_t bytes) { \
    touch(sy_on_host::Access::kWrite, p, bytes, SY_ON_HOST_FROM);   \
  }                                                                 \
  SY_ON_HOST_PLAIN void __tsan_vptr_update(void*, void*) {}         \
  SY_ON_HOST_PLAIN void __tsan_init() {}                            \
  }
#define SY_ON_HOST_FROM __builtin_return_address(0)

namespace sy_on_host {
SY_ON_HOST_PLAIN SY_ON_HOST_INLINE void touch(Access how, const void* p,
                                              size_t bytes, const void* from) {
  const Thread& me = self();
  if (me.is_checked && !is_own(me, p))
    me.operations->access(how, p, bytes, from);
}
}  // namespace sy_on_host
