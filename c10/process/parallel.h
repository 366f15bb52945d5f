#pragma once

#include <atomic>
#include <cstdint>

#include "c10/macros.h"

namespace sy {

// The most threads that one parallel_for uses: the number given to
// set_num_threads, else SWITCHYARD_NUM_THREADS, else OMP_NUM_THREADS, else the
// cores that this process may use. Process-wide. set_num_threads throws
// ValueError unless 1 <= n <= 1024.
SY_API int get_num_threads() noexcept;
SY_API void set_num_threads(int n);
// The number of this thread within the innermost parallel_for; 0 outside.
SY_API int get_thread_num() noexcept;
SY_API bool in_parallel_region() noexcept;

namespace detail {
// For tests with several threads: while it is not 0, `most` limits the grain of
// every parallel_for, so that small ranges are split as well.
SY_API void limit_grain(int64_t most) noexcept;
SY_API extern std::atomic<int64_t> most_grain;

using RangeFunction = void (*)(const void* context, int64_t begin, int64_t end);
SY_API void parallel_run(int64_t begin, int64_t end, int64_t grain,
                         RangeFunction f, const void* context);
}  // namespace detail

// Splits [begin, end) into consecutive ranges and calls f(b, e) for each, on
// several threads if there are more than `grain` elements. Returns when all are
// done. If f throws, the ranges already begun end, those not yet begun may be
// left out, and the first exception is rethrown here. Within f, and in a
// process forked from one that used threads, a call just runs f(begin, end).
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  if (begin >= end) return;
  if (const int64_t most = detail::most_grain.load(std::memory_order_relaxed);
      most < grain) {
    grain = most;
  }
  if (end - begin <= grain) {
    f(begin, end);
    return;
  }
  detail::parallel_run(
      begin, end, grain,
      [](const void* context, int64_t b, int64_t e) {
        (*static_cast<const F*>(context))(b, e);
      },
      &f);
}

}  // namespace sy
