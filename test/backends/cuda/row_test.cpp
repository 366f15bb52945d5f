#include "test/backends/cuda/numeric_fixture.h"

// Kernels that keep a row: softmax, layer_norm, rms_norm and their derivatives,
// against the CPU's.

namespace sy::cuda::testing {
namespace {

using Lists = std::vector<std::vector<int64_t>>;

TEST(Softmax, of_every_dtype_layout_and_dim) {
  for (const ScalarType dtype : floating_dtypes()) {
    for (const auto& sizes : Lists{{}, {1}, {0, 3}, {3, 40}, {4, 33, 5}}) {
      for (const LaidOut layout : all_layouts()) {
        const Pair p = laid_out(sizes, layout, dtype);
        for (int64_t d = 0; d < std::max<int64_t>(p.cpu.dim(), 1); ++d) {
          EXPECT_TRUE(near(softmax(p.cpu, d), softmax(p.cuda, d), dtype))
              << dtype << IntArrayRef(sizes) << name_of(layout) << d;
          EXPECT_TRUE(
              near(log_softmax(p.cpu, d), log_softmax(p.cuda, d), dtype, 10));
        }
      }
    }
  }
}

// Rows in registers of a warp, in shared memory, and read again.
TEST(Softmax, rows_of_every_length) {
  for (const ScalarType dtype : {kFloat, kHalf}) {
    for (const int64_t n : {1, 31, 32, 1024, 1025, 8200, 20000, 20001}) {
      const Pair p = pair(numbers({3, n}, dtype, static_cast<unsigned>(n)));
      const Pair g = pair(numbers({3, n}, dtype, 9));
      const Pair y = {softmax(p.cpu, 1), softmax(p.cuda, 1)};
      EXPECT_TRUE(near(y.cpu, y.cuda, dtype)) << n;
      const Pair log = {log_softmax(p.cpu, 1), log_softmax(p.cuda, 1)};
      EXPECT_TRUE(near(log.cpu, log.cuda, dtype, 20)) << n;
      EXPECT_TRUE(near(_softmax_backward_data(g.cpu, y.cpu, 1, dtype),
                       _softmax_backward_data(g.cuda, y.cuda, 1, dtype), dtype,
                       10))
          << n;
      EXPECT_TRUE(near(_log_softmax_backward_data(g.cpu, log.cpu, 1, dtype),
                       _log_softmax_backward_data(g.cuda, log.cuda, 1, dtype),
                       dtype, 100))
          << n;
    }
  }
  const Pair columns = pair(numbers({50, 70}, kFloat));
  EXPECT_TRUE(
      near(_softmax_backward_data(columns.cpu, columns.cpu, 0, kFloat),
           _softmax_backward_data(columns.cuda, columns.cuda, 0, kFloat),
           kFloat, 1e3));
}

TEST(Softmax, infinities_and_nan) {
  for (const int64_t d : {0, 1}) {
    const Pair p = pair(ties({40, 50}, kFloat));
    EXPECT_TRUE(near(softmax(p.cpu, d), softmax(p.cuda, d), kFloat));
  }
  const Pair none = pair(full({2, 3}, -INFINITY));
  EXPECT_TRUE(near(softmax(none.cpu, 1), softmax(none.cuda, 1), kFloat));
}

TEST(Normalization, layer_norm_and_its_derivatives) {
  for (const ScalarType dtype : floating_dtypes()) {
    for (const auto& sizes :
         Lists{{5, 33}, {3, 2, 64}, {130, 7}, {2, 1100}, {3, 30000}, {0, 4}}) {
      const std::vector<int64_t> shape = {sizes.back()};
      const Pair x = pair(numbers(sizes, dtype, 2));
      const Pair w = pair(numbers(shape, dtype, 3));
      const Pair b = pair(numbers(shape, dtype, 4));
      const Pair g = pair(numbers(sizes, dtype, 5));
      const auto here = native_layer_norm(x.cpu, shape, w.cpu, b.cpu, 1e-5);
      const auto there = native_layer_norm(x.cuda, shape, w.cuda, b.cuda, 1e-5);
      EXPECT_TRUE(near(std::get<0>(here), std::get<0>(there), dtype, 20))
          << dtype << IntArrayRef(sizes);
      EXPECT_TRUE(near(std::get<1>(here), std::get<1>(there), dtype, 5));
      EXPECT_TRUE(near(std::get<2>(here), std::get<2>(there), dtype, 5));
      const bool all[] = {true, true, true};
      const ArrayRef<bool> mask(all, 3);
      const auto grads =
          native_layer_norm_backward(g.cpu, x.cpu, shape, std::get<1>(here),
                                     std::get<2>(here), w.cpu, b.cpu, mask);
      const auto grads_there =
          native_layer_norm_backward(g.cuda, x.cuda, shape, std::get<1>(there),
                                     std::get<2>(there), w.cuda, b.cuda, mask);
      EXPECT_TRUE(near(std::get<0>(grads), std::get<0>(grads_there), dtype, 50))
          << dtype << IntArrayRef(sizes);
      EXPECT_TRUE(
          near(std::get<1>(grads), std::get<1>(grads_there), dtype, 1e3))
          << dtype << IntArrayRef(sizes);
      EXPECT_TRUE(
          near(std::get<2>(grads), std::get<2>(grads_there), dtype, 1e3))
          << dtype << IntArrayRef(sizes);
    }
  }
}

TEST(Normalization, rms_norm_and_its_derivatives) {
  for (const ScalarType dtype : {kFloat, kBFloat16}) {
    for (const auto& sizes : Lists{{5, 33}, {4, 1536}}) {
      const std::vector<int64_t> shape = {sizes.back()};
      const Pair x = pair(numbers(sizes, dtype, 2));
      const Pair w = pair(numbers(shape, dtype, 3));
      const Pair g = pair(numbers(sizes, dtype, 5));
      const auto here = _fused_rms_norm(x.cpu, shape, w.cpu, 1e-5);
      const auto there = _fused_rms_norm(x.cuda, shape, w.cuda, 1e-5);
      EXPECT_TRUE(near(std::get<0>(here), std::get<0>(there), dtype, 20));
      EXPECT_TRUE(near(std::get<1>(here), std::get<1>(there), kFloat, 5));
      const bool all[] = {true, true};
      const ArrayRef<bool> mask(all, 2);
      const auto grads = _fused_rms_norm_backward(
          g.cpu, x.cpu, shape, std::get<1>(here), w.cpu, mask);
      const auto grads_there = _fused_rms_norm_backward(
          g.cuda, x.cuda, shape, std::get<1>(there), w.cuda, mask);
      EXPECT_TRUE(
          near(std::get<0>(grads), std::get<0>(grads_there), dtype, 50));
      EXPECT_TRUE(
          near(std::get<1>(grads), std::get<1>(grads_there), dtype, 100));
    }
  }
}

}  // namespace
}  // namespace sy::cuda::testing
