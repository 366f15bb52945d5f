#pragma once

#include <atomic>
#include <cstdint>

#include "c10/macros.h"

namespace sy {

// Most threads that one parallel_for uses: set_num_threads, else
// SWITCHYARD_NUM_THREADS, OMP_NUM_THREADS, else the cores this process may
// use. Process-wide. set_num_threads takes 1 to 1024, else throws ValueError.
SY_API int get_num_threads() noexcept;
SY_API void set_num_threads(int n);
// Number of this thread within the innermost parallel_for, 0 outside.
SY_API int get_thread_num() noexcept;
SY_API bool in_parallel_region() noexcept;

namespace detail {
// For tests of what threads change: while it is not 0, no call is given more
// elements at a time than `most`, whatever its grain.
SY_API void limit_grain(int64_t most) noexcept;
SY_API extern std::atomic<int64_t> most_grain;

using RangeFunction = void (*)(const void* context, int64_t begin, int64_t end);
SY_API void parallel_run(int64_t begin, int64_t end, int64_t grain,
                         RangeFunction f, const void* context);
}  // namespace detail

// Calls f(b, e) for consecutive ranges that together are [begin, end), on
// several threads if there are more than `grain` elements; returns when all
// are done. The first exception thrown by f is rethrown here, after the ranges
// already begun have ended; those not yet begun may be left out. A call within
// f, or in a process forked from one that used threads, runs f(begin, end).
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
