#include "lang/format.h"

#include <fmt/format.h>

#include <iterator>

namespace sy::lang {

void append_formatted(std::string& out, fmt::string_view format,
                      fmt::format_args args) {
  // Does not format into the string itself, which fmt would resize for every
  // piece.
  fmt::memory_buffer text;
  fmt::vformat_to(std::back_inserter(text), format, args);
  out.append(text.data(), text.size());
}

}  // namespace sy::lang
