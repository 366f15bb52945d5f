#pragma once

#include <string>
#include <string_view>

namespace sy::tools {

// Text as XML and HTML show it: <, >, & and " spelt out, and characters that
// XML does not allow left out.
inline std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') {
          out += c;
        }
    }
  }
  return out;
}

}  // namespace sy::tools
