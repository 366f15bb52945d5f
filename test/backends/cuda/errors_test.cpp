#include "backends/cuda/runtime/errors.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "backends/cuda/runtime/context.h"
#include "test/backends/cuda/runtime_fixture.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

namespace sy::cuda {
namespace {

using namespace testing;

void report(Fault code, int argument, int64_t value, int64_t bound = 0,
            int device = 0) {
  ReportParams p{{}, static_cast<int>(code), argument, value, bound};
  launch(device, kernel_of_test(device, "report_value"), {{1}, {1}}, p, {});
}

TEST(CheckedErrors, AnIndexNamesOperatorArgumentAndValue) {
  const Tensor x = made(2);
  {
    const AsOperator op("aten::gather");
    report(Fault::kIndex, 2, 9, 7);
  }
  step(x, 0, 4);
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(0)), IndexError,
                  "[aten::gather] index: expected an index into a size of 7, "
                  "got 9");
  // Once; the device goes on, and what came after it ran.
  sy::synchronize(cuda_device(0));
  EXPECT_EQ(read(x), std::vector<int64_t>(2, 4));
}

TEST(CheckedErrors, OtherKindsAreValueErrors) {
  const AsOperator op("aten::bernoulli");
  report(Fault::kProbability, 0, std::bit_cast<int64_t>(1.5));
  SY_EXPECT_ERROR(
      throw_errors(
          (sy::device_interface(kCUDA).streams()->synchronize_stream(0, 0), 0)),
      ValueError,
      "[aten::bernoulli] self: expected probabilities in [0, 1], "
      "got 1.5");
  report(Fault::kDivision, -1, 1);
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(0)), ValueError,
                  "[aten::bernoulli] expected a divisor other than 0");
}

TEST(CheckedErrors, AnOperatorDescribesItsOwnValues) {
  describe_values("aten::poisson", [](int, int64_t value, int64_t bound) {
    return str("expected at most {}, got {}", bound, value);
  });
  {
    const AsOperator op("aten::poisson");
    report(Fault::kValue, 0, 12, 10);
  }
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(0)), ValueError,
                  "[aten::poisson] self: expected at most 10, got 12");
  {
    const AsOperator op("aten::gather");
    report(Fault::kValue, 0, 12, 10);
  }
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(0)), ValueError,
                  "[aten::gather] self: expected another value, got 12");
}

TEST(CheckedErrors, TheFirstIsThrown) {
  {
    const AsOperator op("aten::gather");
    report(Fault::kIndex, 2, 8, 7);
  }
  {
    const AsOperator op("aten::index_select");
    report(Fault::kIndex, 2, 9, 7);
  }
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(0)), IndexError,
                  "[aten::gather]");
  sy::synchronize(cuda_device(0));
}

TEST(CheckedErrors, AStreamThrowsItsOwn) {
  const Stream a = Stream::make(cuda_device(0)),
               b = Stream::make(cuda_device(0));
  {
    const StreamGuard guard(a);
    const AsOperator op("aten::gather");
    report(Fault::kIndex, 2, 9, 7);
  }
  b.synchronize();
  SY_EXPECT_ERROR(a.synchronize(), IndexError, "got 9");
  a.synchronize();
}

TEST(CheckedErrors, ACopyToTheHostThrows) {
  const Tensor x = made(3);
  step(x, 0, 1);
  report(Fault::kIndex, 2, -8, 7);
  SY_EXPECT_ERROR(read(x), IndexError,
                  "[cuda] expected an index into a size of "
                  "7, got -8");
  EXPECT_EQ(read(x), std::vector<int64_t>(3, 1));
}

TEST(CheckedErrors, AnEventThrowsThoseOfItsStream) {
  report(Fault::kIndex, 0, 5, 5);
  const Event e = Stream::current(cuda_device(0)).record();
  SY_EXPECT_ERROR(e.synchronize(), IndexError, "got 5");
}

// More launches than are remembered come after it.
TEST(CheckedErrors, TheOperatorIsKnownLongAfter) {
  const Tensor x = made(1);
  {
    const AsOperator op("aten::gather");
    report(Fault::kIndex, 2, 9, 7);
  }
  for (int i = 0; i < 6000; ++i) step(x, 0, 1);
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(0)), IndexError,
                  "[aten::gather] index");
}

TEST(CheckedErrors, ADeviceHasItsOwn) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  report(Fault::kIndex, 0, 5, 5, 1);
  sy::synchronize(cuda_device(0));
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(1)), IndexError, "got 5");
}

// A process of its own: nothing works after a fault.
TEST(Faults, NameTheOldestUnfinishedLaunch) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  const Tensor x = made(6),
               y = Tensor(make_tensor({2, 3}, kLong, cuda_device(0)));
  step(x, 0, 1);
  sy::synchronize(cuda_device(0));
  {
    const Paused paused;
    const AsOperator op("aten::gather");
    fake().fault_launch(1, driver::kIllegalAddress);
    step(y, 0, 1);  // number 2
    step(x, 0, 2);
    step(x, 0, 3);
  }
  std::string first;
  try {
    sy::synchronize(cuda_device(0));
  } catch (const Error& e) {
    first = e.what();
  }
  EXPECT_NE(first.find("[aten::gather] cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS"),
            std::string::npos)
      << first;
  EXPECT_NE(first.find("launch 2 of stream 0, kernel step, grid 1 x 1 x 1 of "
                       "256 threads, int64[2, 3] (3 pieces were in flight)"),
            std::string::npos)
      << first;
  EXPECT_TRUE(has_failed(0));
  // Everything says the same from now on, and the process lives.
  SY_EXPECT_ERROR(step(x, 0, 1), Error, first);
  SY_EXPECT_ERROR(read(x), Error, first);
  SY_EXPECT_ERROR(Stream::make(cuda_device(0)), Error, first);
  SY_EXPECT_ERROR(Stream::current(cuda_device(0)).record(), Error, first);
  SY_EXPECT_ERROR(throw_errors(0), Error, first);
  SY_EXPECT_ERROR(made(1), Error, first);
  EXPECT_EQ(completed_ticket(0), last_ticket(0));
  EXPECT_EQ(sy::memory_stats(cuda_device(0)).allocated, 0);
}

TEST(Faults, AreMetByWhateverComesNext) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  const Tensor x = made(1);
  const Stream s = Stream::make(cuda_device(0));
  {
    const StreamGuard guard(s);
    const AsOperator op("aten::gather");
    fake().fault_launch(1, driver::kMisalignedAddress);
    step(x, 0, 1);
    while (!has_failed(0)) completed_ticket(s.id());
  }
  SY_EXPECT_ERROR(read(x), Error, "CUDA_ERROR_MISALIGNED_ADDRESS");
  SY_EXPECT_ERROR(read(x), Error, "[aten::gather]");
}

TEST(Faults, LeaveOtherDevicesAlone) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Tensor x = made(1, 0), y = made(1, 1);
  step(y, 0, 3);
  fake().fault_launch(1, driver::kLaunchFailed);
  step(x, 0, 1);
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(0)), Error, "cuda:0");
  EXPECT_EQ(read(y), std::vector<int64_t>{3});
  step(y, 2, 0);
  EXPECT_EQ(read(y), std::vector<int64_t>{6});
}

TEST(Faults, StopNoThread) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      try {
        for (;;) {
          const Stream s = Stream::make(cuda_device(0));
          const StreamGuard guard(s);
          const Tensor x = made(256);
          for (int i = 0; i < 10; ++i) step(x, 1, 1);
          s.record();
          read(x);
        }
      } catch (const Error& e) {
        ended += std::string(e.what()).find("CUDA_ERROR_LAUNCH_FAILED") !=
                 std::string::npos;
      }
    });
  }
  fake().fault_launch(500, driver::kLaunchFailed);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(ended, 4);
}

// The child, which is as good as the status that it ends with.
template <class F>
int in_fork(F&& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int status = 1;
    try {
      status = body();
    } catch (const std::exception& e) {
      fprintf(stderr, "%s\n", e.what());
    }
    _exit(status);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Fork, TheChildCannotUseADeviceThatTheParentUsed) {
  Tensor x = made(1);
  step(x, 0, 1);
  EXPECT_EQ(in_fork([&] {
              try {
                step(x, 0, 2);
              } catch (const Error& e) {
                if (std::string(e.what()).find("forked") == std::string::npos) {
                  return 2;
                }
                x = Tensor();  // frees nothing, and does not wait
                return 0;
              }
              return 3;
            }),
            0);
  EXPECT_EQ(read(x), std::vector<int64_t>{1});
}

// Locks that other threads hold at the time of the fork stay locked in the
// child.
TEST(Fork, TheChildDoesNotWaitForThreadsThatItLacks) {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!over) {
        const Stream s = Stream::make(cuda_device(0));
        const StreamGuard guard(s);
        const Tensor x = made(1 << 12);
        step(x, 0, 1);
        s.record();
        completed_ticket(s.id());
      }
    });
  }
  Tensor x = made(1);
  std::optional<Stream> s = Stream::make(cuda_device(0));
  std::optional<Event> e = s->record();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_fork([&] {
                for (const auto& use : std::vector<std::function<void()>>{
                         [&] { step(x, 0, 2); }, [&] { read(x); },
                         [&] { Stream::make(cuda_device(0)); },
                         [&] { sy::synchronize(cuda_device(0)); },
                         [&] { e->synchronize(); }, [&] { s->is_done(); },
                         [&] { made(1 << 20); }}) {
                  try {
                    use();
                    return 2;
                  } catch (const Error&) {
                  }
                }
                e.reset();
                s.reset();
                x = Tensor();
                return 0;
              }),
              0);
  }
  over = true;
  for (std::thread& t : threads) t.join();
}

TEST(Fork, ComesBeforeTheFirstUse) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  EXPECT_EQ(in_fork([] {
              const Tensor x = made(1);
              step(x, 0, 4);
              return read(x)[0] == 4 ? 0 : 4;
            }),
            0);
}

}  // namespace
}  // namespace sy::cuda
