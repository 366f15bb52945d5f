#pragma once

#include <string>

#include "c10/macros.h"

namespace sy {

// Why what a program takes from this file is not its user's choice: every user
// may write the file, or a folder above it, or it is somebody else's in a
// folder where all may put files, such as /tmp. "" if it is the user's choice,
// or if there is no file. Links are followed first.
SY_API std::string why_untrusted(const std::string& path);

}  // namespace sy
