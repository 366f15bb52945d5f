#include "aten/ops/lu.h"

#include <cmath>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/backends/layouts.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;
using Ints = std::vector<int64_t>;

void expect_near(const Tensor& got, const Values& want) {
  const Values v = values(got);
  ASSERT_EQ(v.size(), want.size());
  for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], want[i], 1e-5) << i;
}

TEST(Lu, FactorsByTheLargestPivots) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const auto& [name, x] :
         layouts(tensor({{1.0, 2.0}, {3.0, 4.0}}, dtype))) {
      const auto [lu, pivots] = linalg_lu_factor(x);
      expect_near(lu, {3, 4, 1.0 / 3, 2.0 / 3});
      expect_near(pivots, {2, 2});
      const auto [P, L, U] = linalg_lu(x);
      expect_near(P, {0, 1, 1, 0});
      expect_near(L, {1, 0, 1.0 / 3, 1});
      expect_near(U, {3, 4, 0, 2.0 / 3});
      const Tensor b = tensor({{5.0}, {6.0}}, dtype);
      expect_near(linalg_lu_solve(lu, pivots, b), {-4, 4.5});
      expect_near(linalg_solve(x, b), {-4, 4.5});
      expect_near(linalg_inv(x), {-2, 1, 1.5, -0.5});
    }
  }
}

TEST(Lu, OfAnyShape) {
  const Tensor tall = tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 7.0}});
  for (const Tensor& x : {tall, tall.t()}) {
    const auto [P, L, U] = linalg_lu(x);
    expect_near(matmul(P, matmul(L, U)), values(x));
  }
}

TEST(Lu, SingularMatricesAreErrors) {
  const Tensor a = tensor({{1.0, 2.0}, {2.0, 4.0}});
  EXPECT_EQ(values(std::get<2>(linalg_lu_factor_ex(a))), (Values{2}));
  SY_EXPECT_ERROR(linalg_lu_factor(a), LinAlgError, "[linalg_lu_factor] A");
  SY_EXPECT_ERROR(linalg_solve(a, a), LinAlgError, "[linalg_solve] A");
  SY_EXPECT_ERROR(linalg_inv(a), LinAlgError, "[linalg_inv] A");
  SY_EXPECT_ERROR(linalg_inv(ones({2, 3})), ValueError, "square");
}

TEST(Lu, OfNoElements) {
  EXPECT_EQ(linalg_solve(zeros({2, 0, 0}), zeros({2, 0, 3})).numel(), 0);
  EXPECT_EQ(linalg_inv(zeros({0, 3, 3})).numel(), 0);
}

}  // namespace
}  // namespace sy::families
