#include "aten/ops/cholesky.h"

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

TEST(Cholesky, FactorsEitherTriangle) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const Tensor a = tensor({{4.0, 2.0}, {2.0, 5.0}}, dtype);
    for (const auto& [name, x] : layouts(a)) {
      expect_near(linalg_cholesky(x), {2, 0, 1, 2});
      expect_near(linalg_cholesky(x, true), {2, 1, 0, 2});
    }
    expect_near(
        cholesky_solve(tensor({{6.0}, {7.0}}, dtype), linalg_cholesky(a)),
        {1, 1});
    expect_near(cholesky_inverse(linalg_cholesky(a)),
                {5.0 / 16, -2.0 / 16, -2.0 / 16, 4.0 / 16});
  }
}

TEST(Cholesky, TellsWhereItStopped) {
  const Tensor a = tensor({{4.0, 2.0, 0.0}, {2.0, 1.0, 0.0}, {0.0, 0.0, 1.0}});
  const Tensor both = stack({eye(3, kDouble), a});
  EXPECT_EQ(values(std::get<1>(linalg_cholesky_ex(both))), (Values{0, 2}));
  SY_EXPECT_ERROR(linalg_cholesky(both), LinAlgError,
                  "[linalg_cholesky] self: expected positive definite");
}

TEST(Cholesky, OfNoElementsAndWrongArguments) {
  EXPECT_EQ(linalg_cholesky(zeros({2, 0, 0})).numel(), 0);
  EXPECT_EQ(linalg_cholesky(zeros({0, 3, 3})).numel(), 0);
  SY_EXPECT_ERROR(linalg_cholesky(ones({2, 3})), ValueError, "square");
  SY_EXPECT_ERROR(linalg_cholesky(ones({2})), ValueError, "two dims");
}

TEST(Triangles, SolveFromEitherSide) {
  const Tensor a = tensor({{2.0, 9.0}, {1.0, 4.0}});  // 9 is not read
  const Tensor b = tensor({{2.0}, {9.0}});
  expect_near(linalg_solve_triangular(a, b, false), {1, 2});
  expect_near(linalg_solve_triangular(a, b, false, true, true), {2, 7});
  expect_near(linalg_solve_triangular(a.t(), b.t(), true, false), {1, 2});
  Tensor out = empty({0});
  linalg_solve_triangular_out(out, a, b, false);
  expect_near(out, {1, 2});
  EXPECT_EQ(
      ints(linalg_solve_triangular(ones({3, 1, 2, 2}), ones({4, 2, 1}), false)
               .sizes()),
      (Ints{3, 4, 2, 1}));
}

}  // namespace
}  // namespace sy::families
