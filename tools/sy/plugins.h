#pragma once

#include <string>
#include <vector>

namespace sy::tools {

// Loads libraries for the life of the process. Throws RegistrationError.
void load_plugins(const std::vector<std::string>& paths);

}  // namespace sy::tools
