#include "frontend/distributed/process_group.h"

#include <gtest/gtest.h>
#include <sy/sy.h>

#include <thread>

#include "test/frontend/distributed/ranks.h"

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;

bool same(const Tensor& a, const Tensor& b) { return a.equal(b); }

// The tensor that a rank gives; no two are alike.
Tensor of_rank(int rank, int64_t n, ScalarType dtype) {
  const Tensor t =
      (sy::arange(n, TensorOptions().dtype(kLong)) * 7 + rank * 3 + 1)
          .remainder(11);
  return t.to(dtype);
}

Tensor sum_of(int ranks, int64_t n, ScalarType dtype) {
  Tensor s = of_rank(0, n, dtype);
  for (int r = 1; r < ranks; ++r) s = s + of_rank(r, n, dtype);
  return s;
}

constexpr int64_t kSizes[] = {0, 1, 5, 2000, 700'001};

struct Trial {
  int ranks;
  ThreadSupport support;
  bool deterministic;
};

class Collectives : public testing::TestWithParam<Trial> {
 protected:
  // Runs f(group) on all ranks.
  void run(const std::function<void(ProcessGroup&)>& f) {
    Ranks ranks(GetParam().ranks);
    ranks.threads.set_support(GetParam().support);
    ranks.options.deterministic = GetParam().deterministic;
    ranks.run([&](int) { f(*world()); });
    EXPECT_EQ(ranks.threads.pending(), 0);
  }
  int n() const { return GetParam().ranks; }
};

INSTANTIATE_TEST_SUITE_P(
    Worlds, Collectives,
    testing::Values(Trial{1, ThreadSupport::kAll, false},
                    Trial{2, ThreadSupport::kAll, false},
                    Trial{2, ThreadSupport::kBytes, false},
                    Trial{3, ThreadSupport::kNoReducedFloats, false},
                    Trial{4, ThreadSupport::kAll, true},
                    Trial{10, ThreadSupport::kAll, false}),
    [](const auto& info) {
      return std::to_string(info.param.ranks) + "ranks" +
             std::to_string(info.index);
    });

TEST_P(Collectives, AllReduceOfEveryDtypeAndSize) {
  run([&](ProcessGroup& g) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong,
                                   kInt, kShort, kChar, kByte, kBool}) {
      for (const int64_t size : kSizes) {
        if (size > 10'000 && dtype != kFloat && dtype != kBFloat16) continue;
        Tensor t = of_rank(g.rank(), size, dtype);
        g.allreduce(t);
        EXPECT_TRUE(same(t, sum_of(n(), size, dtype))) << dtype << size;
      }
    }
  });
}

TEST_P(Collectives, Reductions) {
  run([&](ProcessGroup& g) {
    for (const int64_t size : {int64_t{5}, int64_t{300'000}}) {
      Tensor most = of_rank(0, size, kInt), least = most, product = most;
      Tensor bits = most;
      for (int r = 1; r < n(); ++r) {
        const Tensor x = of_rank(r, size, kInt);
        most = sy::maximum(most, x);
        least = sy::minimum(least, x);
        product = product * x;
        bits = bits.bitwise_xor(x);
      }
      const auto reduced = [&](ReduceOp op) {
        Tensor t = of_rank(g.rank(), size, kInt);
        g.allreduce(t, op);
        return t;
      };
      EXPECT_TRUE(same(reduced(ReduceOp::MAX), most));
      EXPECT_TRUE(same(reduced(ReduceOp::MIN), least));
      EXPECT_TRUE(same(reduced(ReduceOp::PRODUCT), product));
      EXPECT_TRUE(same(reduced(ReduceOp::BXOR), bits));
      Tensor mean = of_rank(g.rank(), size, kDouble);
      g.allreduce(mean, ReduceOp::AVG);
      EXPECT_TRUE(sy::allclose(mean, sum_of(n(), size, kDouble) / n()));
    }
  });
}

TEST_P(Collectives, BroadcastAndReduceFromEachRoot) {
  run([&](ProcessGroup& g) {
    for (int root = 0; root < n(); ++root) {
      for (const int64_t size : kSizes) {
        Tensor t = of_rank(g.rank(), size, kFloat);
        g.broadcast(t, root);
        EXPECT_TRUE(same(t, of_rank(root, size, kFloat)));
        t = of_rank(g.rank(), size, kFloat);
        g.reduce(t, root);
        EXPECT_TRUE(same(t, g.rank() == root
                                ? sum_of(n(), size, kFloat)
                                : of_rank(g.rank(), size, kFloat)));
      }
    }
  });
}

TEST_P(Collectives, GatherAndScatter) {
  run([&](ProcessGroup& g) {
    for (const int64_t size : kSizes) {
      const Tensor mine = of_rank(g.rank(), size, kFloat);
      Tensor all = sy::empty({n() * size});
      g.allgather_into_tensor(all, mine);
      for (int r = 0; r < n(); ++r) {
        EXPECT_TRUE(
            same(all.narrow(0, r * size, size), of_rank(r, size, kFloat)));
      }
      std::vector<Tensor> list;
      for (int r = 0; r < n(); ++r) list.push_back(sy::empty({size}));
      g.allgather(list, mine);
      EXPECT_TRUE(same(sy::cat(list), all));

      const int root = n() - 1;
      std::vector<Tensor> parts;
      if (g.rank() == root) parts = std::vector<Tensor>(list);
      for (Tensor& t : parts) t.zero_();
      g.gather(parts, mine, root);
      if (g.rank() == root) {
        EXPECT_TRUE(same(sy::cat(parts), all));
      }
      Tensor back = sy::empty({size});
      g.scatter(back, parts, root);
      EXPECT_TRUE(same(back, mine));

      Tensor part = sy::empty({size});
      g.reduce_scatter_tensor(part, all * (g.rank() + 1));
      EXPECT_TRUE(same(part, mine * (n() * (n() + 1) / 2)));
    }
  });
}

TEST_P(Collectives, AllToAll) {
  run([&](ProcessGroup& g) {
    for (const int64_t rows : {0, 1, 3, 40'000}) {
      const Tensor in = of_rank(g.rank(), n() * rows * 2, kInt).view({-1, 2});
      Tensor out = sy::empty_like(in);
      g.alltoall_base(out, in);
      for (int r = 0; r < n(); ++r) {
        const Tensor theirs = of_rank(r, n() * rows * 2, kInt).view({-1, 2});
        EXPECT_TRUE(same(out.narrow(0, r * rows, rows),
                         theirs.narrow(0, g.rank() * rows, rows)));
      }
    }
    // Rank r sends (r + k) * 700 rows to rank k.
    std::vector<int64_t> to, from;
    int64_t sent = 0, got = 0;
    for (int k = 0; k < n(); ++k) {
      to.push_back((g.rank() + k) * 700);
      from.push_back((g.rank() + k) * 700);
      sent += to.back();
      got += from.back();
    }
    const Tensor in = sy::full({sent, 3}, g.rank() + 1.0);
    Tensor out = sy::zeros({got, 3});
    g.alltoall_base(out, in, from, to);
    int64_t at = 0;
    for (int k = 0; k < n(); ++k) {
      const Tensor part = out.narrow(0, at, from[static_cast<size_t>(k)]);
      EXPECT_TRUE(part.eq(k + 1.0).all().item<bool>());
      at += from[static_cast<size_t>(k)];
    }
  });
}

TEST_P(Collectives, SendAndReceiveWithTags) {
  if (n() == 1) return;
  run([&](ProcessGroup& g) {
    for (const int64_t size : kSizes) {
      const int next = (g.rank() + 1) % n(), last = (g.rank() + n() - 1) % n();
      std::vector<Work> works;
      std::vector<Tensor> got;
      for (int tag = 0; tag < 3; ++tag) {
        works.push_back(g.send(of_rank(g.rank() + 10 * tag, size, kFloat), next,
                               tag, kAsync));
      }
      // In another order.
      for (int tag = 2; tag >= 0; --tag) {
        got.push_back(sy::empty({size}));
        works.push_back(g.recv(got.back(), last, tag, kAsync));
      }
      for (const Work& w : works) w.wait();
      for (int tag = 2; tag >= 0; --tag) {
        EXPECT_TRUE(same(got[static_cast<size_t>(2 - tag)],
                         of_rank(last + 10 * tag, size, kFloat)));
      }
    }
  });
}

TEST_P(Collectives, ManyAtATimeKeepTheirOrder) {
  run([&](ProcessGroup& g) {
    std::vector<Tensor> tensors;
    std::vector<Work> works;
    for (int i = 0; i < 40; ++i) {
      tensors.push_back(
          of_rank(g.rank() + i, i % 7 == 0 ? 400'000 : i, kFloat));
      works.push_back(g.allreduce(tensors.back(), ReduceOp::SUM, kAsync));
    }
    g.barrier();
    for (int i = 39; i >= 0; --i) works[static_cast<size_t>(i)].wait();
    for (int i = 0; i < 40; ++i) {
      const int64_t size = i % 7 == 0 ? 400'000 : i;
      Tensor sum = of_rank(i, size, kFloat);
      for (int r = 1; r < n(); ++r) sum = sum + of_rank(r + i, size, kFloat);
      EXPECT_TRUE(same(tensors[static_cast<size_t>(i)], sum));
    }
  });
}

TEST_P(Collectives, TensorsThatAreNotContiguous) {
  run([&](ProcessGroup& g) {
    Tensor t = of_rank(g.rank(), 60, kFloat).view({6, 10}).t();
    const Tensor kept = t;
    const Work w = g.allreduce(t, ReduceOp::SUM, kAsync);
    w.wait();
    EXPECT_TRUE(same(kept, sum_of(n(), 60, kFloat).view({6, 10}).t()));
    Tensor column = sy::zeros({5, 2}).select(1, 0);
    g.broadcast(column.fill_(g.rank() + 1.0), n() - 1);
    EXPECT_TRUE(column.eq(n()).all().item<bool>());
  });
}

// Few ranks always add in their order; more do if they are asked to.
TEST(ProcessGroup, DeterministicSumsDoNotDependOnSizes) {
  for (const int n : {3, 9}) {
    Ranks ranks(n);
    ranks.threads.set_backwards(true);
    sy::manual_seed(5);
    const Tensor all = sy::randn({n, 300'000}) * 1e3;
    Tensor expected = all.select(0, 0);
    for (int r = 1; r < n; ++r) expected = expected + all.select(0, r);
    ranks.run([&](int rank) {
      const Tensor mine = all.select(0, rank);
      const auto group = world();
      Tensor whole = mine.clone();
      group->allreduce(whole);
      EXPECT_EQ(same(whole, expected), n == 3);
      group->set_deterministic(true);
      for (const int64_t piece : {300'000, 100'000, 1'000}) {
        Tensor t = mine.clone();
        for (int64_t at = 0; at < 300'000; at += piece) {
          group->allreduce(t.narrow(0, at, piece));
        }
        EXPECT_TRUE(same(t, expected)) << piece;
      }
    });
  }
}

TEST(ProcessGroup, EveryRankHearsOfADisagreement) {
  Ranks ranks(3);
  ranks.run([](int rank) {
    const auto group = world();
    const auto expect = [&](const std::function<void()>& f, const char* a,
                            const char* b) {
      const std::string e = error_of(f);
      EXPECT_NE(e.find(a), std::string::npos) << e;
      EXPECT_NE(e.find(b), std::string::npos) << e;
      // The group goes on.
      Tensor t = sy::ones({3});
      group->allreduce(t);
      EXPECT_EQ(t.sum().item<float>(), 9);
    };
    expect(
        [&] {
          const CallLabel label(rank == 1 ? "step" : "gradients of fc1.weight");
          group->allreduce(
              sy::ones({4}, TensorOptions().dtype(rank == 1 ? kInt : kFloat)));
        },
        "ranks 0, 2: all_reduce(float32[4], sum), gradients of fc1.weight",
        "rank 1: all_reduce(int32[4], sum), step");
    expect([&] { group->allreduce(sy::ones({rank == 2 ? 6 : 4})); },
           "ranks 0, 1: all_reduce(float32[4], sum)",
           "rank 2: all_reduce(float32[6], sum)");
    expect(
        [&] {
          group->allreduce(sy::ones({rank == 2 ? 3 : 2, rank == 2 ? 2 : 3}));
        },
        "float32[2, 3]", "float32[3, 2]");
    expect(
        [&] {
          if (rank == 0) {
            group->broadcast(sy::ones({200'000}), 0);
          } else {
            group->allreduce(sy::ones({200'000}));
          }
        },
        "rank 0: broadcast(float32[200000], root 0)",
        "ranks 1, 2: all_reduce(float32[200000], sum)");
    expect([&] { group->broadcast(sy::ones({2}), rank == 0 ? 0 : 1); },
           "root 0", "root 1");
    expect(
        [&] {
          group->allreduce(sy::ones({2}),
                           rank == 0 ? ReduceOp::MAX : ReduceOp::SUM);
        },
        "max", "sum");
    // Refused on one rank.
    const std::string e = error_of([&] {
      group->allreduce(rank == 1 ? sy::ones({1}).expand({4}) : sy::ones({4}));
    });
    EXPECT_NE(e.find(rank == 1 ? "memory of their own" : "rank 1: all_reduce"),
              std::string::npos)
        << e;
    // Only two of three disagree on what goes between them.
    const std::vector<int64_t> in = {1, 1, 1};
    const std::vector<int64_t> out = {1, rank == 2 ? 2 : 1, 1};
    const std::string split = error_of([&] {
      group->alltoall_base(sy::ones({rank == 2 ? 4 : 3}), sy::ones({3}), out,
                           in);
    });
    EXPECT_NE(split.find("disagree"), std::string::npos) << split;
    group->barrier();
  });
}

TEST(ProcessGroup, ALateRankIsNamed) {
  Ranks ranks(3, milliseconds(700));
  ranks.run([](int rank) {
    const auto group = world();
    group->barrier();
    if (rank == 2) {
      std::this_thread::sleep_for(milliseconds(1500));
    }
    std::string e = error_of([&] { group->allreduce(sy::ones({4})); });
    if (rank == 2) {
      // All had sent what it needed. But the group is no more.
      EXPECT_EQ(e, "");
      e = error_of([&] { group->allreduce(sy::ones({4})); });
      EXPECT_NE(e.find("has given up"), std::string::npos) << e;
    } else {
      EXPECT_NE(e.find("call 2 of group world"), std::string::npos) << e;
      EXPECT_NE(e.find("rank 2: is in no call; the last was barrier()"),
                std::string::npos)
          << e;
    }
    // Nobody waits again.
    const std::string again =
        error_of([&] { group->allreduce(sy::ones({4})); });
    EXPECT_EQ(again, e);
  });
}

TEST(ProcessGroup, ARankThatLeavesIsNamed) {
  Ranks ranks(2, milliseconds(20'000));
  ranks.run([](int rank) {
    world()->barrier();
    if (rank == 1) return;
    const auto begun = std::chrono::steady_clock::now();
    const std::string e = error_of([&] { world()->allreduce(sy::ones({4})); });
    EXPECT_NE(e.find("rank 1 is gone"), std::string::npos) << e;
    EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(3000));
  });
}

TEST(ProcessGroup, AnEngineThatFailsEndsTheGroup) {
  Ranks ranks(2, milliseconds(3000));
  ranks.run([&](int rank) {
    const auto group = world();
    group->barrier();
    if (rank == 0) ranks.threads.fail_begin(0, ranks.threads.begun(0) + 1);
    const std::string e = error_of([&] { group->allreduce(sy::ones({9000})); });
    EXPECT_NE(e, "");
    EXPECT_NE(error_of([&] { group->barrier(); }), "");
  });
}

TEST(ProcessGroup, Groups) {
  Ranks ranks(4);
  ranks.run([](int rank) {
    const auto even = new_group({0, 2}, "even");
    const auto odd = new_group({1, 3}, "odd");
    EXPECT_EQ(even == nullptr, rank % 2 == 1);
    const auto mine = rank % 2 == 0 ? even : odd;
    Tensor t = sy::ones({3}) * rank;
    mine->allreduce(t);
    EXPECT_EQ(t[0].item<float>(), rank % 2 == 0 ? 2 : 4);
    EXPECT_EQ(group_of(rank % 2 == 0 ? "even" : "odd"), mine);
    EXPECT_EQ(mine->ranks(), (std::vector<int>{rank % 2, rank % 2 + 2}));
    const std::string missing =
        error_of([&] { group_of(rank % 2 == 0 ? "odd" : "even"); });
    EXPECT_NE(missing.find("its groups: "), std::string::npos) << missing;
    EXPECT_NE(error_of([&] { new_group({0, 9}); }), "");
    const std::string other = error_of([&] {
      new_group(rank == 3 ? std::vector<int>{0} : std::vector<int>{0, 1});
    });
    EXPECT_NE(other.find("rank 3: new_group(), name"), std::string::npos)
        << other;
    world()->barrier();
  });
}

TEST(ProcessGroup, NothingWorksAfterTheEnd) {
  Ranks ranks(2);
  ranks.run([](int) {
    const auto group = world();
    destroy_process_group();
    EXPECT_FALSE(is_initialized());
    EXPECT_NE(error_of([&] { group->barrier(); }).find("is no more"),
              std::string::npos);
    EXPECT_NE(error_of([] { world(); }), "");
  });
}

TEST(ProcessGroup, BeforeInit) {
  EXPECT_EQ(get_rank(), 0);
  EXPECT_EQ(get_world_size(), 1);
  EXPECT_NE(error_of([] { world(); }).find("call sy::distributed::init()"),
            std::string::npos);
}

}  // namespace
}  // namespace sy::distributed
