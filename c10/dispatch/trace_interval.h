#pragma once

#include <chrono>
#include <string>

#include "c10/dispatch/implementation.h"
#include "c10/macros.h"

namespace sy {

// Whether something is traced: then trace_interval() is worth its text.
inline bool is_traced() noexcept {
  return detail::choices_are_told.load(std::memory_order_relaxed);
}

// Time that a trace shows beside the calls of threads, for work that no thread
// does alone: a transfer, a request. `lane` names the row of the picture;
// intervals of one lane do not overlap. Does nothing while nothing is traced.
SY_API void trace_interval(const std::string& lane, const char* name,
                           std::string text,
                           std::chrono::steady_clock::time_point begin,
                           std::chrono::steady_clock::time_point end);

// Sets what to add to this process's steady clock to have the one that all
// processes of a run share. Traces that are written later say it. Thread-safe.
SY_API void set_trace_clock_offset(std::chrono::nanoseconds offset) noexcept;

}  // namespace sy
