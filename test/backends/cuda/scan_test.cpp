#include "backends/cuda/compile/jit.h"
#include "test/backends/cuda/numeric_fixture.h"

// The scan engine, by its operators, against the CPU's.

namespace sy::cuda::testing {
namespace {

using Lists = std::vector<std::vector<int64_t>>;

class Scan : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = jit_mode();
    set_jit_mode(JitMode::kWait);
  }
  void TearDown() override { set_jit_mode(before_); }

 private:
  JitMode before_ = JitMode::kBackground;
};

// Whole numbers, whose sums are exact in any order.
Tensor whole(IntArrayRef sizes, ScalarType dtype, unsigned seed = 1) {
  const Tensor t = empty(sizes, TensorOptions(kLong));
  auto* const p = static_cast<int64_t*>(t.data_ptr());
  std::mt19937 random(seed);
  for (int64_t i = 0; i < t.numel(); ++i) {
    p[i] = static_cast<int64_t>(random() % 4) - (dtype == kByte ? 0 : 1);
  }
  return t.to(dtype);
}

// NaN has no sign here.
Tensor plain(const Tensor& t) {
  const Tensor here = t.to(Device(kCPU));
  return is_floating_type(here.dtype()) ? here.masked_fill(isnan(here), 77)
                                        : here;
}

TEST_F(Scan, sums_of_every_dtype_and_layout) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const auto& sizes :
         Lists{{}, {1}, {0}, {3, 0, 2}, {5, 33}, {4, 3, 70}, {2, 40, 1}}) {
      for (const LaidOut layout : all_layouts()) {
        const Pair p = laid_out(sizes, layout, dtype);
        const auto dims = static_cast<int64_t>(sizes.size());
        for (int64_t d = 0; d < std::max<int64_t>(dims, 1); ++d) {
          const Tensor cpu = cumsum(p.cpu, d);
          EXPECT_TRUE(near(cpu, cumsum(p.cuda, d), cpu.dtype(), 200))
              << dtype << IntArrayRef(sizes) << name_of(layout) << d;
        }
      }
    }
  }
}

TEST_F(Scan, choices_are_exact) {
  for (const ScalarType dtype : {kChar, kInt, kHalf, kFloat, kDouble}) {
    for (const auto& sizes : Lists{{7, 40}, {40, 7}, {3, 5000}, {5000, 3}}) {
      const Pair p = pair(ties(sizes, dtype, 3, 1000));
      for (const int64_t d : {0, 1}) {
        const auto [value, place] = cummax(p.cpu, d);
        const auto [value_there, place_there] = cummax(p.cuda, d);
        EXPECT_TRUE(same(place, place_there)) << dtype << IntArrayRef(sizes);
        EXPECT_TRUE(same(plain(value), plain(value_there).to(kCUDA)));
        EXPECT_TRUE(same(std::get<1>(cummin(p.cpu, d)),
                         std::get<1>(cummin(p.cuda, d))));
      }
    }
  }
}

// Every length about a tile, and long ones of many.
TEST_F(Scan, rows_and_columns_of_every_length) {
  for (const int64_t n :
       {31, 32, 33, 1024, 1025, 2047, 2048, 2049, 4097, 70001}) {
    const Pair row = pair(numbers({2, n}, kLong, static_cast<unsigned>(n)));
    EXPECT_TRUE(same(cumsum(row.cpu, 1), cumsum(row.cuda, 1))) << n;
    const Pair column = pair(numbers({n, 3}, kInt, static_cast<unsigned>(n)));
    EXPECT_TRUE(same(cumsum(column.cpu, 0), cumsum(column.cuda, 0))) << n;
  }
}

// Rows that blocks share: some tiles, and more of them than look back at once.
// The interpreter scans all dtypes, kernels of their own scan some.
TEST_F(Scan, long_rows_of_every_dtype) {
  const auto sums = [](ScalarType dtype) {
    for (const int64_t rows : {1, 2}) {
      for (const int64_t n : {1, 2047, 2048, 2049, 9000, 70001}) {
        const Pair p = pair(whole({rows, n}, dtype, static_cast<unsigned>(n)));
        EXPECT_TRUE(same(cumsum(p.cpu, 1), cumsum(p.cuda, 1))) << dtype << n;
      }
    }
  };
  for (const ScalarType dtype : {kHalf, kFloat, kInt, kLong}) sums(dtype);
  set_jit_mode(JitMode::kOff);
  for (const ScalarType dtype : all_dtypes()) sums(dtype);
  set_jit_mode(JitMode::kWait);
  for (const ScalarType dtype : {kChar, kHalf, kInt, kFloat, kDouble}) {
    const Pair p = pair(ties({2, 70001}, dtype, 3, 1000));
    const auto [value, place] = cummax(p.cpu, 1);
    const auto [value_there, place_there] = cummax(p.cuda, 1);
    EXPECT_TRUE(same(place, place_there)) << dtype;
    EXPECT_TRUE(same(plain(value), plain(value_there).to(kCUDA))) << dtype;
  }
  const Pair p = pair(whole({2100000}, kFloat));
  EXPECT_TRUE(same(cumsum(p.cpu, 0), cumsum(p.cuda, 0)));
  const Pair q = pair(numbers({70001}, kFloat));
  EXPECT_TRUE(near(logcumsumexp(q.cpu, 0), logcumsumexp(q.cuda, 0), kFloat));
}

TEST_F(Scan, long_rows_that_are_not_aligned_or_not_dense) {
  for (const ScalarType dtype : {kByte, kHalf, kInt, kFloat}) {
    const Pair p = pair(whole({3, 9001}, dtype));
    for (const int64_t step : {1, 2, 3}) {
      const Tensor cpu = p.cpu.slice(1, 5, 9001, step);
      const Tensor cuda = p.cuda.slice(1, 5, 9001, step);
      EXPECT_TRUE(same(cumsum(cpu, 1), cumsum(cuda, 1))) << dtype << step;
    }
    const Pair out = pair(whole({9001, 3}, dtype));
    const Tensor most = out.cuda.t().slice(1, 1),
                 first = out.cpu.t().slice(1, 1);
    Tensor at = zeros({3, 9000}, kLong), at_there = at.to(kCUDA);
    Tensor to = first, to_there = most;
    cummax_out(to, at, p.cpu.slice(1, 1), 1);
    cummax_out(to_there, at_there, p.cuda.slice(1, 1), 1);
    EXPECT_TRUE(same(out.cpu, out.cuda)) << dtype;
    EXPECT_TRUE(same(at, at_there)) << dtype;
  }
  Pair p = pair(whole({2, 9000}, kFloat));
  p.cpu.cumsum_(1);
  p.cuda.cumsum_(1);
  EXPECT_TRUE(same(p.cpu, p.cuda));
}

// Blocks that scan a row alone, as there are many, and blocks that share one.
TEST_F(Scan, a_row_has_the_same_bits_whatever_is_beside_it) {
  const Pair p = pair(numbers({520, 4200}, kFloat));
  const Tensor all = cumsum(p.cuda, 1);
  for (const int64_t row : {0, 7, 519}) {
    EXPECT_TRUE(same(all.slice(0, row, row + 1).to(kCPU),
                     cumsum(p.cuda.slice(0, row, row + 1), 1)));
  }
}

TEST_F(Scan, products_and_logarithms_of_sums) {
  for (const ScalarType dtype : {kHalf, kFloat, kDouble}) {
    const Pair p = pair(numbers({3, 6}, dtype));
    EXPECT_TRUE(near(cumprod(p.cpu, 1), cumprod(p.cuda, 1), dtype, 1e4));
    const Pair q = pair(numbers({4, 3000}, dtype));
    EXPECT_TRUE(
        near(logcumsumexp(q.cpu, 1), logcumsumexp(q.cuda, 1), dtype, 20));
    EXPECT_TRUE(
        near(logcumsumexp(q.cpu, 0), logcumsumexp(q.cuda, 0), dtype, 20));
  }
}

TEST_F(Scan, in_place_and_into_tensors_that_exist) {
  Pair p = pair(numbers({30, 2100}, kFloat));
  Pair out = laid_out({30, 2100}, LaidOut::kTransposed, kFloat);
  cumsum_out(out.cpu, p.cpu, 1);
  cumsum_out(out.cuda, p.cuda, 1);
  EXPECT_TRUE(near(out.cpu, out.cuda, kFloat, 1e3));
  EXPECT_EQ(out.cuda.strides(), out.cpu.strides());
  p.cpu.cumsum_(0);
  p.cuda.cumsum_(0);
  EXPECT_TRUE(near(p.cpu, p.cuda, kFloat, 1e3));
}

TEST_F(Scan, tiers_give_the_same_bits) {
  for (const ScalarType dtype : {kFloat, kHalf, kInt}) {
    for (const auto& sizes : Lists{{3, 30000}, {30000, 3}, {50, 60}}) {
      const Pair p = pair(numbers(sizes, dtype));
      for (const int64_t d : {0, 1}) {
        set_jit_mode(JitMode::kWait);
        const Tensor sums = cumsum(p.cuda, d).to(kCPU);
        const auto [value, place] = cummin(p.cuda, d);
        set_jit_mode(JitMode::kOff);
        EXPECT_TRUE(same(sums, cumsum(p.cuda, d))) << dtype << d;
        const auto [value_later, place_later] = cummin(p.cuda, d);
        EXPECT_TRUE(same(value.to(kCPU), value_later)) << dtype << d;
        EXPECT_TRUE(same(place.to(kCPU), place_later)) << dtype << d;
      }
    }
  }
}

TEST_F(Scan, is_the_same_in_every_run) {
  const Pair p = pair(numbers({1, 200001}, kFloat));
  const Tensor first = cumsum(p.cuda, 1).to(kCPU);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(same(first, cumsum(p.cuda, 1)));
}

TEST_F(Scan, elements_become_the_dtype_that_is_asked_for_first) {
  double elements[] = {0.441873, 0.722930, 0.764858, 0.683548};
  const Tensor t = from_blob(elements, {4}, kDouble).to(kFloat);
  const Tensor x = t.to(Device(kCUDA));
  EXPECT_TRUE(equal(cumprod(t.to(kBFloat16), 0),
                    cumprod(x, 0, kBFloat16).to(Device(kCPU), kBFloat16)));
}

}  // namespace
}  // namespace sy::cuda::testing
