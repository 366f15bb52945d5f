#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

// Text from fmt's format strings, which the compiler checks against their
// arguments. <fmt/core.h> alone: the rest of fmt is compiled once, in
// //third_party/fmt.

namespace sy::lang {

void append_formatted(std::string& out, fmt::string_view format,
                      fmt::format_args args);

// Writes fmt::format(format, args...) behind `out`, with no string in between.
template <class... Args>
void append(std::string& out, fmt::format_string<const Args&...> format,
            const Args&... args) {
  append_formatted(out, format, fmt::make_format_args(args...));
}

// Some texts with `separator` between them. fmt::join does the same, for which
// each source would compile all of fmt.
template <class Texts = std::vector<std::string>>
std::string join(const Texts& texts, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& text : texts) {
    if (!first) out += separator;
    first = false;
    out += text;
  }
  return out;
}

}  // namespace sy::lang
