#include "backends/cuda/compile/jit.h"
#include "test/backends/cuda/numeric_fixture.h"

// The reduce engine, by its operators, against the CPU's.

namespace sy::cuda::testing {
namespace {

using Lists = std::vector<std::vector<int64_t>>;

class Reduce : public ::testing::Test {
 protected:
  // Kernels are compiled at once, unless a test says otherwise.
  void SetUp() override {
    before_ = jit_mode();
    set_jit_mode(JitMode::kWait);
  }
  void TearDown() override { set_jit_mode(before_); }

 private:
  JitMode before_ = JitMode::kBackground;
};

// Equal numbers: any NaN is a NaN, and any 0 a 0, of which one may be the
// largest.
::testing::AssertionResult alike(const Tensor& cpu, const Tensor& cuda) {
  if (cpu.dtype() != cuda.dtype()) {
    return ::testing::AssertionFailure()
           << "expected " << describe(cpu) << ", got " << describe(cuda);
  }
  if (!is_floating_type(cpu.dtype())) return same(cpu, cuda);
  const Tensor here = cuda.to(Device(kCPU));
  const Tensor nan = logical_and(isnan(cpu), isnan(here));
  return same(cpu.masked_fill(nan, 0).add(0),
              here.masked_fill(nan, 0).add(0).to(kCUDA));
}

const Lists& sizes_of_three() {
  static const Lists list = {
      {2, 3, 5}, {1, 1, 1}, {3, 1, 33}, {4, 0, 3}, {7, 65, 2}};
  return list;
}
const Lists& dims_of_three() {
  static const Lists list = {{},   {0},    {1},    {2},
                             {-1}, {0, 1}, {0, 2}, {0, 1, 2}};
  return list;
}

TEST_F(Reduce, sums_of_every_dtype_layout_and_dims) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const auto& sizes : sizes_of_three()) {
      for (const LaidOut layout : all_layouts()) {
        const Pair p = laid_out(sizes, layout, dtype);
        for (const auto& dims : dims_of_three()) {
          for (const bool keep : {false, true}) {
            const Tensor cpu = sum(p.cpu, dims, keep);
            EXPECT_TRUE(near(cpu, sum(p.cuda, dims, keep), cpu.dtype(), 500))
                << dtype << IntArrayRef(sizes) << name_of(layout)
                << IntArrayRef(dims) << keep;
          }
        }
      }
    }
  }
}

TEST_F(Reduce, the_largest_and_smallest_are_exact) {
  for (const ScalarType dtype : {kHalf, kFloat, kDouble, kByte, kLong}) {
    for (const LaidOut layout : all_layouts()) {
      const Pair p = laid_out({6, 35, 9}, layout, [&](IntArrayRef s) {
        return ties(s, dtype, 3, 100);
      });
      for (const auto& dims : dims_of_three()) {
        EXPECT_TRUE(alike(amax(p.cpu, dims), amax(p.cuda, dims)))
            << dtype << name_of(layout) << IntArrayRef(dims);
        if (dtype != kFloat && dtype != kByte) continue;
        EXPECT_TRUE(alike(amin(p.cpu, dims), amin(p.cuda, dims)))
            << dtype << name_of(layout) << IntArrayRef(dims);
      }
    }
  }
}

TEST_F(Reduce, truth_of_elements) {
  for (const ScalarType dtype : {kHalf, kLong, kBool}) {
    const Pair p = pair(ties({17, 40}, dtype));
    EXPECT_TRUE(same(any(p.cpu, 1), any(p.cuda, 1))) << dtype;
    EXPECT_TRUE(same(all(p.cpu, 0), all(p.cuda, 0))) << dtype;
    EXPECT_TRUE(same(any(p.cpu), any(p.cuda))) << dtype;
  }
}

TEST_F(Reduce, means_variances_products_and_norms) {
  for (const ScalarType dtype : {kHalf, kDouble}) {
    for (const LaidOut layout : {LaidOut::kContiguous, LaidOut::kTransposed}) {
      const Pair p = laid_out({9, 130}, layout, dtype);
      for (const int64_t d : {0, 1}) {
        const Lists dims = {{d}};
        EXPECT_TRUE(
            near(mean(p.cpu, dims[0]), mean(p.cuda, dims[0]), dtype, 10));
        EXPECT_TRUE(near(var(p.cpu, dims[0]), var(p.cuda, dims[0]), dtype, 50));
        EXPECT_TRUE(near(linalg_vector_norm(p.cpu, 2, dims[0]),
                         linalg_vector_norm(p.cuda, 2, dims[0]), dtype, 100));
        EXPECT_TRUE(near(linalg_vector_norm(p.cpu, 3, dims[0]),
                         linalg_vector_norm(p.cuda, 3, dims[0]), dtype, 100));
      }
    }
    const Pair few = pair(numbers({3, 4}, dtype));
    EXPECT_TRUE(near(prod(few.cpu, 1), prod(few.cuda, 1), dtype, 1e4));
  }
}

TEST_F(Reduce, two_results_of_one_reduction) {
  for (const ScalarType dtype : {kInt, kFloat, kBFloat16}) {
    const Pair p = pair(ties({20, 300}, dtype, 5, 90));
    const auto [low, high] = aminmax(p.cpu, 1, true);
    const auto [low_there, high_there] = aminmax(p.cuda, 1, true);
    EXPECT_TRUE(alike(low, low_there));
    EXPECT_TRUE(alike(high, high_there));
  }
}

// Cut into pieces, and vectors with heads and tails.
TEST_F(Reduce, long_rows_and_columns) {
  for (const ScalarType dtype : {kFloat, kBFloat16, kBool}) {
    for (const auto& sizes : Lists{
             {3, 100003}, {100003, 3}, {70001, 36}, {5000, 256}, {1, 65537}}) {
      const Pair p = pair(numbers(sizes, dtype));
      for (const int64_t d : {0, 1}) {
        const std::vector<int64_t> dims = {d};
        const Tensor cpu = sum(p.cpu, dims, false, kDouble);
        EXPECT_TRUE(near(cpu, sum(p.cuda, dims, false, kDouble), kDouble, 1e6))
            << dtype << IntArrayRef(sizes) << d;
      }
      const Pair odd = view(p, [](const Tensor& t) { return t.slice(1, 1); });
      EXPECT_TRUE(near(sum(odd.cpu.to(kDouble)), sum(odd.cuda.to(kDouble)),
                       kDouble, 1e6));
      EXPECT_TRUE(alike(amax(odd.cpu), amax(odd.cuda)));
    }
  }
}

TEST_F(Reduce, a_dtype_is_what_elements_are_converted_to) {
  const Pair p = pair(numbers({4, 50}, kFloat));
  for (const ScalarType dtype : {kDouble, kLong, kInt, kHalf, kBool}) {
    const Tensor cpu = sum(p.cpu, {1}, false, dtype);
    EXPECT_TRUE(near(cpu, sum(p.cuda, {1}, false, dtype), dtype, 200)) << dtype;
  }
}

TEST_F(Reduce, nothing_gives_the_identity_or_an_error) {
  const Pair p = pair(numbers({3, 0}, kFloat));
  EXPECT_TRUE(same(sum(p.cpu, {1}), sum(p.cuda, {1})));
  EXPECT_TRUE(same(prod(p.cpu, 1), prod(p.cuda, 1)));
  EXPECT_TRUE(same(all(p.cpu, 1), all(p.cuda, 1)));
  EXPECT_TRUE(alike(mean(p.cpu, {1}), mean(p.cuda, {1})));
  EXPECT_TRUE(alike(var(p.cpu, {1}), var(p.cuda, {1})));
  EXPECT_TRUE(same(sum(p.cpu, {0}), sum(p.cuda, {0})));
  EXPECT_EQ(error_of([&] { amax(p.cuda, {1}); }),
            error_of([&] { amax(p.cpu, {1}); }));
}

TEST_F(Reduce, of_one_element_and_of_no_dims) {
  const Pair p = pair(numbers({}, kFloat, 4));
  EXPECT_TRUE(same(sum(p.cpu), sum(p.cuda)));
  EXPECT_TRUE(same(amax(p.cpu), amax(p.cuda)));
  EXPECT_TRUE(same(argmax(p.cpu), argmax(p.cuda)));
}

TEST_F(Reduce, into_tensors_that_exist) {
  const Pair p = pair(numbers({6, 40, 5}, kFloat));
  Pair out = laid_out({6, 5}, LaidOut::kTransposed, kDouble);
  const std::vector<int64_t> dims = {1};
  sum_out(out.cpu, p.cpu, dims);
  sum_out(out.cuda, p.cuda, dims);
  EXPECT_TRUE(
      near(out.cpu, out.cuda.to(kCPU).to(kFloat).to(kCUDA), kFloat, 10));
  EXPECT_EQ(out.cuda.strides(), out.cpu.strides());
}

TEST_F(Reduce, more_dims_than_a_kernel_has_room_for) {
  std::vector<int64_t> sizes(18, 2), dims;
  const Pair whole = pair(numbers(sizes, kFloat));
  std::vector<int64_t> order(18);
  for (int64_t d = 0; d < 18; ++d) order[static_cast<size_t>(d)] = d * 5 % 18;
  const Pair p = view(whole, [&](const Tensor& t) { return t.permute(order); });
  for (int64_t d = 0; d < 18; d += 2) dims.push_back(d);
  EXPECT_TRUE(near(sum(p.cpu, dims), sum(p.cuda, dims), kFloat, 1e4));
}

// The interpreter's results are those of the kernels, to the bit.
TEST_F(Reduce, tiers_give_the_same_bits) {
  const std::vector<std::function<Tensor(const Tensor&)>> reductions = {
      [](const Tensor& t) { return sum(t, {0}); },
      [](const Tensor& t) { return sum(t, {1}); },
      [](const Tensor& t) { return mean(t.to(kFloat)); },
      [](const Tensor& t) { return var(t.to(kFloat), {0}); },
      [](const Tensor& t) { return amax(t, {1}); },
      [](const Tensor& t) { return any(t, 0); },
      [](const Tensor& t) {
        return linalg_vector_norm(t.to(kFloat), 3, std::vector<int64_t>{1});
      }};
  for (const ScalarType dtype : {kFloat, kHalf, kInt}) {
    for (const auto& sizes : Lists{{2000, 36}, {3, 40001}}) {
      const Pair p = pair(numbers(sizes, dtype));
      for (size_t i = 0; i < reductions.size(); ++i) {
        set_jit_mode(JitMode::kWait);
        const Tensor compiled = reductions[i](p.cuda);
        set_jit_mode(JitMode::kOff);
        EXPECT_TRUE(alike(compiled.to(kCPU), reductions[i](p.cuda)))
            << dtype << IntArrayRef(sizes) << " reduction " << i;
      }
    }
  }
}

TEST_F(Reduce, is_the_same_in_every_run) {
  const Pair p = pair(numbers({3, 300001}, kFloat));
  const Tensor first = sum(p.cuda).to(kCPU);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(same(first, sum(p.cuda)));
}

TEST_F(Reduce, places_of_the_extreme) {
  for (const ScalarType dtype : all_dtypes()) {
    if (dtype == kBool) continue;
    for (const LaidOut layout : all_layouts()) {
      const Pair p = laid_out({6, 35, 9}, layout,
                              [&](IntArrayRef s) { return ties(s, dtype); });
      EXPECT_TRUE(same(argmax(p.cpu), argmax(p.cuda)))
          << dtype << name_of(layout);
      for (const int64_t d : {0, 1, 2}) {
        EXPECT_TRUE(same(argmax(p.cpu, d), argmax(p.cuda, d)))
            << dtype << name_of(layout) << d;
        EXPECT_TRUE(same(argmin(p.cpu, d, true), argmin(p.cuda, d, true)))
            << dtype << name_of(layout) << d;
      }
    }
  }
}

TEST_F(Reduce, the_extreme_and_its_place) {
  for (const ScalarType dtype : all_dtypes()) {
    const Pair p = laid_out({40, 1100}, LaidOut::kContiguous,
                            [&](IntArrayRef s) { return ties(s, dtype); });
    for (const int64_t d : {0, 1}) {
      const auto [value, place] = max(p.cpu, d, d == 1);
      const auto [value_there, place_there] = max(p.cuda, d, d == 1);
      EXPECT_TRUE(alike(value, value_there)) << dtype << d;
      EXPECT_TRUE(same(place, place_there)) << dtype << d;
    }
  }
  const Pair large = pair(ties({1, 200000}, kFloat, 2, 100000).abs());
  EXPECT_TRUE(same(argmax(large.cpu), argmax(large.cuda)));
  EXPECT_NE(error_of([] {
              argmax(empty({2, 0}, TensorOptions(kFloat).device(kCUDA)), 1);
            }),
            "");
}

}  // namespace
}  // namespace sy::cuda::testing
