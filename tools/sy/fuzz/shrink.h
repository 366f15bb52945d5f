#pragma once

#include <functional>

#include "tools/sy/fuzz/call.h"

namespace sy::tools {

// A shorter call of the same operator for which `fails` holds, as it does for
// `call`: with fewer arguments and elements, dense, of plain values. Asks at
// most so many times.
FuzzCall shrink(FuzzCall call,
                const std::function<bool(const FuzzCall&)>& fails,
                int most_questions = 300);

}  // namespace sy::tools
