#pragma once

#include <span>
#include <string_view>

namespace sy::codegen::site {

struct Asset {
  std::string_view path, text;
};
// The files of assets/, which the build puts into the program: "site.css".
std::span<const Asset> site_assets();

}  // namespace sy::codegen::site
