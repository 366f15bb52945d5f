#include "codegen/emit/merge.h"

#include "codegen/emit/common.h"

namespace sy::codegen {

void Merger::add(const std::string& file) {
  std::size_t at = 0;
  while (at < file.size()) {
    const std::size_t end = file.find('\n', at);
    line(std::string_view(file).substr(at, end - at));
    at = end + 1;
  }
  body_.gap();
}

std::string Merger::str(const std::string& first_header) const {
  Writer w;
  w.raw(banner_);
  w.line(first_header.empty() ? "#pragma once"
                              : fmt::format(R"(#include "{}")", first_header));
  w.gap();
  for (const std::string& h : system_) w.line(h);
  w.gap();
  includes(w, headers_);
  w.gap();
  w.raw(body_.str());
  return w.str();
}

void Merger::line(std::string_view text) {
  constexpr std::string_view kInclude = "#include \"";
  if (text.starts_with("// Generated from ")) return;
  if (text == "#pragma once") return;
  if (text.empty()) {
    body_.gap();
  } else if (text.starts_with("#include <")) {
    system_.emplace(text);
  } else if (text.starts_with(kInclude)) {
    text.remove_prefix(kInclude.size());
    text.remove_suffix(1);
    if (!is_own_(text)) headers_.emplace(text);
  } else {
    body_.raw("{}\n", text);
  }
}

}  // namespace sy::codegen
