#pragma once

#include <string_view>
#include <vector>

#include "c10/dispatcher.h"
#include "c10/value.h"

// Arguments of a call, from the signature or from a text.

namespace sy::tools {

// What `text` says, one word per argument; those left out take their default,
// or what the signature suggests. By the argument's type:
//   Tensor     2x3 (float64, requires a gradient, numbers between 0.3 and 0.9)
//              s (no dims), 2x3+1 (1 is added), 2x3*-2, 2x3! (no gradient),
//              3:i4 (int64 below 4), 2x3:b (bool), 3=1,-1,2 (these numbers)
//   Tensor[]   {2x3;1x3}
//   Tensor?[]  {None;2:i3}
//   int[]      0,1 or [] for none
//   bool[3]    True,False,True (or 1,0,1)
//   others     as in a signature: 2, 0.5, True, none, None, Mean
// Throws Error naming the word that does not fit. `tensors` is the word for
// tensors that are left out.
std::vector<Value> parse_arguments(OperatorHandle op, std::string_view text,
                                   std::string_view tensors = "2x3");

// Whether the signature alone says enough: tensors of size 2x3, numbers, lists
// of two of them and defaults; no other argument without a default.
bool signature_suffices(OperatorHandle op);

}  // namespace sy::tools
