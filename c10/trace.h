#pragma once

#include <memory>
#include <string_view>

#include "c10/macros.h"

namespace sy {

// Traces every kernel that runs, in all threads, as long as the object lives:
//   "dispatch"      prints each outermost call as a tree when it returns: the
//                   operator, the key whose kernel ran, arguments, results,
//                   time, and which implementation the kernel chose
//                   (c10/implementation.h)
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

}  // namespace sy
