#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lang/format.h"

namespace sy::codegen {

// `line`, one statement or declaration indented by its leading spaces, broken
// after 80 columns the way clang-format does it: between arguments, which line
// up behind their bracket, else after the bracket, four columns further in.
std::string wrap(std::string_view line);

// `text` as // comments of at most 80 columns.
std::string comment(std::string_view text, int indent = 0);

using lang::append;
using lang::join;

// Text put together line by line, and the headers that it needs. A text alone
// is written as it is; with arguments it is a format, in which the braces of
// C++ are written twice.
class Writer {
 public:
  // One line, broken if it is too long; "" is an empty one.
  void line(std::string_view text);
  template <class Arg, class... Args>
  void line(fmt::format_string<const Arg&, const Args&...> format,
            const Arg& arg, const Args&... args) {
    formatted_line(format, fmt::make_format_args(arg, args...));
  }
  // Not broken, and with no end of line of its own.
  void raw(std::string_view text) { out_ += text; }
  template <class Arg, class... Args>
  void raw(fmt::format_string<const Arg&, const Args&...> format,
           const Arg& arg, const Args&... args) {
    lang::append_formatted(out_, format, fmt::make_format_args(arg, args...));
  }
  // `head` and `tail` with the items between them: on one line if they fit,
  // else each on a line of its own.
  void list(std::string_view head, const std::vector<std::string>& items,
            std::string_view tail);
  // Several lines, each broken if it is too long.
  template <class Arg, class... Args>
  void lines(fmt::format_string<const Arg&, const Args&...> format,
             const Arg& arg, const Args&... args) {
    block(fmt::format(format, arg, args...), 0);
  }
  // Each line of `text`, indented.
  void block(std::string_view text, int indent);
  void comment(std::string_view text, int indent = 0) {
    out_ += codegen::comment(text, indent);
  }
  // `head`, then the lines of `body` in braces.
  void function(std::string_view head, std::string_view body);
  // An empty line, but never two and none at the start.
  void gap();

  // Adds a header that the text needs, "aten/tensor.h" or "<cmath>".
  void include(std::string header) { headers_.insert(std::move(header)); }
  template <class Headers>
  void include_all(const Headers& headers) {
    headers_.insert(headers.begin(), headers.end());
  }
  // Adds the text of `other`, with the headers that it needs.
  void add(const Writer& other) {
    raw(other.str());
    include_all(other.headers());
  }

  const std::string& str() const { return out_; }
  const std::set<std::string>& headers() const { return headers_; }

 private:
  void formatted_line(fmt::string_view format, fmt::format_args args);

  std::string out_;
  std::set<std::string> headers_;
};

}  // namespace sy::codegen
