#include "codegen/site/markdown.h"

#include <md4c.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "codegen/site/highlight.h"
#include "codegen/tools/markup.h"
#include "lang/format.h"

namespace sy::codegen::site {
namespace {

using lang::append;

// GitHub's: small letters, digits, - and _; a space becomes a -.
std::string slug(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (std::isalnum(u) || c == '_' || c == '-' || u >= 0x80) {
      out += static_cast<char>(u < 0x80 ? std::tolower(u) : u);
    } else if (c == ' ') {
      out += '-';
    }
  }
  return out;
}

std::string_view view(const MD_ATTRIBUTE& a) { return {a.text, a.size}; }

class Reader {
 public:
  Reader(const std::string& path, const std::string& text,
         const MarkdownOptions& options, lang::Diagnostics& diagnostics)
      : file_(path),
        source_(text),
        options_(options),
        diagnostics_(diagnostics) {
    out_.emplace_back();
    document_.sections.emplace_back();
  }

  Document run() {
    MD_PARSER parser = {};
    parser.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      static_cast<Reader*>(self)->enter(type, detail);
      return 0;
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      static_cast<Reader*>(self)->leave(type, detail);
      return 0;
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
      static_cast<Reader*>(self)->enter_span(type, detail);
      return 0;
    };
    parser.leave_span = [](MD_SPANTYPE type, void* detail, void* self) {
      static_cast<Reader*>(self)->leave_span(type, detail);
      return 0;
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size,
                     void* self) {
      static_cast<Reader*>(self)->text(type, {text, size});
      return 0;
    };
    if (md_parse(source_.data(), static_cast<MD_SIZE>(source_.size()), &parser,
                 this) != 0) {
      diagnostics_.error({file_, 0, 0}, "cannot be read as Markdown");
    }
    document_.html = std::move(out_.back());
    return std::move(document_);
  }

 private:
  std::string& out() { return out_.back(); }
  Section& section() { return document_.sections.back(); }

  // Remembers where a part of the source is; some parts are none of it.
  void pass(std::string_view part) {
    const char* begin = source_.data();
    const std::less<const char*> less;
    if (!less(part.data(), begin) && less(part.data(), begin + source_.size()))
      offset_ = static_cast<std::size_t>(part.data() - begin);
  }

  // The location of a part of the source, else of the part read last.
  lang::Location location(std::string_view part) {
    pass(part);
    const char* begin = source_.data();
    const auto lines = std::count(begin, begin + offset_, '\n');
    const std::size_t line =
        source_.rfind('\n', offset_ == 0 ? 0 : offset_ - 1);
    const std::size_t column =
        line == source_.npos ? offset_ : offset_ - line - 1;
    return {file_, static_cast<std::uint32_t>(lines + 1),
            static_cast<std::uint32_t>(column + 1)};
  }

  void enter(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_QUOTE: out() += "<blockquote class=\"note\">\n"; break;
      case MD_BLOCK_UL: out() += "<ul>\n"; break;
      case MD_BLOCK_OL: {
        const unsigned start = static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start;
        out() +=
            start == 1 ? "<ol>\n" : fmt::format("<ol start=\"{}\">\n", start);
        break;
      }
      case MD_BLOCK_LI: out() += "<li>"; break;
      case MD_BLOCK_HR: out() += "<hr>\n"; break;
      case MD_BLOCK_H: {
        Section next;
        next.level =
            static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
        document_.sections.push_back(std::move(next));
        in_heading_ = true;
        out_.emplace_back();
        break;
      }
      case MD_BLOCK_CODE:
        language_ = view(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang);
        code_.emplace();
        break;
      case MD_BLOCK_HTML: code_.emplace(); break;
      case MD_BLOCK_P: out() += paragraph(); break;
      case MD_BLOCK_TABLE: out() += "<div class=\"scroll\"><table>\n"; break;
      case MD_BLOCK_THEAD: out() += "<thead>\n"; break;
      case MD_BLOCK_TBODY: out() += "<tbody>\n"; break;
      case MD_BLOCK_TR: out() += "<tr>"; break;
      case MD_BLOCK_TH: out() += "<th scope=\"col\">"; break;
      case MD_BLOCK_TD: out() += "<td>"; break;
      default: break;
    }
  }

  void leave(MD_BLOCKTYPE type, void*) {
    section().text += in_heading_ ? "" : " ";
    switch (type) {
      case MD_BLOCK_QUOTE: out() += "</blockquote>\n"; break;
      case MD_BLOCK_UL: out() += "</ul>\n"; break;
      case MD_BLOCK_OL: out() += "</ol>\n"; break;
      case MD_BLOCK_LI: out() += "</li>\n"; break;
      case MD_BLOCK_H: end_heading(); break;
      case MD_BLOCK_CODE:
        append(out(),
               "<pre tabindex=\"0\"><code class=\"language-{}\">{}</code>"
               "</pre>\n",
               language_.empty() ? "text" : markup_text(language_),
               highlighted(language_, *code_));
        code_.reset();
        break;
      case MD_BLOCK_HTML:
        if (!code_->starts_with("<!--")) {
          append(out(), "<pre tabindex=\"0\"><code>{}</code></pre>\n",
                 markup_text(*code_));
        }
        code_.reset();
        break;
      case MD_BLOCK_P: out() += "</p>\n"; break;
      case MD_BLOCK_TABLE: out() += "</table></div>\n"; break;
      case MD_BLOCK_THEAD: out() += "</thead>\n"; break;
      case MD_BLOCK_TBODY: out() += "</tbody>\n"; break;
      case MD_BLOCK_TR: out() += "</tr>\n"; break;
      case MD_BLOCK_TH: out() += "</th>"; break;
      case MD_BLOCK_TD: out() += "</td>"; break;
      default: break;
    }
  }

  // The first one, which says what the page is about, has a class.
  std::string paragraph() {
    const bool first = document_.sections.size() == 2 && section().level == 1 &&
                       section().text.empty();
    return first ? "<p class=\"lead\">" : "<p>";
  }

  void end_heading() {
    in_heading_ = false;
    const std::string html = std::move(out_.back());
    out_.pop_back();
    Section& s = section();
    s.id = slug(s.title);
    const std::string plain = s.id;
    for (int n = 1; !ids_.insert(s.id).second; ++n) {
      s.id = fmt::format("{}-{}", plain, n);
    }
    append(out(), "<h{0} id=\"{1}\">{2}</h{0}>\n", s.level, markup_text(s.id),
           html);
  }

  void enter_span(MD_SPANTYPE type, void* detail) {
    switch (type) {
      case MD_SPAN_EM: out() += "<em>"; break;
      case MD_SPAN_STRONG: out() += "<strong>"; break;
      case MD_SPAN_DEL: out() += "<del>"; break;
      case MD_SPAN_CODE: code_.emplace(); break;
      case MD_SPAN_A: {
        const std::string_view href =
            view(static_cast<MD_SPAN_A_DETAIL*>(detail)->href);
        link_ = {std::string(href), "", "", location(href)};
        in_link_ = true;
        out_.emplace_back();
        break;
      }
      case MD_SPAN_IMG: {
        const std::string_view src =
            view(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src);
        diagnostics_.error(location(src), "the site has no images, got '{}'",
                           src);
        break;
      }
      default: break;
    }
  }

  void leave_span(MD_SPANTYPE type, void*) {
    switch (type) {
      case MD_SPAN_EM: out() += "</em>"; break;
      case MD_SPAN_STRONG: out() += "</strong>"; break;
      case MD_SPAN_DEL: out() += "</del>"; break;
      case MD_SPAN_CODE: {
        const std::string code = std::move(*code_);
        code_.reset();
        words(code);
        std::string target;
        if (!in_link_ && !in_heading_) target = options_.code_link(code);
        const std::string html = "<code>" + markup_text(code) + "</code>";
        out() += target.empty() ? html
                                : fmt::format("<a href=\"{}\">{}</a>",
                                              markup_text(target), html);
        break;
      }
      case MD_SPAN_A:
        link_.html = std::move(out_.back());
        out_.pop_back();
        in_link_ = false;
        out() += options_.link(link_);
        break;
      default: break;
    }
  }

  // Adds the text that search has a use for, as it is read, not as it is shown.
  void words(std::string_view text) {
    (in_heading_ ? section().title : section().text) += text;
    if (in_link_) link_.text += text;
  }

  void text(MD_TEXTTYPE type, std::string_view text) {
    pass(text);
    switch (type) {
      case MD_TEXT_CODE:
        if (code_) *code_ += text;
        break;
      case MD_TEXT_BR: out() += "<br>\n"; break;
      case MD_TEXT_SOFTBR:
        words(" ");
        out() += code_ ? "" : "\n";
        if (code_) *code_ += ' ';
        break;
      case MD_TEXT_ENTITY: out() += text; break;
      case MD_TEXT_NULLCHAR: break;
      case MD_TEXT_HTML:
        if (code_) {
          *code_ += text;
        } else if (!text.starts_with("<!--")) {
          words(text);
          out() += markup_text(text);
        }
        break;
      default: words(text); out() += markup_text(text);
    }
  }

  const InternedString file_;
  const std::string& source_;
  const MarkdownOptions& options_;
  lang::Diagnostics& diagnostics_;
  std::size_t offset_ = 0;
  Document document_;
  std::set<std::string> ids_;
  std::vector<std::string> out_;  // the last is what is written to
  std::optional<std::string> code_;
  std::string language_;
  Link link_;
  bool in_link_ = false, in_heading_ = false;
};

}  // namespace

Document read_markdown(const std::string& path, const std::string& text,
                       const MarkdownOptions& options,
                       lang::Diagnostics& diagnostics) {
  return Reader(path, text, options, diagnostics).run();
}

}  // namespace sy::codegen::site
