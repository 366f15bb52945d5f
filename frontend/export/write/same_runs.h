#pragma once

#include "frontend/export/write/program_json.h"

namespace sy::exporting {

// Throws ValueError unless all runs called the same operators on the same
// values; numbers may differ.
void check_same_calls(const Recorded& recorded);

// "batch 2: 8; batch 3: 12", for messages.
std::string by_size(const Recorded& recorded, IntArrayRef values);

}  // namespace sy::exporting
