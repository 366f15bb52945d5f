#pragma once

#include <string>

namespace sy::tools {

// The head of a page that needs no other file, up to its first line of text.
std::string html_head(const std::string& title);

}  // namespace sy::tools
