#include "codegen/site/page.h"

#include <algorithm>

namespace sy::codegen::site {

std::string link(const std::string& from, const std::string& to) {
  // The length of the folders that both are in.
  std::size_t same = 0;
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    if (from[i] != to[i]) break;
    if (from[i] == '/') same = i + 1;
  }
  std::string out;
  for (std::size_t i = same; i < from.size(); ++i) {
    if (from[i] == '/') out += "../";
  }
  return out + to.substr(same);
}

}  // namespace sy::codegen::site
