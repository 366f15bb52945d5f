#include "calls.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "kernel.h"
#include "names.h"
#include "strided.h"

namespace accel {
namespace {
std::atomic<int64_t> calls{0};
}

void count_native_call() noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
}

int64_t native_calls() { return calls.load(std::memory_order_relaxed); }

// The stream does nothing else for that long; the host goes on.
static void sleep(const sy::Tensor& on, int64_t milliseconds) {
  Streams::singleton().submit(on.device().index(), {}, [milliseconds] {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  });
}

// The same tensor, and an error of the stream if an element is no number.
static sy::Tensor check_finite(const sy::Tensor& self) {
  launch(
      [](const Span& t) {
        for_each(t, t, t, [](float a, float) {
          SY_CHECK(std::isfinite(a), Value,
                   "self: expected finite numbers, got {}", a);
          return a;
        });
      },
      self);
  return self;
}

}  // namespace accel

ACCEL_OPERATORS(m) {
  m.def("native_calls() -> int", SY_FN(accel::native_calls));
  m.def("sleep(Tensor on, int milliseconds) -> ()");
  m.def("check_finite(Tensor self) -> Tensor");
}
ACCEL_KERNELS(m) {
  m.impl("sleep", SY_FN(accel::sleep));
  m.impl("check_finite", SY_FN(accel::check_finite));
}
