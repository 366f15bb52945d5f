#include <tuple>

#include "test/backends/cuda/numeric_fixture.h"

// Lengths and batch sizes lie on the CPU, as in PyTorch: they are read to know
// the sizes of results.

namespace sy::cuda::testing {
namespace {

Tensor lengths() { return sy::tensor({int64_t{4}, int64_t{2}, int64_t{1}}); }

TEST(PackedSequence, lengths_stay_on_the_cpu) {
  const Pair x = pair(numbers({4, 3, 2}, kFloat));
  const auto run = [](const Tensor& given) {
    const Tensor t = given.detach().requires_grad_();
    const auto [data, batch_sizes] =
        sy::_pack_padded_sequence(t, lengths(), false);
    EXPECT_TRUE(batch_sizes.is_cpu());
    const auto [padded, counts] =
        sy::_pad_packed_sequence(data * 3, batch_sizes, false, 0, 4);
    EXPECT_TRUE(sy::equal(counts, lengths()));
    padded.sum().backward();
    return std::tuple(data.detach(), padded.detach(), t.grad());
  };
  const auto [data, padded, grad] = run(x.cpu);
  const auto [cuda_data, cuda_padded, cuda_grad] = run(x.cuda);
  EXPECT_TRUE(same(data, cuda_data));
  EXPECT_TRUE(same(padded, cuda_padded));
  EXPECT_TRUE(same(grad, cuda_grad));
}

TEST(PackedSequence, a_recurrent_network_takes_it) {
  constexpr int64_t kIn = 2, kHidden = 3;
  const Pair data = pair(numbers({7, kIn}, kDouble) / 8);
  const Pair hx = pair(numbers({1, 3, kHidden}, kDouble, 2) / 8);
  const Pair in = pair(numbers({3 * kHidden, kIn}, kDouble, 3) / 8);
  const Pair hidden = pair(numbers({3 * kHidden, kHidden}, kDouble, 4) / 8);
  const Tensor batch_sizes =
      sy::tensor({int64_t{3}, int64_t{2}, int64_t{1}, int64_t{1}});
  const auto [expected, last] =
      sy::gru(data.cpu, batch_sizes, hx.cpu, {in.cpu, hidden.cpu}, false, 1, 0,
              false, false);
  const auto [y, cuda_last] =
      sy::gru(data.cuda, batch_sizes, hx.cuda, {in.cuda, hidden.cuda}, false, 1,
              0, false, false);
  EXPECT_TRUE(near(expected, y, kDouble));
  EXPECT_TRUE(near(last, cuda_last, kDouble));
}

}  // namespace
}  // namespace sy::cuda::testing
