#include "codegen/tools/html.h"

#include <algorithm>

#include "codegen/text.h"
#include "codegen/tools/markup.h"

namespace sy::codegen {
namespace {

// `code` within a line.
std::string inline_text(std::string_view line) {
  std::string out;
  for (;;) {
    const std::size_t begin = line.find('`');
    const std::size_t end =
        begin == line.npos ? line.npos : line.find('`', begin + 1);
    if (end == line.npos) return out + markup_text(line);
    append(out, "{}<code>{}</code>", markup_text(line.substr(0, begin)),
           markup_text(line.substr(begin + 1, end - begin - 1)));
    line.remove_prefix(end + 1);
  }
}

class Converter {
 public:
  std::string run(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    close();
    return std::move(out_);
  }

 private:
  void line(std::string_view l) {
    if (block_ == Block::kCode) {
      if (l.starts_with("```")) return close();
      out_ += markup_text(l) + '\n';
    } else if (l.starts_with("```")) {
      open(Block::kCode, "<pre><code>");
    } else if (l.starts_with("## ")) {
      close();
      const std::string name = markup_text(l.substr(3));
      append(out_, "<h2 id=\"{0}\"><a href=\"#{0}\">{0}</a></h2>\n", name);
    } else if (l.starts_with("# ")) {
      close();
      append(out_, "<h1>{}</h1>\n", markup_text(l.substr(2)));
    } else if (l.starts_with("- ")) {
      if (block_ != Block::kList) open(Block::kList, "<ul>\n");
      append(out_, "<li>{}</li>\n", inline_text(l.substr(2)));
    } else if (l.empty()) {
      close();
    } else {
      if (block_ != Block::kText) open(Block::kText, "<p>");
      out_ += inline_text(l) + '\n';
    }
  }

  enum class Block { kNone, kText, kList, kCode };
  void open(Block block, std::string_view tag) {
    close();
    block_ = block;
    out_ += tag;
  }
  void close() {
    constexpr std::string_view kEnds[] = {"", "</p>\n", "</ul>\n",
                                          "</code></pre>\n"};
    out_ += kEnds[static_cast<int>(block_)];
    block_ = Block::kNone;
  }

  std::string out_;
  Block block_ = Block::kNone;
};

}  // namespace

std::string script_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '<': out += "\\x3c"; break;
      default: out += c;
    }
  }
  return out + '"';
}

std::string html_of_page(std::string_view markdown) {
  return Converter().run(markdown);
}

}  // namespace sy::codegen
