#pragma once

#include <string>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/cases/case_file.h"

namespace sy::tools {

struct CaseResult {
  std::string why;         // "" if the case passed
  bool non_empty = false;  // a call that succeeded, with elements to compare
  std::string note;        // differs, and may: strides of a fresh result
  // The way of the call on a backend: "native", "composed", "declared" (the
  // backend says that its kernel does not take this), "cpu". A call composed of
  // others may also be "accepted" (a result where an error is expected) or
  // "restrided" (a written tensor with other strides), which `note` explains.
  std::string way = {};
  std::string skipped = {};  // why the call says nothing; "" if it does
};

// Calls one operator, boxed, as its cases say. Throws nothing: what is wrong
// with a case is a failure of it.
class CaseRunner {
 public:
  struct Options {
    Device device;
    bool gradients = true;
  };

  CaseRunner(OperatorHandle op, const CaseFile& file, Options options)
      : op_(op), file_(file), options_(options) {}
  CaseResult run(const Case& c) const;

 private:
  std::string must_throw(const Case& c) const;
  void compare(const Case& c, CaseResult& result) const;
  bool gradient_is_determined(const Case& c) const;

  OperatorHandle op_;
  const CaseFile& file_;
  Options options_;
};

}  // namespace sy::tools
