#pragma once

#include <memory>
#include <string_view>

#include "c10/macros.h"

namespace sy {

// Watches every kernel that runs, in all threads, from its making to its end:
//   "dispatch"      prints each outermost call as a tree when it returns: the
//                   operator, the key whose kernel ran, arguments, results,
//                   time, and which implementation the kernel chose
//                   (c10/implementation.h)
//   "chrome:FILE"   writes FILE at the end, which Perfetto and chrome://tracing
//                   open
// SWITCHYARD_TRACE=… does the same for a whole process. While nothing is traced
// calls pay nothing: tables are made anew at both ends. One at a time; throws
// ValueError for another, or for other words. To be ended outside of calls.
class SY_API Trace {
 public:
  explicit Trace(std::string_view what);
  // Writes what cannot be written as a warning to standard error.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  struct Session;

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace sy
