#pragma once

#include <string>
#include <vector>

#include "c10/macros.h"

namespace sy::optim {

// The names that load_state_dict reports of a state that does not fit.
struct SY_API Misfits {
  std::vector<std::string> missing, unexpected, misshapen;
  // Throws ValueError "[Adam] load_state_dict: missing a, b; unexpected c"
  // unless there are none.
  void raise(const char* of) const;
};

}  // namespace sy::optim
