#pragma once

#include <string>

#include "tools/sy/fuzz/call.h"

namespace sy::tools {

struct Verdict {
  // The fault in a word, "" if there is none: "InternalError", "foreign" (an
  // exception that is no sy::Error), "unnamed" (an error that does not name the
  // operator), "bounds" (a result outside its storage), "changed" (memory that
  // the schema does not let the call write), "gradient" (of other sizes or a
  // dtype), "leak" (memory is not given back; with AddressSanitizer, any
  // memory), "malformed" (the call cannot be made).
  std::string kind;
  std::string why;
  bool refused = false;  // with an error, as it may

  // The process that watches this one adds the kinds "crash" and "hang".
  Json json() const;
  static Verdict parse(const Json& v);
};

// Makes a call in this process, with tensors on `device`, reads every result,
// and runs backward if one requires a gradient. Memory is limited to so many
// bytes, beyond which an OutOfMemoryError is right.
Verdict judge_call(const FuzzCall& call, Device device);

}  // namespace sy::tools
