#pragma once

#include <string>
#include <vector>

#include "c10/macros.h"

namespace sy::optim {

// What load_state_dict says of a state that does not fit: names.
struct SY_API Misfits {
  std::vector<std::string> missing, unexpected, misshapen;
  // Throws ValueError "[Adam] load_state_dict: missing a, b; unexpected c"
  // unless there are none.
  void raise(const char* of) const;
};

}  // namespace sy::optim
