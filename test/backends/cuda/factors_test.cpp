#include <algorithm>
#include <tuple>

#include "test/backends/cuda/numeric_fixture.h"

// The tests hold factors to A, which they are made of.

namespace sy::cuda::testing {
namespace {

// More and fewer rows than a block has threads.
constexpr int64_t kSizes[] = {1, 2, 17, 300};

Tensor positive(int64_t batch, int64_t n, ScalarType dtype) {
  const Tensor t = numbers({batch, n, n}, kDouble) / 20;
  const Tensor own = sy::eye(n, TensorOptions(kDouble)) * 4;
  return (matmul(t, t.transpose(1, 2)) + own).to(dtype);
}

bool is_close(const Tensor& expected, const Tensor& actual, ScalarType dtype) {
  const double t = dtype == kDouble ? 1e-9 : 1e-2;
  return allclose(expected.to(kDouble), actual.to(Device(kCPU), kDouble), t, t);
}

TEST(Factors, cholesky_of_both_triangles) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const int64_t n : kSizes) {
      const Pair a = pair(positive(2, n, dtype));
      for (const bool upper : {false, true}) {
        const auto [L, info] = linalg_cholesky_ex(a.cuda, upper);
        const Tensor t = L.to(Device(kCPU), kDouble);
        const Tensor other = t.transpose(1, 2);
        EXPECT_TRUE(
            is_close(upper ? matmul(other, t) : matmul(t, other), a.cpu, dtype))
            << dtype << " " << n;
        EXPECT_TRUE(equal(upper ? t.triu() : t.tril(), t));
        EXPECT_EQ(info.abs().sum().item<int64_t>(), 0);
      }
    }
  }
}

TEST(Factors, cholesky_tells_where_it_stopped) {
  double elements[] = {4, 2, 0, 2, 1, 0, 0, 0, 1};  // of rank 2
  const Tensor a =
      from_blob(elements, {3, 3}, kDouble).to(Device(kCUDA), kDouble);
  EXPECT_EQ(std::get<1>(linalg_cholesky_ex(a)).item<int64_t>(), 2);
  EXPECT_THROW(linalg_cholesky(a), LinAlgError);
}

TEST(Factors, lu_of_any_shape_by_the_largest_pivots) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const int64_t n : kSizes) {
      for (const int64_t m : {n, n + 3, std::max<int64_t>(n - 1, 1)}) {
        const Tensor t = rand({2, m, n}, TensorOptions(kDouble)) - 0.5;
        const Pair a = pair(t.to(dtype));
        const auto [P, L, U] = linalg_lu(a.cuda);
        EXPECT_TRUE(is_close(a.cpu, matmul(matmul(P, L), U), dtype))
            << dtype << " " << m << "x" << n;
        EXPECT_LE(L.abs().max().to(kDouble).item<double>(), 1 + 1e-6);
      }
    }
  }
}

TEST(Factors, lu_notes_the_first_pivot_of_zero) {
  double elements[] = {1, 2, 3, 2, 4, 6, 1, 1, 1};
  const Tensor a =
      from_blob(elements, {3, 3}, kDouble).to(Device(kCUDA), kDouble);
  EXPECT_EQ(std::get<2>(linalg_lu_factor_ex(a)).item<int64_t>(), 3);
}

TEST(Factors, triangles_solve_from_either_side) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const int64_t n : kSizes) {
      for (int flags = 0; flags < 8; ++flags) {
        const bool upper = (flags & 1) != 0, left = (flags & 2) != 0;
        const bool unit = (flags & 4) != 0;
        const Tensor full = positive(1, n, dtype) / 4;
        const Tensor unit_full = numbers({1, n, n}, dtype) / 20 / n +
                                 sy::eye(n, TensorOptions(dtype));
        const Tensor& from = unit ? unit_full : full;
        Tensor part = upper ? from.triu() : from.tril();
        if (unit) part.diagonal(0, 1, 2).fill_(1);
        const Tensor b =
            numbers(left ? IntArrayRef{3, n, 5} : IntArrayRef{3, 5, n}, dtype);
        const Tensor x = linalg_solve_triangular(from.to(Device(kCUDA), dtype),
                                                 b.to(Device(kCUDA), dtype),
                                                 upper, left, unit);
        const Tensor y = x.to(Device(kCPU), kDouble);
        const Tensor a = part.to(kDouble);
        EXPECT_TRUE(is_close(b, left ? matmul(a, y) : matmul(y, a), dtype))
            << dtype << " " << n << " " << flags;
      }
    }
  }
}

}  // namespace
}  // namespace sy::cuda::testing
