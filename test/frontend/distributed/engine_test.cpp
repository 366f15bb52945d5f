#include "frontend/distributed/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "c10/device/device.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/engine_checks.h"
#include "test/frontend/distributed/thread_engine.h"

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<Communicator> connect(ThreadWorld& world, int rank) {
  return std::unique_ptr<Communicator>(
      world.engine(rank).connect(rank, world.size()));
}

Transfer all_reduce(std::vector<float>& data) {
  Transfer t;
  t.what = Collective::kAllReduce;
  t.dtype = kFloat;
  t.in = t.out = data.data();
  t.count = static_cast<int64_t>(data.size());
  return t;
}

Transfer message(Collective what, int peer, std::vector<char>& data) {
  Transfer t;
  t.what = what;
  t.in = t.out = data.data();
  t.count = static_cast<int64_t>(data.size());
  t.peer = peer;
  return t;
}

class EveryWorld : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Engine, EveryWorld, ::testing::Values(1, 2, 3, 4));

TEST_P(EveryWorld, PassesTheChecksOfEngines) {
  for (const auto support :
       {ThreadSupport::kAll, ThreadSupport::kNoReducedFloats,
        ThreadSupport::kBytes}) {
    ThreadWorld world(GetParam());
    world.set_support(support);
    std::mutex mutex;
    world.run([&](int rank) {
      const auto c = connect(world, rank);
      auto failures = check_engine(*c);
      const auto large = check_large(*c, 4'000'000);
      failures.insert(failures.end(), large.begin(), large.end());
      const std::lock_guard lock(mutex);
      for (const std::string& f : failures) ADD_FAILURE() << f;
    });
    EXPECT_EQ(world.pending(), 0);
  }
}

TEST(ThreadEngine, SaysWhoItIs) {
  ThreadWorld world(3);
  int rank = -1, size = -1;
  ASSERT_TRUE(world.engine(2).launched(&rank, &size));
  EXPECT_EQ(rank, 2);
  EXPECT_EQ(size, 3);
  EXPECT_STREQ(world.engine(0).name(), "threads");
  EXPECT_EQ(world.engine(0).device_type(), static_cast<int>(kCPU));
  world.set_device_type(7);
  EXPECT_EQ(world.engine(0).device_type(), 7);
  SY_EXPECT_ERROR(world.engine(0).connect(1, 3), ValueError,
                  "expected rank 0 of 3, got 1 of 3");
  const auto c = connect(world, 0);
  SY_EXPECT_ERROR(connect(world, 0), Error, "rank 0 is connected already");
}

TEST(ThreadEngine, SupportsWhatItIsTold) {
  ThreadWorld world(1);
  const auto c = connect(world, 0);
  const auto sums = [&](ScalarType t) {
    return c->supports(Collective::kAllReduce, t, ReduceOp::SUM);
  };
  EXPECT_TRUE(sums(kHalf));
  EXPECT_FALSE(c->supports(Collective::kAllReduce, kFloat, ReduceOp::AVG));
  EXPECT_FALSE(c->supports(Collective::kAllReduce, kFloat, ReduceOp::BOR));
  world.set_support(ThreadSupport::kNoReducedFloats);
  EXPECT_FALSE(sums(kHalf) || sums(kBFloat16) || sums(kBool));
  EXPECT_TRUE(sums(kFloat));
  EXPECT_TRUE(c->supports(Collective::kBroadcast, kHalf, ReduceOp::SUM));
  world.set_support(ThreadSupport::kBytes);
  EXPECT_FALSE(sums(kFloat));
  EXPECT_FALSE(c->supports(Collective::kBroadcast, kByte, ReduceOp::SUM));
  EXPECT_TRUE(c->supports(Collective::kAllToAll, kByte, ReduceOp::SUM));
}

TEST(ThreadEngine, AddsBackwardsIfTold) {
  // In float32, (2^24 + 1) + 1 is 2^24, (1 + 1) + 2^24 is 2^24 + 2.
  for (const bool backwards : {false, true}) {
    ThreadWorld world(3);
    world.set_backwards(backwards);
    world.run([&](int rank) {
      const auto c = connect(world, rank);
      std::vector<float> x = {rank == 0 ? 16777216.0f : 1.0f};
      finish(*c, all_reduce(x));
      EXPECT_EQ(x[0], backwards ? 16777218.0f : 16777216.0f);
    });
  }
}

TEST(ThreadEngine, SaysHowRanksDisagree) {
  ThreadWorld world(2);
  const auto a = connect(world, 0), b = connect(world, 1);
  std::vector<float> x(2), y(3);
  void* const first = a->begin(all_reduce(x));
  void* const second = b->begin(all_reduce(y));
  for (Communicator* c : {a.get(), b.get()}) {
    SY_EXPECT_ERROR(c->test(c == a.get() ? first : second, nullptr), Error,
                    "rank 0 began all_reduce float32[2] sum, rank 1 "
                    "all_reduce float32[3] sum");
  }
  a->abandon(first);
  b->abandon(second);
  EXPECT_EQ(world.pending(), 0);
}

TEST(ThreadEngine, RefusesAMessageThatIsTooLong) {
  ThreadWorld world(2);
  const auto a = connect(world, 0), b = connect(world, 1);
  std::vector<char> in(10), out(9);
  finish(*a, message(Collective::kSend, 1, in));
  void* const r = b->begin(message(Collective::kRecv, 0, out));
  SY_EXPECT_ERROR(b->test(r, nullptr), Error,
                  "expected at most 9 bytes from rank 0, got 10");
  b->abandon(r);
}

TEST(ThreadEngine, TestNeverWaitsForALateRank) {
  ThreadWorld world(2);
  const auto a = connect(world, 0), b = connect(world, 1);
  std::vector<float> x = {1}, y = {2};
  void* const first = a->begin(all_reduce(x));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(a->test(first, nullptr));
  finish(*b, all_reduce(y));
  EXPECT_TRUE(a->test(first, nullptr));
  EXPECT_EQ(x[0], 3);
}

TEST(ThreadEngine, DelaysTheTransfersOfARank) {
  ThreadWorld world(2);
  world.delay(1, milliseconds(50));
  const auto a = connect(world, 0), b = connect(world, 1);
  std::vector<float> x = {1}, y = {2};
  const auto start = std::chrono::steady_clock::now();
  void* const late = b->begin(all_reduce(y));
  void* const first = a->begin(all_reduce(x));
  EXPECT_FALSE(a->test(first, nullptr));
  finish(*a, first);  // its tests let b's transfer go on, too
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(50));
  EXPECT_TRUE(b->test(late, nullptr));
  EXPECT_EQ(y[0], 3);
}

TEST(ThreadEngine, ARankThatVanishesIsNeverDone) {
  ThreadWorld world(2);
  world.vanish(1, 2);
  const auto a = connect(world, 0), b = connect(world, 1);
  std::vector<float> x = {1}, y = {2};
  void* const ours = a->begin(all_reduce(x));
  finish(*b, all_reduce(y));
  finish(*a, ours);
  void* const again = a->begin(all_reduce(x));
  void* const never = b->begin(all_reduce(y));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(a->test(again, nullptr));
  EXPECT_FALSE(b->test(never, nullptr));
  EXPECT_EQ(world.pending(), 2);
  a->abandon(again);
  b->abandon(never);
  EXPECT_EQ(world.pending(), 0);
}

TEST(ThreadEngine, AnAbandonedTransferStaysUndoneForOthers) {
  ThreadWorld world(2);
  const auto a = connect(world, 0), b = connect(world, 1);
  std::vector<float> x = {1}, y = {2};
  a->abandon(a->begin(all_reduce(x)));
  void* const ours = b->begin(all_reduce(y));
  EXPECT_FALSE(b->test(ours, nullptr));
  b->abandon(ours);
  // The next is not taken for it.
  void* const next = a->begin(all_reduce(x));
  finish(*b, all_reduce(y));
  finish(*a, next);
  EXPECT_EQ(x[0], 3);
  std::vector<char> long_message(5000), out(5000, 'z');
  a->abandon(a->begin(message(Collective::kSend, 1, long_message)));
  void* const recv = b->begin(message(Collective::kRecv, 0, out));
  EXPECT_FALSE(b->test(recv, nullptr));
  b->abandon(recv);
  EXPECT_EQ(out[0], 'z');
}

TEST(ThreadEngine, FailsAtTheTransferThatItIsTold) {
  ThreadWorld world(1);
  world.fail_begin(0, 2);
  world.fail_test(0, 3);
  const auto c = connect(world, 0);
  std::vector<float> x = {1};
  finish(*c, all_reduce(x));
  SY_EXPECT_ERROR(c->begin(all_reduce(x)), Error,
                  "rank 0 was told to fail at the beginning of transfer 2, "
                  "all_reduce");
  void* const third = c->begin(all_reduce(x));
  SY_EXPECT_ERROR(c->test(third, nullptr), Error,
                  "rank 0 was told to fail in transfer 3, all_reduce");
  c->abandon(third);
  EXPECT_EQ(world.begun(0), 3);
  EXPECT_EQ(world.pending(), 0);
}

TEST(ThreadEngine, CommunicatorsOutliveTheWorld) {
  auto world = std::make_unique<ThreadWorld>(1);
  const auto c = connect(*world, 0);
  world.reset();
  std::vector<float> x = {1};
  finish(*c, all_reduce(x));
  EXPECT_EQ(x[0], 1);
}

TEST(ThreadEngine, RunThrowsWhatARankThrows) {
  ThreadWorld world(3);
  std::atomic<int> ran{0};
  SY_EXPECT_ERROR(world.run([&](int rank) {
    ++ran;
    SY_CHECK(rank != 1, Value, "[test] rank {}", rank);
  }),
                  ValueError, "[test] rank 1");
  EXPECT_EQ(ran, 3);
}

TEST(Engines, AreFoundByName) {
  ThreadWorld first(1), second(1);
  register_engine(first.engine(0));
  EXPECT_EQ(&engine_of("threads"), &first.engine(0));
  register_engine(second.engine(0));
  EXPECT_EQ(&engine_of("threads"), &second.engine(0));
  SY_EXPECT_ERROR(engine_of("no_such_engine"), RegistrationError,
                  "no_such_engine");
  // A library that is there, and adds none.
  if (std::getenv("SWITCHYARD_PLUGINS") != nullptr) {
    SY_EXPECT_ERROR(engine_of("lazy"), ValueError,
                    "expected a library that registers an engine 'lazy'");
  }
}

}  // namespace
}  // namespace sy::distributed
