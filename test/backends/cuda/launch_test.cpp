#include "backends/cuda/runtime/launch.h"

#include <chrono>
#include <thread>

#include "test/backends/cuda/runtime_fixture.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

namespace sy::cuda {
namespace {

using namespace testing;

TEST(Launch, KernelsOfAStreamRunInOrder) {
  const Tensor x = made(1000);
  step(x, 0, 3);
  step(x, 10, 1);
  step(x, 2, 0);
  EXPECT_EQ(read(x), std::vector<int64_t>(1000, 62));
}

TEST(Launch, ReturnsBeforeTheKernelRuns) {
  const Tensor x = made(4);
  step(x, 0, 1);
  sy::synchronize(cuda_device(0));
  Gate gate;
  step(x, 0, 2);
  EXPECT_FALSE(Stream::current(cuda_device(0)).is_done());
  gate.open();
  EXPECT_EQ(read(x), std::vector<int64_t>(4, 2));
}

TEST(Launch, AGridWithoutBlocksStartsNothing) {
  const int64_t before = counters().launches;
  const uint64_t ticket = last_ticket(0);
  const Tensor x = made(0);
  step(x, 0, 1);
  EXPECT_EQ(counters().launches, before);
  EXPECT_EQ(last_ticket(0), ticket);
}

TEST(Launch, UndefinedOperandsAreSkipped) {
  const Tensor none, x = made(1);
  StepParams p{{}, 1, static_cast<long long*>(x.raw_data()), 0, 7};
  launch(0, kernel_of_test(0, "step"), {{1}, {1}}, p, {&none, nullptr, &x});
  EXPECT_EQ(read(x), std::vector<int64_t>{7});
}

TEST(Launch, EachLaunchHasTheNextTicket) {
  const Tensor x = made(1);
  const Stream s = Stream::make(cuda_device(0));
  const StreamGuard guard(s);
  const uint64_t before = last_ticket(s.id());
  EXPECT_EQ(completed_ticket(s.id()), before);
  step(x, 0, 1);
  step(x, 0, 2);
  EXPECT_EQ(last_ticket(s.id()), before + 2);
  s.synchronize();
  EXPECT_EQ(completed_ticket(s.id()), before + 2);
}

TEST(Launch, TicketsAreCompletedWhileTheStreamStillWorks) {
  const Tensor x = made(1);
  const Stream s = Stream::make(cuda_device(0));
  const StreamGuard guard(s);
  const uint64_t before = last_ticket(s.id());
  step(x, 0, 1);
  step(x, 0, 2);
  Gate gate;  // the third
  step(x, 0, 3);
  while (completed_ticket(s.id()) < before + 2) std::this_thread::yield();
  EXPECT_EQ(completed_ticket(s.id()), before + 2);
  EXPECT_FALSE(s.is_done());
  gate.open();
  s.synchronize();
  EXPECT_EQ(completed_ticket(s.id()), before + 4);
}

TEST(Launch, WhatTheDriverRefusesNamesOperatorAndKernel) {
  const Tensor x = made(1);
  const AsOperator op("aten::gather");
  const uint64_t ticket = last_ticket(0);
  fake().fail_launch(1, driver::kLaunchOutOfResources);
  SY_EXPECT_ERROR(step(x, 0, 1), Error,
                  "[aten::gather] kernel step did not start: "
                  "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  EXPECT_EQ(last_ticket(0), ticket);
  step(x, 0, 5);
  EXPECT_EQ(last_ticket(0), ticket + 1);
  EXPECT_EQ(read(x), std::vector<int64_t>{5});
}

TEST(Launch, WithoutMemoryIsAnOutOfMemoryError) {
  const Tensor x = made(1);
  fake().fail_launch(1, driver::kOutOfMemory);
  SY_EXPECT_ERROR(step(x, 0, 1), OutOfMemoryError, "kernel step");
}

TEST(Launch, TooManyThreadsAreRefused) {
  NothingParams p;
  SY_EXPECT_ERROR(launch(0, kernel_of_test(0, "nothing"), {{1}, {2048}}, p, {}),
                  Error, "block 2048 x 1 x 1");
}

TEST(Launch, MoreSharedMemoryIsAskedForOnce) {
  NothingParams p;
  const Function& f = kernel_of_test(0, "nothing");
  launch(0, f, {{1}, {1}, 100 << 10}, p, {});
  EXPECT_EQ(f.shared_limit, 100u << 10);
  launch(0, f, {{1}, {1}, 64 << 10}, p, {});
  EXPECT_EQ(f.shared_limit, 100u << 10);
  SY_EXPECT_ERROR(launch(0, f, {{1}, {1}, 300 << 10}, p, {}), Error,
                  "kernel nothing: expected at most");
  sy::synchronize(cuda_device(0));
}

TEST(Launch, MemoryThatAnotherStreamUsesIsNotGivenAwayBefore) {
  const Stream slow = Stream::make(cuda_device(0));
  const Tensor gone = made(1 << 16);
  const void* const address = gone.raw_data();
  {
    const StreamGuard guard(slow);
    const Gate gate;
    {
      Tensor x = made(1 << 16);
      step(x, 0, 1);
    }
    // Its memory is that of the stream, which may have it at once.
    const Tensor same = made(1 << 16);
    step(same, 0, 2);
    EXPECT_NE(same.raw_data(), address);
  }
  sy::synchronize(cuda_device(0));
}

TEST(Launch, ManyThreadsInOneStream) {
  constexpr int kThreads = 4, kEach = 500;
  const Tensor x = made(kThreads);
  step(x, 0, 0);
  const uint64_t before = last_ticket(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        StepParams p{{}, 1, static_cast<long long*>(x.raw_data()) + t, 1, 1};
        launch(0, kernel_of_test(0, "step"), {{1}, {1}}, p, {&x});
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(last_ticket(0), before + kThreads * kEach);
  EXPECT_EQ(read(x), std::vector<int64_t>(kThreads, kEach));
  EXPECT_EQ(completed_ticket(0), last_ticket(0));
}

TEST(Launch, CheckSyncWaitsAfterEachLaunch) {
  if (!with_environment("SWITCHYARD_CHECK", "sync")) return;
  const Tensor x = made(1);
  step(x, 0, 1);
  EXPECT_EQ(completed_ticket(0), last_ticket(0));
  const AsOperator op("aten::gather");
  ReportParams p{{}, static_cast<int>(Fault::kIndex), 2, 9, 7};
  SY_EXPECT_ERROR(
      launch(0, kernel_of_test(0, "report_value"), {{1}, {1}}, p, {}),
      IndexError, "[aten::gather] index: expected an index into a size of 7");
}

TEST(Launch, AnotherContextOfTheThreadDoesNotMatter) {
  const Tensor x = made(1);
  step(x, 0, 1);
  // Other code of the process may do this.
  driver::check(driver::api().context_set(nullptr), "cuCtxSetCurrent");
  step(x, 1, 1);
  EXPECT_EQ(read(x), std::vector<int64_t>{2});
}

}  // namespace
}  // namespace sy::cuda
