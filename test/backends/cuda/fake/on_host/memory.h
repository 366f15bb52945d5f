#pragma once

#include <type_traits>

#include "on_host/thread.h"

// Loads and stores with hints for caches: plain ones here, but that __ldcv
// reads afresh and that __ldg may find what a cache kept.

namespace sy_on_host {
template <class T>
SY_ON_HOST_PLAIN void touched(Access how, const volatile void* p) {
  self().operations->access(how, const_cast<const void*>(p), sizeof(T),
                            __builtin_return_address(0));
}
template <class T>
SY_ON_HOST_PLAIN std::remove_cv_t<T> plain_load(T* p) {
  return *p;
}
}  // namespace sy_on_host

#define SY_ON_HOST_LOAD(name)             \
  template <class T>                      \
  inline std::remove_cv_t<T> name(T* p) { \
    return *p;                            \
  }
SY_ON_HOST_LOAD(__ldca)
SY_ON_HOST_LOAD(__ldcg)
SY_ON_HOST_LOAD(__ldcs)
SY_ON_HOST_LOAD(__ldlu)
#undef SY_ON_HOST_LOAD

template <class T>
inline std::remove_cv_t<T> __ldcv(T* p) {
  sy_on_host::touched<T>(sy_on_host::Access::kVolatileRead, p);
  return sy_on_host::plain_load(p);
}
template <class T>
inline std::remove_cv_t<T> __ldg(T* p) {
  sy_on_host::touched<T>(sy_on_host::Access::kConstantRead, p);
  return sy_on_host::plain_load(p);
}

#define SY_ON_HOST_STORE(name)                            \
  template <class T>                                      \
  inline void name(T* p, std::type_identity_t<T> value) { \
    *p = value;                                           \
  }
SY_ON_HOST_STORE(__stwb)
SY_ON_HOST_STORE(__stcg)
SY_ON_HOST_STORE(__stcs)
SY_ON_HOST_STORE(__stwt)
#undef SY_ON_HOST_STORE

inline long long clock64() {
  return static_cast<long long>(__builtin_ia32_rdtsc());
}
