#pragma once

#include <cmath>
#include <limits>

#include "c10/dispatch/registry.h"
#include "test/backends/cuda/pairs.h"

// Numbers at the edges of their dtype, and results that may differ by
// roundings, beside those of pairs.h.

namespace sy::cuda::testing {

// The backend is linked to the test.
class NumericBackend final : public ::testing::Environment {
 public:
  void SetUp() override { init(); }
};
inline ::testing::Environment* const numeric_backend =
    ::testing::AddGlobalTestEnvironment(new NumericBackend);

inline const std::vector<ScalarType>& floating_dtypes() {
  static const std::vector<ScalarType> list = {kHalf, kBFloat16, kFloat,
                                               kDouble};
  return list;
}

// Few values, so that many are equal; of floats -0, infinities and NaN too.
inline Tensor ties(IntArrayRef sizes, ScalarType dtype, unsigned seed = 1,
                   unsigned values = 12) {
  std::mt19937 random(seed);
  const Tensor t = empty(sizes, TensorOptions(kDouble));
  auto* const p = static_cast<double*>(t.data_ptr());
  constexpr double kEdges[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN};
  for (int64_t i = 0; i < t.numel(); ++i) {
    const unsigned r = random();
    p[i] = r / 16 % values;
    if (dtype == kBool) p[i] = r / 16 % 2;
    if (dtype != kByte && dtype != kBool) p[i] -= values / 2;
    if (is_floating_type(dtype) && r % 8 == 0) p[i] = kEdges[r / 16 % 6];
  }
  return t.to(dtype);
}

// All different, in no order; as many as the dtype holds exactly.
inline Tensor different(IntArrayRef sizes, ScalarType dtype,
                        unsigned seed = 1) {
  const Tensor t = empty(sizes, TensorOptions(kLong));
  auto* const p = static_cast<int64_t*>(t.data_ptr());
  for (int64_t i = 0; i < t.numel(); ++i) p[i] = i - t.numel() / 2;
  std::shuffle(p, p + t.numel(), std::mt19937(seed));
  return t.to(dtype);
}

// How far results may be from those of float64, for each unit of size.
inline double rounding_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return 1e-13;
    case kFloat: return 1e-5;
    case kHalf: return 2e-3;
    case kBFloat16: return 1.6e-2;
    default: return 0;
  }
}

// Whether `cuda` is `exact`, a tensor of float64 or int64, as its dtype may
// hold it. `size` is that of the largest intermediate number.
inline ::testing::AssertionResult near(const Tensor& exact, const Tensor& cuda,
                                       ScalarType dtype, double size = 1) {
  if (!cuda.is_cuda() || cuda.dtype() != dtype ||
      cuda.sizes() != exact.sizes()) {
    return ::testing::AssertionFailure()
           << "expected " << describe(exact) << " as " << dtype << ", got "
           << describe(cuda);
  }
  const Tensor e = exact.to(kDouble).contiguous();
  const Tensor a = cuda.to(Device(kCPU)).to(kDouble).contiguous();
  const auto* const x = static_cast<const double*>(e.data_ptr());
  const auto* const y = static_cast<const double*>(a.data_ptr());
  for (int64_t i = 0; i < e.numel(); ++i) {
    const double most = rounding_of(dtype) * (std::abs(x[i]) + size);
    if (std::abs(x[i] - y[i]) <= most || x[i] == y[i] ||
        (x[i] != x[i] && y[i] != y[i])) {
      continue;
    }
    return ::testing::AssertionFailure()
           << "element " << i << " of " << e.numel() << ": expected " << x[i]
           << ", got " << y[i];
  }
  return ::testing::AssertionSuccess();
}

}  // namespace sy::cuda::testing
