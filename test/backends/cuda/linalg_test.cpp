#include "test/backends/cuda/numeric_fixture.h"

namespace sy::cuda::testing {
namespace {

// The operand of expected sums: in float64, integers in their dtype.
Tensor wide(const Tensor& t) {
  return is_floating_type(t.scalar_type()) ? t.to(kDouble) : t;
}

struct Sizes {
  int64_t batch, m, n, k;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.batch << " of " << s.m << "x" << s.k << " by " << s.k << "x"
             << s.n;
}
// One element, thin ones, tiles that are full and not, sums cut in parts, and
// none.
constexpr Sizes kSizes[] = {{1, 1, 1, 1},    {3, 2, 5, 4},    {2, 1, 70, 33},
                            {2, 70, 1, 33},  {1, 64, 64, 16}, {2, 65, 67, 17},
                            {1, 9, 11, 900}, {1, 2, 3, 2500}, {0, 2, 3, 4},
                            {2, 0, 3, 4},    {2, 3, 0, 4},    {2, 3, 4, 0}};

// The layout of a batch of matrices: rows or columns that lie close together,
// or neither.
enum class Matrix { kRows, kColumns, kNeither };
Pair matrices(int64_t batch, int64_t rows, int64_t columns, ScalarType dtype,
              Matrix layout, unsigned seed) {
  switch (layout) {
    case Matrix::kColumns:
      return view(pair(numbers({batch, columns, rows}, dtype, seed)),
                  [](const Tensor& t) { return t.transpose(1, 2); });
    case Matrix::kNeither:
      return view(pair(numbers({rows, batch, 2 * columns + 2}, dtype, seed)),
                  [&](const Tensor& t) {
                    return t.transpose(0, 1).slice(2, 1, 2 * columns + 1, 2);
                  });
    default: return pair(numbers({batch, rows, columns}, dtype, seed));
  }
}
constexpr Matrix kLayouts[] = {Matrix::kRows, Matrix::kColumns,
                               Matrix::kNeither};

TEST(Linalg, bmm_of_every_dtype_and_size) {
  for (const ScalarType dtype : all_dtypes()) {
    if (dtype == kBool) continue;
    for (const Sizes& s : kSizes) {
      const Pair a = matrices(s.batch, s.m, s.k, dtype, Matrix::kRows, 1);
      const Pair b = matrices(s.batch, s.k, s.n, dtype, Matrix::kRows, 2);
      EXPECT_TRUE(near(bmm(wide(a.cpu), wide(b.cpu)), bmm(a.cuda, b.cuda),
                       dtype, 60 * std::sqrt(static_cast<double>(s.k + 1))))
          << dtype << " " << s;
    }
  }
}

TEST(Linalg, bmm_of_every_layout) {
  for (const Matrix la : kLayouts) {
    for (const Matrix lb : kLayouts) {
      for (const Sizes& s : kSizes) {
        const Pair a = matrices(s.batch, s.m, s.k, kFloat, la, 1);
        const Pair b = matrices(s.batch, s.k, s.n, kFloat, lb, 2);
        EXPECT_TRUE(near(bmm(wide(a.cpu), wide(b.cpu)), bmm(a.cuda, b.cuda),
                         kFloat, 60 * std::sqrt(static_cast<double>(s.k + 1))))
            << static_cast<int>(la) << static_cast<int>(lb) << " " << s;
      }
    }
  }
  const Pair one = view(pair(numbers({1, 3, 4}, kFloat)), [](const Tensor& t) {
    return t.expand({5, 3, 4});
  });
  const Pair b = pair(numbers({5, 4, 2}, kFloat));
  EXPECT_TRUE(
      near(bmm(wide(one.cpu), wide(b.cpu)), bmm(one.cuda, b.cuda), kFloat, 60));
}

TEST(Linalg, integers_wrap_around_as_on_the_cpu) {
  for (const ScalarType dtype : {kByte, kChar, kShort, kInt, kLong}) {
    const Tensor large = full({3, 40}, Scalar(117), TensorOptions(dtype));
    const Pair a = pair(large), b = pair(large.t().contiguous());
    EXPECT_TRUE(same(mm(a.cpu, b.cpu), mm(a.cuda, b.cuda))) << dtype;
  }
}

TEST(Linalg, large_tiles) {
  const Pair a = pair(numbers({16, 129, 24}, kFloat, 1));
  const Pair b = pair(numbers({16, 24, 257}, kFloat, 2));
  EXPECT_TRUE(
      near(bmm(wide(a.cpu), wide(b.cpu)), bmm(a.cuda, b.cuda), kFloat, 300));
}

// One that is added last sees what the parts lose.
TEST(Linalg, a_sum_is_the_same_each_time) {
  const Pair a = pair(numbers({5, 5000}, kFloat, 3));
  const Pair b = pair(numbers({5000, 7}, kFloat, 4));
  const Tensor once = mm(a.cuda, b.cuda).to(kCPU);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(same(once, mm(a.cuda, b.cuda)));
}

TEST(Linalg, addmm_scales_adds_and_broadcasts) {
  for (const ScalarType dtype : all_dtypes()) {
    if (dtype == kBool) continue;
    const Pair a = pair(numbers({5, 6}, dtype, 1));
    const Pair b = pair(numbers({6, 7}, dtype, 2));
    for (const auto& sizes :
         std::vector<std::vector<int64_t>>{{5, 7}, {7}, {1, 7}, {5, 1}, {}}) {
      const Pair c = pair(numbers(sizes, dtype, 3));
      for (const auto& [beta, alpha] :
           std::vector<std::pair<int, int>>{{1, 1}, {2, 3}, {0, 2}, {1, 0}}) {
        EXPECT_TRUE(
            near(addmm(wide(c.cpu), wide(a.cpu), wide(b.cpu), Scalar(beta),
                       Scalar(alpha)),
                 addmm(c.cuda, a.cuda, b.cuda, Scalar(beta), Scalar(alpha)),
                 dtype, 600))
            << dtype << " " << IntArrayRef(sizes) << " " << beta << alpha;
      }
    }
  }
}

TEST(Linalg, vectors) {
  for (const ScalarType dtype : all_dtypes()) {
    if (dtype == kBool) continue;
    for (const int64_t k : {0, 1, 31, 1500, 70000}) {
      const Pair a =
          view(pair(numbers({2 * k + 1}, dtype, 1)),
               [&](const Tensor& t) { return t.slice(0, 1, 2 * k + 1, 2); });
      const Pair b = pair(numbers({k}, dtype, 2));
      EXPECT_TRUE(near(dot(wide(a.cpu), wide(b.cpu)), dot(a.cuda, b.cuda),
                       dtype, 60 * std::sqrt(static_cast<double>(k + 1))))
          << dtype << " " << k;
      if (k > 2000) continue;
      for (const bool columns : {false, true}) {
        const Pair m =
            view(pair(columns ? numbers({k, 9}, dtype, 5)
                              : numbers({9, k}, dtype, 5)),
                 [&](const Tensor& t) { return columns ? t.t() : t; });
        EXPECT_TRUE(near(mv(wide(m.cpu), wide(a.cpu)), mv(m.cuda, a.cuda),
                         dtype, 60 * std::sqrt(static_cast<double>(k + 1))))
            << dtype << " " << k << " columns " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace sy::cuda::testing
