#include <gtest/gtest.h>
#include <sy/sy.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "test/frontend/distributed/ranks.h"

// A short run in which something goes wrong at one transfer after another.
// Each rank then has the right numbers or an error, and nobody hangs.

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kRanks = 3;

// The calls of the run. Throws std::logic_error for a wrong number.
void short_run(int rank) {
  const auto group = world();
  const auto expect = [](bool right) {
    if (!right) throw std::logic_error("wrong number");
  };
  Tensor t = sy::full({5}, rank + 1.0);
  group->allreduce(t);
  expect(t.eq(6).all().item<bool>());
  Tensor large = sy::full({400'000}, rank + 1.0);
  const Work work = group->allreduce(large, ReduceOp::MAX, kAsync);
  Tensor b = sy::full({3}, double(rank));
  group->broadcast(b, 1);
  expect(b.eq(1).all().item<bool>());
  work.wait();
  expect(large.eq(kRanks).all().item<bool>());
  Tensor all = sy::empty({kRanks * 4000});
  group->allgather_into_tensor(all, sy::full({4000}, double(rank)));
  expect(all.sum().item<double>() == 3 * 4000.0);
  const auto pair = new_group({0, 2});
  if (pair != nullptr) {
    Tensor s = sy::full({2}, double(rank));
    pair->allreduce(s);
    expect(s.eq(2).all().item<bool>());
  }
  Tensor got = sy::empty({3000});
  if (rank == 0) group->send(sy::ones({3000}), 1, 7);
  if (rank == 1) {
    group->recv(got, 0, 7);
    expect(got.eq(1).all().item<bool>());
  }
  group->barrier();
}

struct Result {
  int right = 0, errors = 0;
  bool wrong = false;
};

// Runs it with a fault, each rank until it has an error.
Result with_fault(const std::function<void(ThreadWorld&)>& inject,
                  milliseconds timeout = milliseconds(250)) {
  Ranks ranks(kRanks, timeout);
  std::atomic<int> right{0}, errors{0};
  std::atomic<bool> wrong{false}, injected{false};
  ranks.run([&](int rank) {
    if (rank == 0) {
      inject(ranks.threads);
      injected = true;
    }
    while (!injected) std::this_thread::yield();
    try {
      short_run(rank);
      ++right;
    } catch (const Error&) {
      ++errors;
    } catch (const std::logic_error&) {
      wrong = true;
    }
  });
  return {right, errors, wrong};
}

// Transfers that a rank begins in a run without a fault.
int64_t transfers_of(int rank, int64_t* before) {
  int64_t n = 0;
  Ranks ranks(kRanks);
  std::atomic<int> done{0};
  ranks.run([&](int r) {
    if (r == rank) *before = ranks.threads.begun(rank);
    short_run(r);
    if (r == rank) n = ranks.threads.begun(rank) - *before;
  });
  return n;
}

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    count_ = transfers_of(1, &before_);
    ASSERT_GT(count_, 20);
  }
  // The places to try: all of them with SY_ALL_FAULTS.
  int64_t step() const {
    return std::getenv("SY_ALL_FAULTS") != nullptr ? 1 : count_ / 8;
  }
  int64_t before_ = 0, count_ = 0;
};

TEST_F(Faults, ATransferThatCannotBegin) {
  for (int64_t n = 1; n <= count_; n += step()) {
    const Result r =
        with_fault([&](ThreadWorld& w) { w.fail_begin(1, before_ + n); });
    EXPECT_FALSE(r.wrong) << n;
    EXPECT_EQ(r.right + r.errors, kRanks) << n;
    EXPECT_GE(r.errors, 1) << n;
  }
}

TEST_F(Faults, ATransferThatFailsLater) {
  for (int64_t n = 1; n <= count_; n += step()) {
    const Result r =
        with_fault([&](ThreadWorld& w) { w.fail_test(1, before_ + n); });
    EXPECT_FALSE(r.wrong) << n;
    EXPECT_EQ(r.right + r.errors, kRanks) << n;
  }
}

TEST_F(Faults, ARankWhoseTransfersReachNobody) {
  for (int64_t n = 1; n <= count_; n += step()) {
    const Result r =
        with_fault([&](ThreadWorld& w) { w.vanish(1, before_ + n); });
    EXPECT_FALSE(r.wrong) << n;
    EXPECT_EQ(r.right + r.errors, kRanks) << n;
    EXPECT_GE(r.errors, 1) << n;
  }
}

TEST_F(Faults, ASlowRankChangesNothing) {
  const Result r = with_fault(
      [](ThreadWorld& w) { w.delay(1, milliseconds(5)); }, milliseconds(5000));
  EXPECT_EQ(r.right, kRanks);
}

TEST_F(Faults, ARankThatThrowsBetweenCalls) {
  Ranks ranks(kRanks, milliseconds(10'000));
  const auto begun = steady_clock::now();
  std::atomic<int> named{0};
  EXPECT_THROW(ranks.run([&](int rank) {
    world()->barrier();
    if (rank == 1) throw std::runtime_error("no such file");
    const std::string e = error_of([&] { short_run(rank); });
    if (e.find("rank 1") != std::string::npos) ++named;
  }),
               std::runtime_error);
  EXPECT_EQ(named, kRanks - 1);
  EXPECT_LT(steady_clock::now() - begun, milliseconds(5000));
}

}  // namespace
}  // namespace sy::distributed
