#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/ranges.h"
#include "aten/ops/view.h"
#include "frontend/distributed/operators/collectives.h"
#include "test/frontend/distributed/ranks.h"

// Collectives of 64 MB, which go in many pieces.

namespace sy::distributed {
namespace {

constexpr int64_t kBytes = int64_t{64} << 20;

// Each rank has a multiple of the same numbers, which are exact in any order of
// additions.
class LargeCollectives
    : public testing::TestWithParam<std::tuple<int, ScalarType>> {
 protected:
  LargeCollectives()
      : base_((arange(kBytes / 4, TensorOptions(kInt)) % 1009).to(dtype())) {}

  static int size() { return std::get<0>(GetParam()); }
  static ScalarType dtype() { return std::get<1>(GetParam()); }
  // As many elements for each rank; of 3 ranks one is left over.
  static int64_t part() { return kBytes / 4 / size(); }
  static int sum_of_ranks() { return size() * (size() + 1) / 2; }

  Tensor part_of_base(int64_t i) const {
    return base_.narrow(0, i * part(), part());
  }
  // The part of a tensor that can be cut for all ranks.
  Tensor cut(const Tensor& t) const { return t.narrow(0, 0, part() * size()); }

  static void run(const std::function<void(int rank)>& f) {
    Ranks(size(), Milliseconds(60'000)).run(f);
  }
  static void expect(const Tensor& t, const Tensor& base, int64_t times) {
    EXPECT_EQ(t.scalar_type(), dtype());
    EXPECT_TRUE(t.equal(base * times));
  }
  // One part of each rank, which the rank has multiplied.
  static void expect_parts(const Tensor& t, const Tensor& base) {
    ASSERT_EQ(t.numel(), part() * size());
    for (int64_t r = 0; r < size(); ++r) {
      expect(t.narrow(0, r * part(), part()), base, r + 1);
    }
  }

  const Tensor base_;
};

TEST_P(LargeCollectives, AllReduce) {
  run([&](int rank) {
    Tensor mine = base_ * (rank + 1);
    expect(sy_dist::all_reduce(mine), base_, sum_of_ranks());
    sy_dist::all_reduce_(mine, "max");
    expect(mine, base_, size());
  });
}

TEST_P(LargeCollectives, BroadcastAndReduce) {
  run([&](int rank) {
    const Tensor mine = base_ * (rank + 1);
    expect(sy_dist::broadcast(mine, size() - 1), base_, size());
    expect(sy_dist::reduce(mine, 0), base_,
           rank == 0 ? sum_of_ranks() : rank + 1);
  });
}

TEST_P(LargeCollectives, AllGatherAndReduceScatter) {
  run([&](int rank) {
    const Tensor mine = part_of_base(0) * (rank + 1);
    expect_parts(sy_dist::all_gather_into_tensor(mine), part_of_base(0));
    const std::vector<Tensor> parts = sy_dist::all_gather(mine);
    for (int64_t r = 0; r < size(); ++r) {
      expect(parts[size_t(r)], part_of_base(0), r + 1);
    }
    expect(sy_dist::reduce_scatter_tensor(cut(base_) * (rank + 1)),
           part_of_base(rank), sum_of_ranks());
  });
}

TEST_P(LargeCollectives, AllToAll) {
  run([&](int rank) {
    expect_parts(sy_dist::all_to_all_single(cut(base_) * (rank + 1)),
                 part_of_base(rank));
  });
}

TEST_P(LargeCollectives, GatherAndScatter) {
  run([&](int rank) {
    const int root = size() - 1;
    const std::vector<Tensor> parts =
        sy_dist::gather(part_of_base(0) * (rank + 1), root);
    for (int64_t r = 0; r < size() && rank == root; ++r) {
      expect(parts[size_t(r)], part_of_base(0), r + 1);
    }
    expect(sy_dist::scatter(rank == root ? cut(base_) : part_of_base(0), root),
           part_of_base(rank), 1);
  });
}

TEST_P(LargeCollectives, SendAndReceive) {
  if (size() == 1) return;
  run([&](int rank) {
    const int next = (rank + 1) % size(), last = (rank + size() - 1) % size();
    const Tensor got = sy_dist::recv(base_, last);
    sy_dist::send(base_ * (rank + 1), next);
    expect(got, base_, last + 1);
  });
}

INSTANTIATE_TEST_SUITE_P(All, LargeCollectives,
                         testing::Combine(testing::Range(1, 5),
                                          testing::Values(kFloat, kInt)));

}  // namespace
}  // namespace sy::distributed
