#include "tools/sy/plugins.h"

#include "c10/plugin.h"

namespace sy::tools {

void load_plugins(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) load_library(path).keep();
}

}  // namespace sy::tools
