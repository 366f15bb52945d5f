#include "codegen/text.h"

#include <algorithm>

namespace sy::codegen {
namespace {

constexpr std::size_t kWidth = 80;

bool opens(char c) { return c == '(' || c == '{' || c == '['; }
bool closes(char c) { return c == ')' || c == '}' || c == ']'; }

// The text cut where a line may end: behind a comma, a binary operator or the
// opening bracket.
struct Piece {
  enum Place { kStart, kBracket, kComma, kAssign, kOperator };
  std::string text;
  std::size_t depth;  // brackets that are open at its start
  Place place;        // the kind of text before it
};

std::size_t literal_end(std::string_view s, std::size_t i) {
  const char quote = s[i];
  for (++i; i < s.size() && s[i] != quote; ++i) i += s[i] == '\\';
  return std::min(i + 1, s.size());
}

// Template brackets are told from comparisons by the lack of a space.
bool is_template_open(std::string_view s, std::size_t i) {
  return s[i] == '<' && i > 0 && s[i - 1] != ' ' && s[i - 1] != '<' &&
         i + 1 < s.size() && s[i + 1] != ' ' && s[i + 1] != '<';
}

// The kind of text before the space s[i], if a line may end there; else kStart.
Piece::Place break_at(std::string_view s, std::size_t i) {
  const std::string_view before = s.substr(0, i);
  if (before.empty()) return Piece::kStart;
  if (before.ends_with(',') || before.ends_with(';')) return Piece::kComma;
  if (before.ends_with(" =")) return Piece::kAssign;
  // Most words are no operators, as their last character tells.
  if (std::string_view("+-*/&|=<>").find(before.back()) != before.npos) {
    for (const std::string_view op :
         {" +", " -", " *", " /", " &&", " ||", " ==", " !=", " <", " >",
          " <=", " >=", " |"}) {
      if (before.ends_with(op)) return Piece::kOperator;
    }
  }
  const std::string_view after = s.substr(i + 1);
  const bool choice = after.starts_with("? ") || after.starts_with(": ");
  return choice ? Piece::kOperator : Piece::kStart;
}

std::vector<Piece> cut(std::string_view s) {
  std::vector<Piece> out;
  std::string now;
  std::size_t depth = 0, start_depth = 0, templates = 0;
  Piece::Place place = Piece::kStart;
  const auto flush = [&](Piece::Place next) {
    if (now.empty()) return;
    out.push_back({now, start_depth, place});
    now.clear();
    start_depth = depth;
    place = next;
  };
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '"' || c == '\'') {
      const std::size_t end = literal_end(s, i);
      now += s.substr(i, end - i);
      i = end - 1;
      continue;
    }
    now += c;
    if (is_template_open(s, i)) {
      ++templates;
    } else if (c == '>' && templates > 0 && s[i - 1] != '-') {
      --templates;
    } else if (opens(c)) {
      ++depth;
      const bool empty = i + 1 < s.size() && closes(s[i + 1]);
      if (c != '[' && !empty) flush(Piece::kBracket);
    } else if (closes(c) && depth > 0) {
      --depth;
    } else if (c == ' ' && templates == 0) {
      const Piece::Place next = break_at(s, i);
      if (next != Piece::kStart) flush(next);
    }
  }
  flush(Piece::kStart);
  return out;
}

class Wrapper {
 public:
  explicit Wrapper(std::string_view line) {
    indent_ = line.find_first_not_of(' ');
    if (indent_ == std::string_view::npos) indent_ = 0;
    line.remove_prefix(indent_);
    pieces_ = cut(line);
    is_declaration_ = line.ends_with(" {") || line.starts_with("SY_API ") ||
                      (indent_ == 0 && line.ends_with(");"));
  }

  // The layout with the fewest lines among those that break behind some of
  // the outer brackets.
  std::string run() {
    std::vector<std::size_t> brackets;
    for (std::size_t i = 0; i < pieces_.size() && brackets.size() < 5; ++i) {
      if (pieces_[i].place == Piece::kBracket) brackets.push_back(i);
    }
    std::string best;
    std::size_t best_cost = 0;
    for (std::size_t choice = 0; choice < std::size_t{1} << brackets.size();
         ++choice) {
      broken_.clear();
      for (std::size_t k = 0; k < brackets.size(); ++k) {
        if (choice >> k & 1) broken_.push_back(brackets[k]);
      }
      lay_out();
      const std::size_t cost = out_cost();
      if (best.empty() || cost < best_cost) {
        best = out_;
        best_cost = cost;
      }
    }
    return best;
  }

 private:
  void lay_out() {
    out_.assign(indent_, ' ');
    column_ = indent_;
    nested_breaks_ = 0;
    deepest_break_ = 0;
    awkward_ = false;
    stack_.clear();
    for (std::size_t i = 0; i < pieces_.size(); ++i) place(i);
  }

  std::size_t out_cost() const {
    std::size_t cost = 3 * nested_breaks_ + (awkward_ ? 50 : 0);
    for (const std::size_t b : broken_) {
      // Parameters stay behind the name if that costs two lines.
      const bool parameters = is_declaration_ && pieces_[b].depth == 1;
      cost += parameters ? 25 : 2 + pieces_[b].depth;
    }
    for (std::size_t i = 0; i < out_.size();) {
      const std::size_t end = std::min(out_.find('\n', i), out_.size());
      cost += 10;
      if (end - i > kWidth) cost += 1000 * (end - i - kWidth);
      i = end + 1;
    }
    return cost;
  }

  // Columns of piece i, of the pieces nested in it and, if it begins an
  // argument or a value, of the rest of that.
  std::size_t extent(std::size_t i) const {
    const Piece& p = pieces_[i];
    std::size_t n = p.text.size(), k = i + 1;
    for (; k < pieces_.size(); ++k) {
      const Piece& next = pieces_[k];
      if (next.depth < p.depth) break;
      const bool inner = next.depth > p.depth;
      const bool same = next.depth == p.depth && p.place != Piece::kOperator &&
                        next.place != Piece::kComma;
      if (!inner && !same) break;
      n += next.text.size();
    }
    return n - pieces_[k - 1].text.ends_with(' ');
  }

  void place(std::size_t i) {
    const Piece& p = pieces_[i];
    const bool breaks = i > 0 && breaks_before(i);
    if (p.place == Piece::kComma) {
      deepest_break_ = std::min(deepest_break_, p.depth);
    }
    if (breaks) {
      deepest_break_ = std::max(deepest_break_, p.depth);
      while (out_.ends_with(' ')) out_.pop_back();
      if (p.place == Piece::kBracket) {
        stack_.back() = line_indent() + 4;
      } else {
        nested_breaks_ += p.depth;
      }
      const std::size_t at = stack_.empty() ? indent_ + 4 : stack_.back();
      out_ += '\n';
      out_.append(at, ' ');
      column_ = at;
    }
    if (is_literal(p.text) && column_ + extent(i) > kWidth) {
      split_literal(p.text);
    } else {
      out_ += p.text;
      column_ += p.text.size();
    }
    track(p.text);
  }

  static bool is_literal(const std::string& text) { return text[0] == '"'; }

  // Cut at spaces, each part below the first.
  void split_literal(const std::string& text) {
    const std::size_t end = literal_end(text, 0);
    const std::string rest = text.substr(end);
    std::string_view body(text);
    body = body.substr(1, end - 2);
    const std::size_t at = column_;
    const std::size_t room = kWidth - std::min(kWidth - 10, at) - 2;
    while (body.size() + rest.size() > room) {
      std::size_t space = body.rfind(' ', room - 1);
      if (space == std::string_view::npos || space == 0) break;
      append(out_, "\"{}\"\n", body.substr(0, space + 1));
      out_.append(at, ' ');
      body.remove_prefix(space + 1);
    }
    const std::string last = fmt::format(R"("{}"{})", body, rest);
    out_ += last;
    column_ = at + last.size();
  }

  // The columns that the brackets of a piece, which ends at column_, line
  // their contents up with.
  void track(const std::string& text) {
    for (std::size_t k = 0; k < text.size(); ++k) {
      if (text[k] == '"' || text[k] == '\'') {
        k = literal_end(text, k) - 1;
      } else if (opens(text[k])) {
        stack_.push_back(column_ - text.size() + k + 1);
      } else if (closes(text[k]) && !stack_.empty()) {
        stack_.pop_back();
      }
    }
  }

  std::size_t line_indent() const {
    const std::size_t start = out_.rfind('\n') + 1;
    const std::size_t text = out_.find_first_not_of(' ', start);
    return (text == std::string::npos ? out_.size() : text) - start;
  }

  bool breaks_before(std::size_t i) {
    const Piece& p = pieces_[i];
    if (p.place == Piece::kBracket) {
      return std::find(broken_.begin(), broken_.end(), i) != broken_.end();
    }
    const std::size_t whole = extent(i);
    // Nothing follows an argument that takes several lines.
    const bool after_tall =
        p.place == Piece::kComma && p.depth > 0 && deepest_break_ > p.depth;
    if (column_ + whole <= kWidth && !after_tall) return false;
    const std::size_t at = stack_.empty() ? indent_ + 4 : stack_.back();
    if (at >= column_) {
      awkward_ = awkward_ || after_tall;
      return false;
    }
    // A piece that fits nowhere stays and is broken inside.
    const std::size_t own =
        p.text.size() - static_cast<std::size_t>(p.text.ends_with(' '));
    return at + whole <= kWidth || column_ + own > kWidth || is_literal(p.text);
  }

  std::vector<Piece> pieces_;
  std::vector<std::size_t> broken_;  // pieces that follow a broken bracket
  std::vector<std::size_t> stack_;   // columns to line up with
  std::size_t nested_breaks_ = 0;    // by how deep they are
  std::size_t deepest_break_ = 0;    // depth of a break in the last argument
  bool awkward_ = false;  // an argument follows a tall one on its line
  bool is_declaration_ = false;
  std::size_t indent_ = 0;
  std::size_t column_ = 0;
  std::string out_;
};

}  // namespace

std::string wrap(std::string_view line) {
  if (line.size() <= kWidth) return std::string(line);
  return Wrapper(line).run();
}

std::string comment(std::string_view text, int indent) {
  const std::string start = fmt::format("{:{}}//", "", indent);
  std::string out, now = start;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", i), text.size());
    if (end > i) {
      if (now.size() + 1 + (end - i) > kWidth && now != start) {
        out += now + '\n';
        now = start;
      }
      now += ' ';
      now += text.substr(i, end - i);
    }
    i = end + 1;
  }
  return out + now + '\n';
}

void Writer::line(std::string_view text) {
  out_ += wrap(text);
  out_ += '\n';
}

void Writer::formatted_line(fmt::string_view format, fmt::format_args args) {
  const std::size_t start = out_.size();
  lang::append_formatted(out_, format, args);
  if (out_.size() - start > kWidth) {
    const std::string whole = wrap(std::string_view(out_).substr(start));
    out_.replace(start, std::string::npos, whole);
  }
  out_ += '\n';
}

void Writer::list(std::string_view head, const std::vector<std::string>& items,
                  std::string_view tail) {
  std::string all(head);
  all += join(items, ", ");
  all += tail;
  if (all.size() <= kWidth) return line(all);
  // One on each line, as clang-format has it behind a trailing comma.
  const std::string pad(head.find_first_not_of(' ') + 4, ' ');
  out_ += head;
  out_ += '\n';
  for (const std::string& item : items) append(out_, "{}{},\n", pad, item);
  out_ += pad.substr(4);
  out_ += tail;
  out_ += '\n';
}

void Writer::block(std::string_view text, int indent) {
  const std::string pad(static_cast<std::size_t>(indent), ' ');
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view now = text.substr(0, end);
    if (now.empty()) {
      out_ += '\n';
    } else {
      line("{}{}", pad, now);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void Writer::function(std::string_view head, std::string_view body) {
  // A single short statement stands beside its head.
  const std::size_t text = body.find_first_not_of(' ');
  const bool one = text != std::string_view::npos && body.ends_with(";\n") &&
                   body.find('\n') + 1 == body.size();
  if (one) {
    const std::string_view statement =
        body.substr(text, body.size() - 1 - text);
    if (head.size() + statement.size() + 5 <= kWidth) {
      return line("{} {{ {} }}", head, statement);
    }
  }
  if (body.empty()) return line("{} {{}}", head);
  line("{} {{", head);
  raw(body);
  line("}");
}

void Writer::gap() {
  if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
}

}  // namespace sy::codegen
