#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <latch>
#include <sstream>

#include "aten/backend/pending.h"
#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/print.h"
#include "autograd/api.h"
#include "c10/dispatch/trace.h"
#include "frontend/distributed/operators/collectives.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/ranks.h"

// Functional collectives return before their results are there.

namespace sy::distributed {
namespace {

using Values = std::vector<double>;

Tensor filled(int64_t n, double value) {
  return full({n}, value, TensorOptions(kFloat));
}

// Rank 0 calls f while rank 1 has not come; rank 1 then calls it too.
void while_one_is_late(const std::function<void(int rank)>& f) {
  std::latch called(1);
  Ranks(2, Milliseconds(20'000)).run([&](int rank) {
    if (rank == 1) called.wait();
    f(rank);
    if (rank == 0) called.count_down();
    sy_dist::barrier();
  });
}

TEST(PendingCollectives, ReturnAtOnce) {
  Tensor results[2];
  while_one_is_late([&](int rank) {
    results[rank] = sy_dist::all_reduce(filled(3, rank + 1));
    if (rank != 0) return;
    EXPECT_TRUE(is_pending(results[0]));
    EXPECT_EQ(ints(results[0].sizes()), std::vector<int64_t>{3});
  });
  EXPECT_EQ(values(results[0]), Values(3, 3.0));
  EXPECT_EQ(values(results[1]), Values(3, 3.0));
}

TEST(PendingCollectives, EveryFunctionalFormDoes) {
  std::vector<Tensor> results[2];
  while_one_is_late([&](int rank) {
    std::vector<Tensor>& r = results[rank];
    const Tensor x = filled(2, rank + 1);
    r.push_back(sy_dist::broadcast(x, 1));
    r.push_back(sy_dist::reduce(x, 0));
    r.push_back(sy_dist::all_gather_into_tensor(x));
    r.push_back(sy_dist::all_gather(x)[1]);
    r.push_back(sy_dist::reduce_scatter_tensor(x));
    r.push_back(sy_dist::all_to_all_single(x));
    r.push_back(sy_dist::gather(x, 0)[1]);
    r.push_back(sy_dist::scatter(rank == 1 ? x : x.narrow(0, 0, 1), 1));
    r.push_back(sy_dist::all_reduce(empty({0})));
    if (rank != 0) return;
    for (size_t i = 0; i < r.size(); ++i) EXPECT_TRUE(is_pending(r[i])) << i;
  });
  const Values want[] = {{2, 2}, {3, 3}, {1, 1, 2, 2}, {2, 2},
                         {3},    {1, 2}, {2, 2},       {2}};
  for (size_t i = 0; i < std::size(want); ++i) {
    EXPECT_EQ(values(results[0][i]), want[i]) << i;
  }
}

// send waits for the receiver, so it has a test of its own.
TEST(PendingCollectives, WhatIsReceivedIsWaitedFor) {
  Ranks(2).run([&](int rank) {
    if (rank == 0) {
      const Tensor x = sy_dist::recv(empty({2}), 1);
      EXPECT_TRUE(is_pending(x));
      sy_dist::barrier();
      EXPECT_EQ(values(x + 1), (Values{6, 6}));
    } else {
      sy_dist::barrier();
      sy_dist::send(filled(2, 5), 0);
    }
  });
}

TEST(PendingCollectives, AnyUseWaits) {
  Ranks(2).run([&](int rank) {
    const auto result = [&] {
      return sy_dist::all_reduce(filled(2, rank + 1));
    };
    EXPECT_EQ(values(result() + 1), (Values{4, 4}));
    EXPECT_EQ(values(result().view({2, 1}).t()), (Values{3, 3}));
    EXPECT_EQ(result().data_ptr<float>()[1], 3);
    std::ostringstream out;
    out << result();
    EXPECT_NE(out.str().find('3'), std::string::npos) << out.str();
    EXPECT_EQ(result().sum().item<float>(), 6);
    EXPECT_EQ(values(sy_dist::all_reduce(result())), (Values{6, 6}));
    Tensor written = result();
    written.add_(1);
    EXPECT_EQ(values(written), (Values{4, 4}));
    Tensor in_place = result();
    sy_dist::all_reduce_(in_place);
    EXPECT_EQ(values(in_place), (Values{6, 6}));
    const Tensor waited = result();
    EXPECT_TRUE(sy_dist::wait_tensor(waited).is_same(waited));
    EXPECT_FALSE(is_pending(waited));
    const Tensor ordinary = ones({1});
    EXPECT_TRUE(sy_dist::wait_tensor(ordinary).is_same(ordinary));
  });
}

TEST(PendingCollectives, InPlaceFormsReturnWhenDone) {
  Ranks(2).run([&](int rank) {
    Tensor x = filled(2, rank + 1);
    sy_dist::all_reduce_(x);
    EXPECT_FALSE(is_pending(x));
    EXPECT_EQ(x.data_ptr<float>()[0], 3);
    Tensor out = empty({4});
    sy_dist::all_gather_into_tensor_out(out, x);
    EXPECT_FALSE(is_pending(out));
  });
}

// A result that nobody takes is no reason for others to wait.
TEST(PendingCollectives, DroppedResultsAreStillCalls) {
  Ranks(2).run([&](int rank) {
    for (int i = 0; i < 20; ++i) {
      const Tensor kept = sy_dist::all_reduce(filled(2, i));
      if (rank == 0) {
        sy_dist::all_reduce(filled(1000, 1));
      } else {
        EXPECT_EQ(values(sy_dist::all_reduce(filled(1000, 1)).sum()),
                  Values{2000});
      }
      EXPECT_EQ(values(kept), Values(2, 2.0 * i));
    }
    sy_dist::barrier();  // a rank that ends gives up what it has begun
  });
}

TEST(PendingCollectives, ResultsMayBeTakenInAnyOrder) {
  Ranks(2).run([&](int rank) {
    std::vector<Tensor> results;
    for (int i = 0; i < 10; ++i) {
      results.push_back(sy_dist::all_reduce(filled(5, i)));
    }
    if (rank == 0) std::reverse(results.begin(), results.end());
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(values(results[size_t(i)])[4], 2 * (rank == 0 ? 9 - i : i));
    }
  });
}

TEST(PendingCollectives, TheArgumentMayBeWrittenAtOnce) {
  std::vector<Tensor> results[2];
  while_one_is_late([&](int rank) {
    std::vector<Tensor>& r = results[rank];
    const auto call = [&](const std::function<Tensor(const Tensor&)>& f) {
      const Tensor x = filled(2, rank + 1);
      r.push_back(f(x));
      Tensor(x).fill_(100);
    };
    call([](const Tensor& x) { return sy_dist::all_reduce(x); });
    call([](const Tensor& x) { return sy_dist::broadcast(x); });
    call([](const Tensor& x) { return sy_dist::reduce(x, 1); });
    call([](const Tensor& x) { return sy_dist::all_gather_into_tensor(x); });
    call([](const Tensor& x) { return sy_dist::all_gather(x)[0]; });
    call([](const Tensor& x) { return sy_dist::reduce_scatter_tensor(x); });
    call([](const Tensor& x) { return sy_dist::all_to_all_single(x); });
    call([](const Tensor& x) { return sy_dist::gather(x, 1)[0]; });
    call([&](const Tensor& x) {
      return sy_dist::scatter(rank == 0 ? x : x.narrow(0, 0, 1), 0);
    });
  });
  const Values want[] = {{3, 3}, {1, 1}, {3, 3}, {1, 1, 2, 2}, {1, 1},
                         {3},    {1, 2}, {1, 1}, {1}};
  ASSERT_EQ(results[1].size(), std::size(want));
  for (size_t i = 0; i < std::size(want); ++i) {
    EXPECT_EQ(values(results[1][i]), want[i]) << i;
  }
}

TEST(PendingCollectives, ErrorsComeWithTheFirstUseOnAllRanks) {
  Ranks(2).run([&](int rank) {
    const Tensor bad = sy_dist::all_reduce(ones({rank + 2}));
    const Tensor good = sy_dist::all_reduce(ones({2}));
    for (int i = 0; i < 2; ++i) {  // and with later ones
      const std::string what = error_of([&] { bad.sum(); });
      EXPECT_NE(what.find("rank 0"), std::string::npos) << what;
      EXPECT_NE(what.find("rank 1"), std::string::npos) << what;
      EXPECT_NE(what.find("all_reduce"), std::string::npos) << what;
    }
    EXPECT_EQ(values(good), (Values{2, 2}));
    const Tensor types =
        sy_dist::all_reduce(ones({0}, TensorOptions(rank ? kInt : kLong)));
    EXPECT_NE(error_of([&] { types.sum(); }), "");
  });
}

TEST(PendingCollectives, ALaterUseAfterTheEndOfTheWorld) {
  Tensor results[2];
  Ranks(2).run([&](int rank) {
    results[rank] = sy_dist::all_reduce(ones({2}));
    sy_dist::barrier();
  });
  EXPECT_EQ(values(results[0]), (Values{2, 2}));
}

TEST(PendingCollectives, UsedByAnotherThread) {
  Ranks(2).run([&](int) {
    const Tensor x = sy_dist::all_reduce(ones({2}));
    Values got;
    std::thread([&] { got = values(x + 1); }).join();
    EXPECT_EQ(got, (Values{3, 3}));
  });
}

TEST(PendingCollectives, AGradientThatIsPending) {
  Ranks(2).run([&](int rank) {
    const Tensor x = ones({2}).requires_grad_();
    const Tensor y = sy_dist::all_reduce(x);
    EXPECT_TRUE(y.requires_grad());
    y.backward(filled(2, rank + 1));
    EXPECT_EQ(values(x.grad()), (Values{3, 3}));
    sy_dist::all_reduce(x).sum().backward();
    EXPECT_EQ(values(x.grad()), (Values{5, 5}));
  });
}

TEST(PendingCollectives, TracesShowTheCallItsGroupAndTheWait) {
  const std::string path =
      str("{}collectives_trace_{}.json", testing::TempDir(), int{getpid()});
  {
    const Trace trace("chrome:" + path);
    Ranks(2).run([](int rank) {
      new_group({0, 1}, "both");
      if (rank == 1) sy_dist::barrier();
      const Tensor x = sy_dist::all_reduce(ones({2}), "max", "both");
      if (rank == 0) sy_dist::barrier();
      x.sum();
    });
  }
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  for (const char* const part :
       {"sy_dist::all_reduce", "sy_dist::barrier", "\"group both\"",
        "all_reduce(float32[2], max)", "\"wait\"", "of group both"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace sy::distributed
