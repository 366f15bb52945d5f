#include "backends/cuda/dnn/convolution.h"
#include "test/backends/cuda/convolution_cases.h"

// Convolutions by our own kernels, whatever libraries there are.

namespace sy::cuda::testing {
namespace {

const int64_t kOurs = dnn::least_work() = int64_t{1} << 62;

TEST(Convolution, forward_of_every_case_and_dtype) {
  for (const ScalarType dtype :
       {kFloat, kDouble, kHalf, kBFloat16, kLong, kShort}) {
    for (const Case& c : cases()) {
      const Pair x = pair(numbers(c.input, dtype, 1));
      const Pair w = pair(numbers(c.weight, dtype, 2));
      const Pair b = view(
          pair(numbers({2 * outputs(c)}, dtype, 3)),
          [&](const Tensor& t) { return t.slice(0, 0, 2 * outputs(c), 2); });
      EXPECT_TRUE(near(forward(c, wide(x.cpu), wide(w.cpu), std::nullopt),
                       forward(c, x.cuda, w.cuda, std::nullopt), dtype,
                       size_of(c)))
          << dtype << " " << c.name;
      EXPECT_TRUE(near(forward(c, wide(x.cpu), wide(w.cpu), wide(b.cpu)),
                       forward(c, x.cuda, w.cuda, b.cuda), dtype, size_of(c)))
          << dtype << " " << c.name << " with bias";
    }
  }
}

TEST(Convolution, layouts_are_read_and_written_as_they_are) {
  for (const Case& c : cases()) {
    if (c.input.size() != 4 || c.input[1] == 0) continue;
    const auto last = [](const Tensor& t) {
      return t.contiguous(MemoryFormat::ChannelsLast);
    };
    const Pair x = view(pair(numbers(c.input, kFloat, 1)), last);
    const Pair w = view(pair(numbers(c.weight, kFloat, 2)), last);
    const Tensor y = forward(c, x.cuda, w.cuda, std::nullopt);
    const Tensor expected = forward(c, x.cpu, w.cpu, std::nullopt);
    EXPECT_TRUE(near(wide(expected), y, kFloat, size_of(c))) << c.name;
    EXPECT_EQ(y.strides(), expected.strides()) << c.name;
    const Pair odd = laid_out(c.input, LaidOut::kTransposed, kFloat);
    EXPECT_TRUE(near(forward(c, wide(odd.cpu), wide(w.cpu), std::nullopt),
                     forward(c, odd.cuda, w.cuda, std::nullopt), kFloat,
                     size_of(c)))
        << c.name;
  }
}

TEST(Convolution, backward_of_every_case) {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    for (const Case& c : cases()) {
      const Pair x = pair(numbers(c.input, dtype, 1));
      const Pair w = pair(numbers(c.weight, dtype, 2));
      const Tensor y = forward(c, x.cpu, w.cpu, std::nullopt);
      const Pair g = pair(numbers(y.sizes(), dtype, 4));
      const auto run = [&](const Tensor& grad, const Tensor& input,
                           const Tensor& weight, std::array<bool, 3> mask) {
        return convolution_backward(
            grad, input, weight, std::nullopt, c.stride, c.padding, c.dilation,
            c.transposed, c.output_padding, c.groups, ArrayRef<bool>(mask));
      };
      const auto [ex, ew, eb] =
          run(wide(g.cpu), wide(x.cpu), wide(w.cpu), {true, true, true});
      const auto [ax, aw, ab] = run(g.cuda, x.cuda, w.cuda, {true, true, true});
      const double size = size_of(c) * 4;
      EXPECT_TRUE(near(ex, ax, dtype, size)) << dtype << " " << c.name;
      EXPECT_TRUE(near(ew, aw, dtype, size)) << dtype << " " << c.name;
      EXPECT_TRUE(near(eb, ab, dtype, size)) << dtype << " " << c.name;
      const auto [nx, only, nb] =
          run(g.cuda, x.cuda, w.cuda, {false, true, false});
      EXPECT_FALSE(nx.defined() || nb.defined());
      EXPECT_TRUE(same(aw.to(kCPU), only)) << c.name;
    }
  }
}

// A weight's sums are cut in parts; each call adds them in the same order.
TEST(Convolution, weights_of_many_places_are_the_same_each_time) {
  const Pair x = pair(numbers({4, 3, 40, 40}, kFloat, 1));
  const Pair g = pair(numbers({4, 5, 38, 38}, kFloat, 2));
  const Pair w = pair(numbers({5, 3, 3, 3}, kFloat, 3));
  const auto by_weight = [](const Tensor& grad, const Tensor& input,
                            const Tensor& weight) {
    const std::array<bool, 3> mask = {false, true, false};
    return std::get<1>(convolution_backward(grad, input, weight, std::nullopt,
                                            {1}, {0}, {1}, false, {0}, 1,
                                            ArrayRef<bool>(mask)));
  };
  const Tensor once = by_weight(g.cuda, x.cuda, w.cuda);
  EXPECT_TRUE(near(by_weight(wide(g.cpu), wide(x.cpu), wide(w.cpu)), once,
                   kFloat, 5000));
  EXPECT_TRUE(same(once.to(kCPU), by_weight(g.cuda, x.cuda, w.cuda)));
}

}  // namespace
}  // namespace sy::cuda::testing
