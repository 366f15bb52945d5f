#include "calls.h"

#include <atomic>

#include "names.h"

namespace accel {
namespace {
std::atomic<int64_t> calls{0};
}

void count_native_call() noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
}

int64_t native_calls() { return calls.load(std::memory_order_relaxed); }

}  // namespace accel

ACCEL_OPERATORS(m) {
  m.def("native_calls() -> int", SY_FN(accel::native_calls));
}
