#include <gtest/gtest.h>
#include <sy/sy.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "test/frontend/distributed/ranks.h"

// Calls that cannot be: each is an error on all ranks, which says what is wrong
// and where, and the group goes on.

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kRanks = 3;
const std::vector<int64_t> kSizes = {2, 40'000};

// The kind of what f throws, and its words; "" if it throws nothing.
std::string thrown_by(const std::function<void()>& f) {
  try {
    f();
  } catch (const ValueError& e) {
    return "ValueError: " + e.message();
  } catch (const TypeError& e) {
    return "TypeError: " + e.message();
  } catch (const Error& e) {
    return "Error: " + e.message();
  }
  return "";
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos)
      << "expected '" << part << "' in: " << text;
}

// The group works, and its calls are where they should be.
void expect_good(ProcessGroup& g) {
  Tensor t = sy::full({3}, g.rank() + 1.0);
  g.allreduce(t);
  EXPECT_TRUE(t.eq(g.size() * (g.size() + 1) / 2).all().item<bool>());
}

using Bad = std::function<void(ProcessGroup&, bool bad)>;

// Every rank makes the bad call, and then only one does.
void check(const char* kind, const std::string& words, const Bad& call) {
  Ranks ranks(kRanks);
  ranks.run([&](int rank) {
    ProcessGroup& g = *world();
    const std::string own = thrown_by([&] { call(g, true); });
    expect_has(own, kind);
    expect_has(own, words);
    expect_good(g);
    const std::string e = thrown_by([&] { call(g, rank == 1); });
    if (rank == 1) {
      EXPECT_EQ(e, own);
    } else {
      expect_has(e, "Error: ");
      expect_has(e, "rank 1: ");
      expect_has(e, words);
    }
    expect_good(g);
  });
  EXPECT_EQ(ranks.threads.pending(), 0);
}

TEST(BadCalls, TensorsWhoseElementsShareMemory) {
  for (const int64_t n : kSizes) {
    check("ValueError", "memory of their own", [&](ProcessGroup& g, bool bad) {
      g.allreduce(bad ? sy::ones({1}).expand({n}) : sy::ones({n}));
    });
  }
}

TEST(BadCalls, TensorsThatShareMemoryWithEachOther) {
  const std::string words = "must not share memory";
  for (const int64_t n : kSizes) {
    check("ValueError", words, [&](ProcessGroup& g, bool bad) {
      const Tensor t = sy::ones({n}), u = bad ? t : t.clone();
      g.allreduce_coalesced(std::vector<Tensor>{t, u});
    });
    check("ValueError", words, [&](ProcessGroup& g, bool bad) {
      const Tensor t = sy::ones({3 * n}), u = t.clone();
      g.allreduce_coalesced(std::vector<Tensor>{
          u, t.narrow(0, 0, 2 * n), (bad ? t : u.clone()).narrow(0, n, 2 * n)});
    });
    check("ValueError", words, [&](ProcessGroup& g, bool bad) {
      const Tensor t = sy::ones({3 * n});
      g.allgather_into_tensor(t, (bad ? t : t.clone()).narrow(0, n / 2, n));
    });
    check("ValueError", words, [&](ProcessGroup& g, bool bad) {
      const Tensor t = sy::ones({3 * n});
      g.alltoall_base(t, bad ? t : t.clone());
    });
    check("ValueError", words, [&](ProcessGroup& g, bool bad) {
      std::vector<Tensor> outs(3, sy::ones({n}));
      if (!bad) {
        for (Tensor& t : outs) t = t.clone();
      }
      g.allgather(outs, sy::ones({n}));
    });
    check("ValueError", words, [&](ProcessGroup& g, bool bad) {
      const Tensor t = sy::ones({3 * n});
      g.reduce_scatter_tensor((bad ? t : t.clone()).narrow(0, n / 2, n), t);
    });
  }
}

// A part that is in place shares memory, and this is no error.
TEST(BadCalls, APartThatIsInPlaceIsAGoodCall) {
  for (const bool deterministic : {false, true}) {
    for (const int size : {2, 3}) {
      for (const int64_t n : {2, 5000, 300'000}) {
        Ranks ranks(size);
        ranks.options.deterministic = deterministic;
        ranks.run([&](int rank) {
          ProcessGroup& g = *world();
          Tensor all = sy::zeros({size * n});
          Tensor mine = all.narrow(0, rank * n, n);
          mine.fill_(rank + 1.0);
          g.allgather_into_tensor(all, mine);
          for (int r = 0; r < size; ++r) {
            EXPECT_TRUE(all.narrow(0, r * n, n).eq(r + 1).all().item<bool>())
                << n;
          }
          g.reduce_scatter_tensor(mine, all);
          EXPECT_TRUE(mine.eq(size * (rank + 1)).all().item<bool>()) << n;
          std::vector<Tensor> parts;
          for (int r = 0; r < size; ++r) {
            parts.push_back(all.narrow(0, r * n, n));
          }
          mine.fill_(rank + 7.0);
          const auto of_root = rank == 0 ? parts : std::vector<Tensor>();
          g.gather(of_root, mine, 0);
          for (int r = 0; r < size && rank == 0; ++r) {
            EXPECT_TRUE(parts[size_t(r)].eq(r + 7).all().item<bool>()) << n;
            parts[size_t(r)].add_(1);
          }
          g.scatter(mine, of_root, 0);
          EXPECT_TRUE(mine.eq(rank + 8).all().item<bool>()) << n;
        });
      }
    }
  }
}

TEST(BadCalls, TensorsWithoutElementsToSend) {
  check("ValueError", "on device meta", [](ProcessGroup& g, bool bad) {
    g.allreduce(
        sy::ones({4}, TensorOptions().device(bad ? Device(kMeta) : kCPU)));
  });
  check("ValueError", "undefined", [](ProcessGroup& g, bool bad) {
    g.allgather_into_tensor(sy::ones({12}), bad ? Tensor() : sy::ones({4}));
  });
}

TEST(BadCalls, ArgumentsThatDoNotFit) {
  check("ValueError", "root: expected a rank of group world, 0 to 2, got 3",
        [](ProcessGroup& g, bool bad) {
          g.broadcast(sy::ones({2}), bad ? 3 : 0);
        });
  check("ValueError", "got -1", [](ProcessGroup& g, bool bad) {
    g.reduce(sy::ones({2}), bad ? -1 : 0);
  });
  check("TypeError", "avg", [](ProcessGroup& g, bool bad) {
    g.allreduce(sy::ones({2}, TensorOptions().dtype(kInt)),
                bad ? ReduceOp::AVG : ReduceOp::SUM);
  });
  check("TypeError", "out: expected dtype", [](ProcessGroup& g, bool bad) {
    g.allgather_into_tensor(
        sy::ones({6}, TensorOptions().dtype(bad ? kInt : kFloat)),
        sy::ones({2}));
  });
  check("ValueError", "out: expected 6 elements, got 7",
        [](ProcessGroup& g, bool bad) {
          g.allgather_into_tensor(sy::ones({bad ? 7 : 6}), sy::ones({2}));
        });
  check("ValueError", "outs: expected 3 tensors, one for each rank, got 2",
        [](ProcessGroup& g, bool bad) {
          g.allgather(std::vector<Tensor>(bad ? 2 : 3, sy::ones({0})),
                      sy::ones({0}));
        });
  check("ValueError", "expected rows for 3 ranks, got 4",
        [](ProcessGroup& g, bool bad) {
          const Tensor t = sy::ones({bad ? 4 : 3});
          g.alltoall_base(sy::ones({3}), t);
        });
  const std::vector<int64_t> good = {1, 1, 1};
  const std::vector<std::pair<std::vector<int64_t>, std::string>> splits = {
      {{1, 1}, "expected 3 numbers, got 2"},
      {{1, -1, 3}, "expected rows, got -1"},
      {{1, 1, 2}, "expected 3 rows, got more"},
      {{1, 1, 0}, "expected 3 rows, got 2"},
      {{INT64_MAX, INT64_MAX, 5}, "in_splits: expected 3 rows, got more"}};
  for (const auto& [split, words] : splits) {
    check("ValueError", words, [&](ProcessGroup& g, bool bad) {
      g.alltoall_base(sy::ones({3}), sy::ones({3}), good, bad ? split : good);
    });
  }
  check("ValueError", "(root 0), got", [](ProcessGroup& g, bool bad) {
    const size_t n = g.rank() == 0 ? 3 : 0;
    std::vector<Tensor> outs;
    for (size_t i = 0; i < (bad ? 2 : n); ++i) outs.push_back(sy::ones({2}));
    g.gather(outs, sy::ones({2}), 0);
  });
}

TEST(BadCalls, PairsThatDoNotFit) {
  Ranks ranks(2, milliseconds(1000));
  ranks.run([](int rank) {
    ProcessGroup& g = *world();
    const auto pair = [&](const Tensor& sent, const Tensor& got) {
      return thrown_by([&] {
        if (rank == 0) g.send(sent, 1, 4);
        if (rank == 1) g.recv(got, 0, 4);
      });
    };
    for (const int64_t n : kSizes) {
      const std::string sizes = pair(sy::ones({n}), sy::ones({n + 1}));
      expect_has(sizes, "rank 0: send(float32[" + std::to_string(n));
      expect_has(sizes, "rank 1: recv(float32[" + std::to_string(n + 1));
      const std::string dtypes =
          pair(sy::ones({n}), sy::ones({n}, TensorOptions().dtype(kInt)));
      expect_has(dtypes, "send(float32");
      expect_has(dtypes, "recv(int32");
      const std::string refused =
          pair(sy::ones({n}), sy::ones({1}).expand({n}));
      expect_has(refused, "memory of their own");
      Tensor t = sy::zeros({n});
      EXPECT_EQ(pair(sy::ones({n}), t), "");
      EXPECT_EQ(t.sum().item<double>(), rank == 1 ? double(n) : 0);
    }
    for (const int peer : {rank, -1, 2}) {
      const std::string e = thrown_by([&] { g.send(sy::ones({2}), peer); });
      expect_has(e, "ValueError: [send] rank: expected another rank");
    }
    expect_has(thrown_by([&] { g.recv(sy::ones({2}), 1 - rank, 30'001); }),
               "tag: expected 0 to 30000, got 30001");
    // Nobody answers: other tags.
    const std::string tags = thrown_by([&] {
      if (rank == 0) g.send(sy::ones({2}), 1, 1);
      if (rank == 1) g.recv(sy::ones({2}), 0, 2);
    });
    expect_has(tags, "tag 1");
    expect_has(tags, "tag 2");
  });
}

TEST(BadCalls, RanksWithOtherCode) {
  Ranks ranks(kRanks, milliseconds(1500));
  ranks.run([](int rank) {
    ProcessGroup& g = *world();
    const auto first = [&] { g.allreduce(sy::ones({4})); };
    const auto second = [&] { g.broadcast(sy::ones({2}), 1); };
    // Another order: each call is one disagreement.
    for (int i = 0; i < 2; ++i) {
      const bool is_first = (rank == 2) == (i == 0);
      const std::string e = thrown_by(is_first ? std::function<void()>(first)
                                               : std::function<void()>(second));
      expect_has(e, i == 0 ? "rank 2: all_reduce(float32[4], sum)"
                           : "rank 2: broadcast(float32[2], root 1)");
      expect_has(e, "ranks 0, 1: ");
    }
    expect_good(g);
    // A call more on one rank: the others come with their next one, or not.
    const auto begun = steady_clock::now();
    const std::string e = thrown_by([&] {
      if (rank == 0) g.barrier();
      if (rank != 0) std::this_thread::sleep_for(milliseconds(1800));
    });
    if (rank == 0) {
      expect_has(e, "rank 1: is in no call; the last was all_reduce");
      expect_has(e, "rank 2: is in no call; the last was all_reduce");
    }
    EXPECT_LT(steady_clock::now() - begun, milliseconds(10'000));
  });
}

TEST(BadCalls, GroupsOfOthers) {
  Ranks ranks(kRanks);
  ranks.run([](int rank) {
    const auto ends = new_group({0, 2}, "ends");
    EXPECT_EQ(ends == nullptr, rank == 1);
    if (rank == 1) {
      expect_has(thrown_by([] { group_of("ends"); }),
                 "ValueError: [distributed] group: rank 1 is in no group named "
                 "'ends'; its groups: world");
    }
    const std::vector<std::pair<std::vector<int>, std::string>> wrong = {
        {{}, "expected at least one"},
        {{0, 3}, "expected 0 to 2, got 3"},
        {{-1}, "expected 0 to 2, got -1"},
        {{1, 0}, "expected increasing numbers, got 0 after 1"},
        {{1, 1}, "expected increasing numbers, got 1 after 1"}};
    for (const auto& [numbers, words] : wrong) {
      const std::string e = thrown_by([&] { new_group(numbers); });
      expect_has(e, "ValueError: [new_group] ranks: ");
      expect_has(e, words);
    }
    // It is a rank's of the group: the name is taken there alone.
    const std::string taken = thrown_by([] { new_group({0, 1, 2}, "ends"); });
    expect_has(taken, "there is a group named ends");
    expect_has(thrown_by([&] {
                 new_group(rank == 0 ? std::vector<int>{0, 1}
                                     : std::vector<int>{0, 2});
               }),
               "the ranks disagree");
    expect_good(*world());
    if (ends != nullptr) expect_good(*ends);
  });
}

TEST(BadCalls, AfterTheEnd) {
  Ranks ranks(2);
  ranks.run([](int rank) {
    const auto g = world();
    const auto other = new_group({0, 1});
    Tensor t = sy::ones({300'000});
    // Rank 1 never begins it.
    Work under_way;
    if (rank == 0) under_way = g->allreduce(t, ReduceOp::SUM, kAsync);
    const Work done = other->barrier(kAsync);
    done.wait();
    destroy_process_group();
    if (rank == 0) {
      expect_has(thrown_by([&] { under_way.wait(); }),
                 "ended while a call was under way");
      EXPECT_FALSE(under_way.is_success());
    }
    EXPECT_EQ(thrown_by([&] { done.wait(); }), "");
    for (const auto& group : {g, other}) {
      EXPECT_NE(thrown_by([&] { group->allreduce(sy::ones({2})); }), "");
      EXPECT_NE(thrown_by([&] { group->barrier(kAsync); }), "");
      EXPECT_EQ(group->size(), 2);
      EXPECT_EQ(group->rank(), rank);
    }
    expect_has(thrown_by([] {
                 new_group({0, 1});
               }),
               "[new_group] there are no groups any more");
    expect_has(thrown_by([] { world(); }),
               "destroy_process_group() was called");
    expect_has(thrown_by([] { destroy_process_group(); }),
               "there are no groups any more");
    EXPECT_FALSE(is_initialized());
    EXPECT_EQ(get_world_size(), 1);
  });
}

TEST(BadCalls, WhoLeavesBeforeTheFirstCallIsNamed) {
  Ranks ranks(kRanks, milliseconds(20'000));
  std::atomic<int> named{0};
  const auto begun = steady_clock::now();
  ranks.run([&](int rank) {
    if (rank == 2) return;
    const std::string e = thrown_by([] { world()->barrier(); });
    if (e.find("rank 2 is gone") != e.npos) ++named;
  });
  EXPECT_EQ(named, 2);
  EXPECT_LT(steady_clock::now() - begun, milliseconds(8000));
}

// A group's numbers are not the world's.
TEST(BadCalls, RanksOfGroupsAreNamedByTheWorldToo) {
  Ranks ranks(3, milliseconds(500));
  ranks.run([](int rank) {
    const auto ends = new_group({0, 2});
    if (rank != 0) std::this_thread::sleep_for(milliseconds(rank * 800));
    if (rank != 0) return;
    const std::string late = thrown_by([&] { ends->barrier(); });
    expect_has(late, "rank 1 (2 of the world): is in no call");
  });
  Ranks gone(3, milliseconds(20'000));
  gone.run([](int rank) {
    const auto ends = new_group({0, 2});
    if (rank != 0) return;
    const std::string e = thrown_by([&] { ends->barrier(); });
    expect_has(e, "[barrier] rank 1 (2 of the world) is gone (");
  });
  Ranks unlike(3);
  unlike.run([](int rank) {
    const auto ends = new_group({0, 2});
    if (ends == nullptr) return;
    const std::string e =
        thrown_by([&] { ends->allreduce(sy::ones({rank + 1})); });
    expect_has(e, "rank 0: all_reduce(float32[1], sum)");
    expect_has(e, "rank 1 (2 of the world): all_reduce(float32[3], sum)");
  });
}

TEST(BadCalls, NumbersThatTheLauncherContradicts) {
  Ranks ranks(2);
  ranks.options.size = 3;
  expect_has(
      thrown_by([&] { ranks.run([](int) {}); }),
      "ValueError: [init] size: expected 2, as the launcher says, got 3");
  Ranks others(2, milliseconds(300));
  others.options.rank = 1;
  expect_has(
      thrown_by([&] { others.run([](int) {}); }),
      "ValueError: [init] rank: expected 0, as the launcher says, got 1");
}

}  // namespace
}  // namespace sy::distributed
