#include <gtest/gtest.h>
#include <sy/sy.h>

#include "c10/plugin/load_library.h"
#include "frontend/distributed/operators/collectives.h"
#include "test/frontend/distributed/ranks.h"

// Collectives of tensors of the lazy device.

namespace sy::distributed {
namespace {

using Values = std::vector<double>;

Device lazy_device() {
  static const bool loaded = [] {
    load_library("lazy").keep();
    return true;
  }();
  (void)loaded;
  return Device("lazy");
}

Tensor filled(int64_t n, double value) {
  return full({n}, value, TensorOptions(kFloat).device(lazy_device()));
}

Values values(const Tensor& t) {
  const Tensor host = t.detach().to(Device(kCPU)).to(kDouble).contiguous();
  const double* const p = host.data_ptr<double>();
  return {p, p + host.numel()};
}

TEST(LazyCollectives, ResultsAreLazyAndRight) {
  Ranks(2).run([](int rank) {
    const Tensor x = filled(4, rank) + 1;
    const Tensor y = sy_dist::all_reduce(x * 2);
    EXPECT_TRUE(y.device().is_lazy());
    EXPECT_EQ(values(y + 1), Values(4, 7.0));
    EXPECT_EQ(values(sy_dist::broadcast(x, 1)), Values(4, 2.0));
    EXPECT_EQ(values(sy_dist::all_gather_into_tensor(x))[4], 2);
    EXPECT_EQ(values(sy_dist::all_gather(x)[1] * 2), Values(4, 4.0));
    EXPECT_EQ(values(sy_dist::reduce_scatter_tensor(x)), Values(2, 3.0));
    EXPECT_EQ(values(sy_dist::all_to_all_single(x)), (Values{1, 1, 2, 2}));
    EXPECT_EQ(values(sy_dist::scatter(rank == 0 ? x : x.narrow(0, 0, 2), 0)),
              Values(2, 1.0));
    EXPECT_EQ(values(sy_dist::reduce(x, 0))[0], rank == 0 ? 3 : 2);
    EXPECT_EQ(sy_dist::gather(x, 1)[0].numel(), rank == 1 ? 4 : 0);
    sy_dist::barrier();
  });
}

TEST(LazyCollectives, InPlaceFormsSeeAndGiveRecordedValues) {
  Ranks(2).run([](int rank) {
    Tensor x = filled(4, 1);
    x.add_(rank);
    Tensor half = x.narrow(0, 0, 2);
    sy_dist::all_reduce_(half);
    x.mul_(2);
    EXPECT_EQ(values(x), (Values{6, 6, 2.0 * (rank + 1), 2.0 * (rank + 1)}));
    sy_dist::broadcast_(x, 1);
    EXPECT_EQ(values(x), (Values{6, 6, 4, 4}));
    Tensor out = filled(8, 0);
    sy_dist::all_gather_into_tensor_out(out, x);
    EXPECT_EQ(values(out + 1)[7], 5);
    if (rank == 0) {
      sy_dist::send(x + 1, 1);
    } else {
      EXPECT_EQ(values(sy_dist::recv(x, 0)), (Values{7, 7, 5, 5}));
      // The next one is into recorded memory.
    }
    if (rank == 0) {
      sy_dist::send(x, 1);
    } else {
      Tensor into = filled(4, 0);
      into.add_(1);
      sy_dist::recv_(into, 0);
      EXPECT_EQ(values(into * 1), (Values{6, 6, 4, 4}));
    }
    sy_dist::barrier();
  });
}

// A call whose result nobody reads is a call like any other, and two equal
// calls are two.
TEST(LazyCollectives, NoneIsDroppedOrMerged) {
  Ranks(2).run([](int rank) {
    const Tensor x = filled(2, rank + 1);
    for (int i = 0; i < 3; ++i) sy_dist::all_reduce(x);
    const Tensor a = sy_dist::all_reduce(x), b = sy_dist::all_reduce(x);
    EXPECT_EQ(values(rank == 0 ? a + b : b + a), Values(2, 6.0));
    sy_dist::barrier();
  });
}

TEST(LazyCollectives, Gradients) {
  Ranks(2).run([](int rank) {
    const Tensor x = filled(2, rank + 1).requires_grad_();
    (sy_dist::all_reduce(x) * (rank + 1)).sum().backward();
    EXPECT_EQ(values(x.grad()), Values(2, 3.0));
  });
}

TEST(LazyCollectives, RanksThatDisagree) {
  Ranks(2).run([](int rank) {
    EXPECT_NE(
        error_of([&] { values(sy_dist::all_reduce(filled(2 + rank, 1))); }),
        "");
    EXPECT_EQ(values(sy_dist::all_reduce(filled(2, 1))), Values(2, 2.0));
  });
}

// Results in tensors of the host, under way.
TEST(LazyCollectives, ReadResultsThatAreUnderWay) {
  Ranks(2).run([](int) {
    const auto result = [] {
      return sy_dist::all_reduce(full({2}, 1, TensorOptions(kFloat)));
    };
    EXPECT_EQ(values(result().to(lazy_device()) + 1), Values(2, 3.0));
    Tensor x = filled(2, 1);
    x.copy_(result());
    EXPECT_EQ(values(x * 2), Values(2, 4.0));
    EXPECT_EQ(values(filled(2, 1) * result().sum()), Values(2, 4.0));
  });
}

}  // namespace
}  // namespace sy::distributed
