#include <cmath>

#include "aten/engine/copy.h"
#include "aten/engine/iter.h"
#include "backends/cpu/number_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 32768;

template <class T>
T next_after(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(a, b);
  } else {
    const float x{a}, y{b};
    if (x != x || y != y) return T(x + y);
    if (x == y) return b;
    // The smallest number is beside 0; else bits count upwards from 0.
    T result;
    if (x == 0) {
      result.bits = y < 0 ? 0x8001 : 1;
    } else {
      result.bits =
          static_cast<uint16_t>(a.bits + ((x < y) == (x > 0) ? 1 : -1));
    }
    return result;
  }
}

const Tensor& as_dtype(const Tensor& t, ScalarType dtype, Tensor* room) {
  if (t.dtype() == dtype) return t;
  *room = contiguous_cpu(t, dtype);
  return *room;
}

}  // namespace

void nextafter_out(const Tensor& self, const Tensor& other, const Tensor& out) {
  Tensor rooms[2];
  Iter iter(out.sizes());
  iter.add(out);
  iter.add(as_dtype(self, out.dtype(), &rooms[0]));
  iter.add(as_dtype(other, out.dtype(), &rooms[1]));
  iter.finish();
  visit_floating_dtypes("nextafter", out.dtype(), [&]<class T>() {
    iter.for_each(kGrain, [&](const Iter::Block& block) {
      for (int64_t r = 0; r < block.rows; ++r) {
        char* p[3];
        int64_t step[3];
        for (int k = 0; k < 3; ++k) {
          p[k] = block.data[k] + (iter.ndim() > 1 ? r * iter.stride(k, 1) : 0);
          step[k] = iter.stride(k, 0);
        }
        for (int64_t i = 0; i < block.columns; ++i) {
          *reinterpret_cast<T*>(p[0] + i * step[0]) =
              next_after(*reinterpret_cast<const T*>(p[1] + i * step[1]),
                         *reinterpret_cast<const T*>(p[2] + i * step[2]));
        }
      }
    });
  });
}

void frexp_out(const Tensor& self, const Tensor& mantissa,
               const Tensor& exponent) {
  Iter iter(self.sizes());
  iter.add(mantissa);
  iter.add(exponent);
  iter.add(self);
  iter.finish();
  visit_floating_dtypes("frexp", self.dtype(), [&]<class T>() {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, T, float>;
    iter.for_each(kGrain, [&](const Iter::Block& block) {
      for (int64_t r = 0; r < block.rows; ++r) {
        char* p[3];
        for (int k = 0; k < 3; ++k) {
          p[k] = block.data[k] + (iter.ndim() > 1 ? r * iter.stride(k, 1) : 0);
        }
        for (int64_t i = 0; i < block.columns; ++i) {
          const T x = *reinterpret_cast<const T*>(p[2] + i * iter.stride(2, 0));
          int e = 0;
          *reinterpret_cast<T*>(p[0] + i * iter.stride(0, 0)) =
              T(std::frexp(static_cast<Wide>(x), &e));
          *reinterpret_cast<int32_t*>(p[1] + i * iter.stride(1, 0)) = e;
        }
      }
    });
  });
}

}  // namespace sy::cpu
