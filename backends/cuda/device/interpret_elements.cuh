#pragma once

#include "element.cuh"
#include "interpret.cuh"

// Elements in memory as registers of an interpreted program: bools are in b8,
// all else in the member of the compute type. `dtype` is the number of a
// ScalarType.

namespace sy::cuda {

#ifdef SY_TYPE_b8
constexpr bool kComputesBools = true;
#else
constexpr bool kComputesBools = false;
#endif

template <class F>
__device__ __forceinline__ void visit_scalar_type(int dtype, const F& f) {
  switch (dtype) {
    case 0: return f(uint8_t());
    case 1: return f(int8_t());
    case 2: return f(int16_t());
    case 3: return f(int32_t());
    case 4: return f(int64_t());
    case 5: return f(half16());
    case 6: return f(float());
    case 7: return f(double());
    case 8: return f(bool_byte());
    default: return f(bfloat16());
  }
}

__device__ __forceinline__ int bytes_of_element(int dtype) {
  int n = 1;
  visit_scalar_type(dtype, [&](auto e) { n = sizeof(e); });
  return n;
}

__device__ inline Number read_number(const void* from, int dtype,
                                     bool is_bool) {
  Number r;
  r.i64 = 0;
  visit_scalar_type(dtype, [&](auto element) {
    const auto x = *static_cast<const decltype(element)*>(from);
    if (kComputesBools || is_bool) {
      r.b8 = load_bool(x);
    } else {
      r.SY_TYPE = load_value<Stepped>(x);
    }
  });
  return r;
}

__device__ inline void write_number(void* to, int dtype, bool is_bool,
                                    Number r) {
  visit_scalar_type(dtype, [&](auto element) {
    using E = decltype(element);
    if (kComputesBools || is_bool) {
      *static_cast<E*>(to) = store_bool<E>(r.b8);
    } else {
      *static_cast<E*>(to) = store_value<E>(static_cast<Stepped>(r.SY_TYPE));
    }
  });
}

}  // namespace sy::cuda
