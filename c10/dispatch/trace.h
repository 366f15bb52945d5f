#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "c10/dispatch/implementation.h"
#include "c10/macros.h"

namespace sy {

// Traces every kernel that runs, in all threads, as long as the object lives:
//   "dispatch"      prints each outermost call as a tree when it returns: the
//                   operator, the key whose kernel ran, arguments, results,
//                   time, and which implementation the kernel chose
//                   (c10/dispatch/implementation.h)
//   "chrome:FILE"   writes FILE at the end, for Perfetto and chrome://tracing
// SWITCHYARD_TRACE=… does the same for a whole process. All tables are rebuilt
// at both ends, so calls pay nothing while nothing is traced. There is one
// Trace at a time: the constructor throws ValueError for another one, and for
// unknown text. End it outside of calls.
class SY_API Trace {
 public:
  explicit Trace(std::string_view what);
  // Prints a warning to standard error if the file cannot be written.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  struct Session;

 private:
  std::unique_ptr<Session> session_;
};

// Time of a thread that a trace shows beside calls: a graph that runs, an
// optimization. Calls in it are its children. It costs a load and a branch
// while nothing is traced.
class SY_API TraceSpan {
 public:
  // `name` is a literal; `describe()` gives a text beside it.
  template <class F>
  TraceSpan(const char* name, const F& describe) {
    if (SY_UNLIKELY(detail::choices_are_told.load(std::memory_order_relaxed))) {
      begin(name, describe());
    }
  }
  ~TraceSpan() {
    if (SY_UNLIKELY(state_ != nullptr)) end();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  struct State;
  SY_COLD void begin(const char* name, std::string text);
  SY_COLD void end() noexcept;
  State* state_ = nullptr;
};

}  // namespace sy
