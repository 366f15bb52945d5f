#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostics.h"

namespace sy::codegen::site {

// What a heading begins, up to the next one.
struct Section {
  int level = 0;      // 1 of <h1>; 0 of what stands before the first heading
  std::string id;     // as GitHub makes them: "adding-a-backend"
  std::string title;  // text
  std::string text;  // of its paragraphs, lists and tables, without code blocks
};

struct Document {
  std::string html;
  std::vector<Section> sections;
};

struct Link {
  std::string href;
  std::string html;  // what stands between the brackets
  std::string text;  // the same as text
  lang::Location at;
};

struct MarkdownOptions {
  // The HTML in place of a link.
  std::function<std::string(const Link&)> link;
  // Where a name in `code` leads, or "".
  std::function<std::string(std::string_view code)> code_link;
};

// CommonMark with tables. Comments of HTML are left out, any other HTML is
// shown as it is written. Reports images, which a site has no place for.
Document read_markdown(const std::string& path, const std::string& text,
                       const MarkdownOptions& options,
                       lang::Diagnostics& diagnostics);

}  // namespace sy::codegen::site
