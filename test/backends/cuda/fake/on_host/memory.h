#pragma once

#include <type_traits>

// Loads and stores with hints for caches: plain ones here.

#define SY_ON_HOST_LOAD(name)             \
  template <class T>                      \
  inline std::remove_cv_t<T> name(T* p) { \
    return *p;                            \
  }
SY_ON_HOST_LOAD(__ldg)
SY_ON_HOST_LOAD(__ldca)
SY_ON_HOST_LOAD(__ldcg)
SY_ON_HOST_LOAD(__ldcs)
SY_ON_HOST_LOAD(__ldcv)
SY_ON_HOST_LOAD(__ldlu)
#undef SY_ON_HOST_LOAD

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
