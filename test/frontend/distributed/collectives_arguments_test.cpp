#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "frontend/distributed/operators/collectives.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/ranks.h"

// Arguments that collectives refuse, on all ranks, and tensors without memory.

namespace sy::distributed {
namespace {

using Values = std::vector<double>;

void with_ranks(int n, const std::function<void(int rank)>& f) {
  Ranks(n, Milliseconds(20'000)).run(f);
}

TEST(CollectiveArguments, WithoutAWorldThereIsAnError) {
  const Tensor x = ones({2});
  SY_EXPECT_ERROR(sy_dist::all_reduce(x), Error, "init");
  SY_EXPECT_ERROR(sy_dist::barrier(), Error, "init");
}

TEST(CollectiveArguments, WrongArgumentsOfAllRanks) {
  with_ranks(2, [](int rank) {
    const Tensor x = ones({3});
    SY_EXPECT_ERROR(sy_dist::all_reduce(x, "mean"), ValueError,
                    "sum, avg, product");
    SY_EXPECT_ERROR(sy_dist::all_reduce(x, "band"), TypeError, "band");
    SY_EXPECT_ERROR(sy_dist::all_reduce(x.to(kInt), "avg"), TypeError, "avg");
    SY_EXPECT_ERROR(sy_dist::broadcast(x, 2), ValueError, "got 2");
    SY_EXPECT_ERROR(sy_dist::broadcast(x, -1), ValueError, "got -1");
    SY_EXPECT_ERROR(sy_dist::reduce(x, int64_t{1} << 40), ValueError, "rank");
    SY_EXPECT_ERROR(sy_dist::gather(x, -3), ValueError, "rank");
    SY_EXPECT_ERROR(sy_dist::scatter(x, 7), ValueError, "rank");
    SY_EXPECT_ERROR(sy_dist::reduce_scatter_tensor(x), ValueError,
                    "reduce_scatter");
    SY_EXPECT_ERROR(sy_dist::all_to_all_single(x), ValueError, "all_to_all");
    const std::vector<int64_t> wrong{-1, 4}, few{3}, huge{INT64_MAX, INT64_MAX};
    SY_EXPECT_ERROR(sy_dist::all_to_all_single(x, IntArrayRef(wrong)),
                    ValueError, "all_to_all");
    SY_EXPECT_ERROR(
        sy_dist::all_to_all_single(x, std::nullopt, IntArrayRef(few)),
        ValueError, "all_to_all");
    SY_EXPECT_ERROR(sy_dist::all_to_all_single(x, IntArrayRef(huge)),
                    ValueError, "all_to_all");
    SY_EXPECT_ERROR(sy_dist::send(x, rank), ValueError, "another rank");
    SY_EXPECT_ERROR(sy_dist::recv(x, 1 - rank, -1), ValueError, "tag");
    Tensor small = empty({2});
    SY_EXPECT_ERROR(sy_dist::all_gather_into_tensor_out(small, x), ValueError,
                    "all_gather");
    EXPECT_EQ(values(sy_dist::all_reduce(x)), (Values{2, 2, 2}));
  });
}

// The other rank must not wait for one whose arguments are refused.
TEST(CollectiveArguments, WrongArgumentsOfOneRank) {
  const std::vector<std::function<void(int)>> calls = {
      [](int rank) {
        sy_dist::all_reduce(ones({3}), rank == 0 ? "mean" : "sum").sum();
      },
      [](int rank) {
        Tensor x = ones({3});
        sy_dist::all_reduce_(x, rank == 0 ? "mean" : "sum");
      },
      [](int rank) {
        sy_dist::reduce(ones({3}), 1, rank == 0 ? "mean" : "sum").sum();
      },
      [](int rank) {
        sy_dist::reduce_scatter_tensor(ones({rank == 0 ? 3 : 4})).sum();
      },
      [](int rank) { sy_dist::scatter(ones({rank == 0 ? 3 : 1}), 0).sum(); },
      [](int rank) { sy_dist::broadcast(ones({3}), rank == 0 ? 5 : 0).sum(); },
      [](int rank) { sy_dist::all_gather(ones({3 + rank}))[0].sum(); },
      [](int rank) {
        const std::vector<int64_t> splits{rank == 0 ? -1 : 1, 2};
        sy_dist::all_to_all_single(ones({3}), IntArrayRef(splits)).sum();
      },
  };
  with_ranks(2, [&](int rank) {
    for (size_t i = 0; i < calls.size(); ++i) {
      EXPECT_THROW(calls[i](rank), Error) << i;
      EXPECT_EQ(values(sy_dist::all_reduce(ones({2}))), (Values{2, 2}));
    }
  });
}

TEST(CollectiveArguments, MetaTensorsHaveTheShapes) {
  with_ranks(2, [](int rank) {
    const Tensor x = empty({4, 3}, TensorOptions(kHalf).device(Device(kMeta)));
    const auto check = [](const Tensor& t, std::vector<int64_t> sizes) {
      EXPECT_TRUE(t.is_meta());
      EXPECT_EQ(t.scalar_type(), kHalf);
      EXPECT_EQ(ints(t.sizes()), sizes);
    };
    check(sy_dist::all_reduce(x), {4, 3});
    check(sy_dist::broadcast(x.t()), {3, 4});
    check(sy_dist::reduce(x), {4, 3});
    check(sy_dist::all_gather_into_tensor(x), {8, 3});
    check(sy_dist::all_gather(x)[1], {4, 3});
    check(sy_dist::reduce_scatter_tensor(x), {2, 3});
    check(sy_dist::all_to_all_single(x), {4, 3});
    const std::vector<int64_t> out{2, 3};
    check(sy_dist::all_to_all_single(x, IntArrayRef(out)), {5, 3});
    check(sy_dist::gather(x, 1)[0], {rank == 1 ? 4 : 0, 3});
    check(sy_dist::scatter(x, 1), {rank == 1 ? 2 : 4, 3});
    check(sy_dist::recv(x, 1 - rank), {4, 3});
    sy_dist::send(x, 1 - rank);
    Tensor y = x;
    sy_dist::all_reduce_(y);
    sy_dist::broadcast_(y);
    sy_dist::reduce_(y);
    sy_dist::recv_(y, 1 - rank);
    check(y, {4, 3});
    SY_EXPECT_ERROR(sy_dist::reduce_scatter_tensor(x.narrow(0, 0, 3)),
                    ValueError, "[reduce_scatter_tensor] self");
  });
}

// Errors about names, and about what the group's methods refuse.
TEST(CollectiveArguments, ErrorsNameTheOperator) {
  with_ranks(2, [](int rank) {
    const Tensor x = ones({3});
    Tensor y = ones({3});
    Tensor small = empty({2});
    const std::vector<int64_t> few{3};
    const std::pair<const char*, std::function<void()>> calls[] = {
        {"[all_reduce] op", [&] { sy_dist::all_reduce(x, "mean"); }},
        {"[all_reduce] group", [&] { sy_dist::all_reduce(x, "sum", "b"); }},
        {"[all_reduce] op", [&] { sy_dist::all_reduce_(y, "mean"); }},
        {"[all_reduce] group", [&] { sy_dist::all_reduce_(y, "sum", "b"); }},
        {"[broadcast] group", [&] { sy_dist::broadcast(x, 0, "b"); }},
        {"[broadcast] group", [&] { sy_dist::broadcast_(y, 0, "b"); }},
        {"[reduce] group", [&] { sy_dist::reduce(x, 0, "sum", "b"); }},
        {"[reduce] op", [&] { sy_dist::reduce_(y, 0, "mean"); }},
        {"[all_gather_into_tensor] group",
         [&] { sy_dist::all_gather_into_tensor(x, "b"); }},
        {"[all_gather_into_tensor] out",
         [&] { sy_dist::all_gather_into_tensor_out(small, x); }},
        {"[all_gather] group", [&] { sy_dist::all_gather(x, "b"); }},
        {"[reduce_scatter_tensor] op",
         [&] { sy_dist::reduce_scatter_tensor(x, "mean"); }},
        {"[reduce_scatter_tensor] in",
         [&] { sy_dist::reduce_scatter_tensor(x); }},
        {"[all_to_all_single] in", [&] { sy_dist::all_to_all_single(x); }},
        {"[all_to_all_single] out_splits",
         [&] { sy_dist::all_to_all_single(ones({4}), IntArrayRef(few)); }},
        {"[gather] group", [&] { sy_dist::gather(x, 0, "b"); }},
        {"[scatter] group", [&] { sy_dist::scatter(x, 0, "b"); }},
        {"[send] group", [&] { sy_dist::send(x, 1 - rank, 0, "b"); }},
        {"[recv] group", [&] { sy_dist::recv(x, 1 - rank, 0, "b"); }},
        {"[recv] rank", [&] { sy_dist::recv_(y, rank); }},
        {"[barrier] group", [&] { sy_dist::barrier("b"); }},
        {"[gather] group",
         [&] { sy_dist::_gather_backward({{x}}, x.sizes(), 0, "b"); }},
        {"[_gather_backward] grads",
         [&] { sy_dist::_gather_backward({}, x.sizes(), 0, ""); }},
    };
    for (const auto& [begin, call] : calls) {
      const std::string what = error_of(call);
      EXPECT_TRUE(what.starts_with(begin)) << begin << ": " << what;
    }
    EXPECT_EQ(values(sy_dist::all_reduce(x)), (Values{2, 2, 2}));
  });
  const Tensor x = ones({2});
  EXPECT_TRUE(error_of([&] { sy_dist::reduce(x); }).starts_with("[reduce] "));
}

// The exit code of a child of this process: 0 if a world of its own works.
int result_of_child() {
  const pid_t child = fork();
  if (child == 0) {
    try {
      init_process_group();
      _exit(sy_dist::all_reduce(ones({1})).item<float>() == 1 ? 0 : 1);
    } catch (const Error& e) {
      _exit(e.message().find("forked") != std::string::npos ? 2 : 3);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CollectiveArguments, OnlyAForkOfARankIsNone) {
  EXPECT_EQ(result_of_child(), 0);
  with_ranks(1, [](int) { EXPECT_EQ(result_of_child(), 2); });
  EXPECT_EQ(result_of_child(), 0);
}

}  // namespace
}  // namespace sy::distributed
