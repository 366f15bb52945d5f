#pragma once

#include <map>
#include <string>

#include "tools/sy/calls/examples.h"
#include "tools/sy/fuzz/call.h"

namespace sy::tools {

// Calls drawn at random: that of an operator's example, or one that its types
// suggest, with some arguments changed. Tensors become aliased, overlapping,
// undefined, huge by strides of 0, of other dtypes, sizes and strides;
// arguments take values at their borders, or of other types.
class Draw {
 public:
  // `operators` is not empty.
  Draw(std::vector<OperatorHandle> operators, ExampleWords examples);

  // The same call each time for the same operators and seed. Sizes are either
  // small or too large for any machine if nobody limits the device's memory.
  FuzzCall call(uint64_t seed, uint64_t n, bool limited_memory) const;

 private:
  const FuzzCall& base_of(OperatorHandle op) const;
  FuzzCall base_by_example(OperatorHandle op) const;

  std::vector<OperatorHandle> operators_;
  ExampleWords examples_;
  // The functional operators by the place of the entry in its file, for the
  // entry's other forms.
  std::map<std::string, OperatorHandle, std::less<>> functional_;
  mutable std::map<std::string, FuzzCall, std::less<>> bases_;
};

}  // namespace sy::tools
