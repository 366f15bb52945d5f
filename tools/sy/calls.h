#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "c10/dispatcher.h"
#include "tools/sy/arguments.h"
#include "tools/sy/case_file.h"

namespace sy::tools {

// Calls of one operator on the CPU, to be made over and over. The same each
// time.
class Calls {
 public:
  virtual ~Calls() = default;
  virtual size_t size() const = 0;
  virtual std::string id(size_t i) const = 0;
  // Fresh ones. Throws Error.
  virtual Arguments arguments(size_t i) const = 0;
  // Another call with the same values, whose results are the same but for
  // rounding: `tolerance` is relative to 1 or to the result, if that is larger.
  struct Likeness {
    size_t call;
    double tolerance;
  };
  virtual std::optional<Likeness> like(size_t) const { return std::nullopt; }
};

// The recorded cases that succeed with known values; `failing`: if none does,
// the first of the others. `file` outlives them.
std::unique_ptr<Calls> recorded_calls(OperatorHandle op, const CaseFile& file,
                                      bool failing = false);

// Calls made from the signature and from `words` (see words.h): in float64, in
// every other dtype, with other strides, of no elements. Only those that
// succeed. Throws Error if the first does not.
std::unique_ptr<Calls> made_calls(OperatorHandle op, std::string_view words);

}  // namespace sy::tools
