#include "aten/ops/scatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "aten/operators.h"
#include "aten/ops/advanced_indexing.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "c10/process/parallel.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;

std::mt19937& random_source() {
  static std::mt19937 source(1);
  return source;
}
int64_t below(int64_t n) {
  return static_cast<int64_t>(random_source()() % static_cast<uint64_t>(n));
}

Tensor numbers(IntArrayRef sizes, int64_t limit, ScalarType dtype) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  Values drawn(static_cast<size_t>(n));
  for (double& d : drawn) d = static_cast<double>(below(limit));
  return tensor(drawn, kDouble).view(sizes).to(dtype);
}

// The same elements with other strides.
Tensor restrided(const Tensor& t, int how) {
  if (t.dim() < 2 || how == 0) return t;
  if (how == 1) return t.transpose(0, -1).contiguous().transpose(0, -1);
  return cat({t, t}, -1).slice(-1, 0, t.size(-1));
}

// The expected result: elements go to their places one after the other.
Values expected(const Tensor& self, int64_t dim, const Tensor& index,
                const Tensor& src, std::string_view reduce, bool include_self) {
  Values out = values(self), counts(out.size(), include_self ? 1 : 0);
  const Values from = values(src), at = values(index);
  const auto join = [&](double a, double b) {
    if (reduce == "sum" || reduce == "mean") return a + b;
    if (reduce == "prod") return a * b;
    if (reduce == "amax") return std::max(a, b);
    return reduce == "amin" ? std::min(a, b) : b;
  };
  const auto flat = [](const List& sizes, const List& place) {
    int64_t k = 0;
    for (size_t d = 0; d < sizes.size(); ++d) k = k * sizes[d] + place[d];
    return static_cast<size_t>(k);
  };
  const List sizes = ints(index.sizes());
  List place(sizes.size(), 0);
  for (size_t i = 0; i < at.size(); ++i) {
    List to = place;
    to[static_cast<size_t>(dim)] = static_cast<int64_t>(at[i]);
    const size_t k = flat(ints(self.sizes()), to);
    const double v = from[flat(ints(src.sizes()), place)];
    out[k] = counts[k] == 0 ? v : join(out[k], v);
    counts[k] += 1;
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++place[d] < sizes[d]) break;
      place[d] = 0;
    }
  }
  if (reduce == "mean") {
    for (size_t k = 0; k < out.size(); ++k) {
      if (counts[k] > 1) out[k] /= counts[k];
      if (!self.is_floating_point()) out[k] = std::floor(out[k]);
    }
  }
  return out;
}

struct Setting {
  List self, index;
  int64_t dim;
};

const Setting kSettings[] = {
    {{7}, {20}, 0},
    {{5, 6}, {3, 6}, 0},
    {{5, 6}, {5, 4}, 1},
    {{4, 3, 9}, {2, 8, 7}, 1},
    {{4, 3, 9}, {9, 3, 9}, 0},
    {{4, 3, 9}, {4, 2, 5}, 2},
};

TEST(Scatter, ReducesAsOneByOneWould) {
  for (const Setting& s : kSettings) {
    for (const ScalarType dtype : {kFloat, kDouble, kLong, kShort, kHalf}) {
      for (int how = 0; how < 3; ++how) {
        const Tensor self = restrided(numbers(s.self, 5, dtype), how);
        const Tensor index = restrided(
            numbers(s.index, s.self[static_cast<size_t>(s.dim)], kLong),
            (how + 1) % 3);
        const Tensor src = restrided(numbers(s.index, 5, dtype), how);
        for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
          for (const bool include_self : {true, false}) {
            SCOPED_TRACE(str("{} {} {} {} {}", dtype, reduce, include_self, how,
                             self.sizes()));
            const Tensor got =
                scatter_reduce(self, s.dim, index, src, reduce, include_self);
            const Values want =
                expected(self, s.dim, index, src, reduce, include_self);
            const Values have = values(got);
            ASSERT_EQ(have.size(), want.size());
            for (size_t i = 0; i < want.size(); ++i) {
              const double tolerance = dtype == kHalf    ? 1e-2
                                       : dtype == kFloat ? 1e-5
                                                         : 1e-12;
              ASSERT_NEAR(have[i], want[i],
                          tolerance * std::max(1.0, std::abs(want[i])));
            }
          }
        }
      }
    }
  }
}

TEST(Scatter, InPlaceWritesSelfAndNothingElse) {
  for (const Setting& s : kSettings) {
    for (int how = 0; how < 3; ++how) {
      Tensor self = restrided(numbers(s.self, 5, kInt), how);
      const void* const memory = self.data_ptr();
      const Tensor index =
          numbers(s.index, s.self[static_cast<size_t>(s.dim)], kLong);
      const Tensor src = numbers(s.index, 5, kInt);
      const Values want = expected(self, s.dim, index, src, "", true);
      const Values functional = values(scatter(self, s.dim, index, src));
      self.scatter_(s.dim, index, src);
      EXPECT_EQ(values(self), want);
      EXPECT_EQ(functional, want);
      EXPECT_EQ(self.data_ptr(), memory);
    }
  }
}

TEST(Scatter, ExpandedIndicesMoveRows) {
  const Tensor index = tensor({2, 0, 2, 1}).unsqueeze(1).expand({4, 50});
  const Tensor src = numbers({4, 50}, 9, kFloat);
  const Tensor self = numbers({3, 50}, 9, kFloat);
  EXPECT_EQ(values(self.scatter_add(0, index, src)),
            values(self.scatter_add(0, index.contiguous(), src)));
  EXPECT_EQ(values(scatter(self, 0, index, src)),
            values(scatter(self, 0, index.contiguous(), src)));
  EXPECT_EQ(values(self.gather(0, index)),
            values(self.gather(0, index.contiguous())));
}

TEST(Scatter, DoesNotDependOnTheNumberOfThreads) {
  const int before = get_num_threads();
  const int64_t n = 300000;
  const Tensor index = numbers({n}, 1000, kLong);
  const Tensor src = numbers({n}, 1000, kFloat) / Scalar(7);
  const Tensor self = zeros({1000}, kFloat);
  const Tensor rows = index.view({1000, 300}), more = src.view({1000, 300});
  const Tensor room = zeros({1000, 1000}, kFloat);
  set_num_threads(1);
  const Values rowwise = values(room.scatter_add(1, rows, more));
  const Values columnwise = values(room.scatter_add(0, rows, more));
  const Values sum = values(self.scatter_add(0, index, src));
  const Values last = values(scatter(self, 0, index, src));
  const Values put = values(index_put(self, {{index}}, src, true));
  for (const int threads : {2, 3, 8}) {
    set_num_threads(threads);
    EXPECT_EQ(values(room.scatter_add(1, rows, more)), rowwise) << threads;
    EXPECT_EQ(values(room.scatter_add(0, rows, more)), columnwise) << threads;
    EXPECT_EQ(values(self.scatter_add(0, index, src)), sum) << threads;
    EXPECT_EQ(values(scatter(self, 0, index, src)), last) << threads;
    EXPECT_EQ(values(index_put(self, {{index}}, src, true)), put) << threads;
  }
  set_num_threads(before);
}

TEST(Scatter, KeepsNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor index = tensor({0, 0, 1});
  for (const char* reduce : {"amax", "amin"}) {
    const Values v = values(scatter_reduce(tensor({1.0, nan}), 0, index,
                                           tensor({nan, 2.0, 3.0}), reduce));
    EXPECT_TRUE(std::isnan(v[0])) << reduce;
    EXPECT_TRUE(std::isnan(v[1])) << reduce;
  }
}

TEST(Scatter, ValuesAndLegacyReductions) {
  const Tensor self = tensor({1, 2, 3}), index = tensor({2, 2});
  EXPECT_EQ(values(scatter(self, 0, index, 7)), (Values{1, 2, 7}));
  EXPECT_EQ(values(scatter(self, 0, index, 2.7)), (Values{1, 2, 2}));
  EXPECT_EQ(values(scatter(self, 0, index, 7, "add")), (Values{1, 2, 17}));
  EXPECT_EQ(values(scatter(self, 0, index, tensor({2, 5}), "multiply")),
            (Values{1, 2, 30}));
  EXPECT_EQ(values(scatter(self, 0, index.to(kInt), 7)), (Values{1, 2, 7}));
  SY_EXPECT_ERROR(scatter(self, 0, index, 7, "sum"), ValueError,
                  "[scatter] reduce: expected add or multiply, got 'sum'");
}

TEST(Scatter, ReadsAnArgumentThatSharesMemoryFirst) {
  Tensor self = tensor({1, 2, 3, 4});
  self.scatter_(0, tensor({0, 1, 2, 3}), self.flip({0}));
  EXPECT_EQ(values(self), (Values{4, 3, 2, 1}));
  Tensor t = tensor({1, 2, 3, 4});
  t.scatter_(0, tensor({1, 2, 3}), t.slice(0, 0, 3));
  EXPECT_EQ(values(t), (Values{1, 1, 2, 3}));
  Tensor rows = tensor({{1, 2}, {3, 4}, {5, 6}});
  rows.index_add_(0, tensor({1, 0, 1}), rows);
  EXPECT_EQ(values(rows), (Values{4, 6, 9, 12, 5, 6}));
  Tensor index = tensor({3, 2, 1, 0});
  index.scatter_(0, index, 5);
  EXPECT_EQ(values(index), (Values{5, 5, 5, 5}));
}

TEST(Scatter, BadIndicesWriteNothing) {
  Tensor self = tensor({1, 2, 3});
  SY_EXPECT_ERROR(self.scatter_(0, tensor({0, 3}), 9), IndexError,
                  "[scatter] index: expected indices in [0, 2] for dim 0 of "
                  "size 3, got 3 at [1]");
  SY_EXPECT_ERROR(self.scatter_(0, tensor({0, -1}), 9), IndexError, "got -1");
  SY_EXPECT_ERROR(self.index_fill_(0, tensor({0, -4}), 9), IndexError,
                  "[index_fill] index: expected indices in [-3, 2]");
  SY_EXPECT_ERROR(self.index_copy_(0, tensor({0, 3}), tensor({1, 1})),
                  IndexError, "[index_copy]");
  EXPECT_EQ(values(self), (Values{1, 2, 3}));
}

// One index is wrong, however far outside, among as many others as vectors
// take.
TEST(Scatter, EveryIndexIsChecked) {
  const Tensor self = zeros({9});
  for (const int64_t bad : {int64_t{9}, int64_t{-1}, int64_t{-10},
                            std::numeric_limits<int64_t>::max(),
                            std::numeric_limits<int64_t>::min()}) {
    for (const int64_t at : {0, 3, 36}) {
      const Tensor index = full({37}, 8, kLong);
      index[at].fill_(bad);
      SY_EXPECT_ERROR(gather(self, 0, index), IndexError,
                      "got " + std::to_string(bad));
      const bool wraps = bad == -1;
      if (wraps) {
        EXPECT_EQ(values(self.index_fill(0, index, 1))[8], 1);
      } else {
        SY_EXPECT_ERROR(self.index_fill(0, index, 1), IndexError,
                        "got " + std::to_string(bad));
      }
    }
  }
}

TEST(Slices, CopyFillAndReduce) {
  const Tensor self = numbers({3, 4}, 9, kDouble);
  const Tensor source = numbers({3, 2}, 9, kDouble);
  const Tensor index = tensor({3, 1});
  const Tensor wide = index.unsqueeze(0).expand({3, 2});
  EXPECT_EQ(values(index_copy(self, 1, index, source)),
            values(scatter(self, 1, wide, source)));
  EXPECT_EQ(values(index_fill(self, 1, tensor({-1, 1}), 6)),
            values(scatter(self, 1, wide, 6)));
  EXPECT_EQ(values(index_fill(self, 1, index, tensor(6.0))),
            values(scatter(self, 1, wide, 6)));
  const Tensor twice = tensor({1, 1});
  for (const char* reduce : {"prod", "mean", "amax", "amin"}) {
    EXPECT_EQ(values(index_reduce(self, 1, twice, source, reduce)),
              values(scatter_reduce(self, 1, twice.unsqueeze(0).expand({3, 2}),
                                    source, reduce)))
        << reduce;
  }
  SY_EXPECT_ERROR(index_reduce(self, 1, twice, source, "sum"), ValueError,
                  "expected prod, mean, amax or amin, got 'sum'");
  SY_EXPECT_ERROR(index_copy(self, 1, index, self), ValueError,
                  "[index_copy] source: expected sizes [3, 2]");
}

TEST(ViewScatter, WritesThePartThatTheViewShows) {
  const Tensor self = zeros({3, 4}, kDouble);
  EXPECT_EQ(values(select_scatter(self, ones({4}, kDouble), 0, -1)),
            (Values{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(values(slice_scatter(self, ones({3, 2}, kDouble), 1, 0, 4, 2)),
            (Values{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(values(diagonal_scatter(self, ones({3}, kDouble), 1)),
            (Values{0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(values(as_strided_scatter(self, ones({2}, kDouble), {2}, {5}, 1)),
            (Values{0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values(self), Values(12, 0));
  SY_EXPECT_ERROR(select_scatter(self, ones({3}, kDouble), 0, 0), ValueError,
                  "[select_scatter] src: expected the sizes of what is "
                  "replaced, [4], got [3]");
}

TEST(FillDiagonal, WrapsAroundTallMatrices) {
  for (const bool transposed : {false, true}) {
    Tensor t = zeros(transposed ? List{2, 8} : List{8, 2}, kDouble);
    if (transposed) t = t.t();
    t.fill_diagonal_(1, true);
    EXPECT_EQ(values(t),
              (Values{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1}));
    t.zero_();
    t.fill_diagonal_(1);
    EXPECT_EQ(t.sum().item<double>(), 2);
  }
  Tensor cube = zeros({2, 2, 2}, kDouble), bad = zeros({2, 3, 2}, kDouble);
  cube.fill_diagonal_(3);
  EXPECT_EQ(values(cube), (Values{3, 0, 0, 0, 0, 0, 0, 3}));
  SY_EXPECT_ERROR(bad.fill_diagonal_(1), ValueError, "dims of one size");
}

}  // namespace
}  // namespace sy::families
