#pragma once

#include <string_view>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"

// Arguments of a call, from the signature or from a text.

namespace sy::tools {

// The arguments that `text` says (lang/words.h tells the notation); arguments
// left out take their default, or what the signature alone suggests. Throws
// ValueError naming the operator and the word that does not fit. `tensors` is
// the word for tensors that are left out; if empty, what the signature
// suggests.
std::vector<Value> parse_arguments(OperatorHandle op, std::string_view text,
                                   std::string_view tensors = {});

// Whether the signature alone says enough: no argument without a default that
// has no obvious value.
bool signature_suffices(OperatorHandle op);

}  // namespace sy::tools
