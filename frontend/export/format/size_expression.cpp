#include "frontend/export/format/size_expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace sy::exporting {

struct SizeExpression::Term {
  enum class Kind : uint8_t { Number, Symbol, Call, Unknown };
  Kind kind = Kind::Unknown;
  int64_t number = 0;
  std::string name;  // of a symbol or a function
  std::vector<Term> arguments;
};

namespace {

using Result = std::optional<int64_t>;

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

Result power(int64_t base, int64_t exponent) {
  if (exponent < 0) return {};
  int64_t out = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(out, base, &out)) return {};
    if (base == 0 || base == 1) break;
  }
  return out;
}

Result of_two(std::string_view f, int64_t a, int64_t b) {
  int64_t out = 0;
  if (f == "Add") {
    if (__builtin_add_overflow(a, b, &out)) return {};
    return out;
  }
  if (f == "Mul") {
    if (__builtin_mul_overflow(a, b, &out)) return {};
    return out;
  }
  if (f == "Max") return std::max(a, b);
  if (f == "Min") return std::min(a, b);
  if (f == "Pow" || f == "PowByNatural") return power(a, b);
  // The least number has no opposite.
  if (b == 0 || a == INT64_MIN) return {};
  if (f == "FloorDiv" || f == "CleanDiv") return floor_div(a, b);
  if (f == "CeilDiv" || f == "CeilToInt") return -floor_div(-a, b);
  if (f == "Mod" || f == "PythonMod") {
    out = b == -1 ? 0 : a % b;
    return out != 0 && (out < 0) != (b < 0) ? out + b : out;
  }
  return {};
}

}  // namespace

// SymPy's calls and Python's operators: + - * // % **.
class SizeExpression::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Term run() {
    Term term = sum();
    skip();
    return failed_ || at_ != text_.size() ? Term{} : term;
  }

 private:
  static constexpr int kMaxDepth = 100;

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    // "*" is no part of "**", nor "/" of "//".
    if (token == "*" && text_.substr(at_).starts_with("**")) return false;
    at_ += token.size();
    return true;
  }
  Term fail() {
    failed_ = true;
    return {};
  }
  static Term call(std::string name, std::vector<Term> arguments) {
    Term t;
    t.kind = Term::Kind::Call;
    t.name = std::move(name);
    t.arguments = std::move(arguments);
    return t;
  }
  static Term number(int64_t n) {
    Term t;
    t.kind = Term::Kind::Number;
    t.number = n;
    return t;
  }

  Term sum() {
    Term left = product();
    while (!failed_) {
      if (take("+")) {
        left = call("Add", {left, product()});
      } else if (take("-")) {
        left = call("Add", {left, call("Mul", {number(-1), product()})});
      } else {
        break;
      }
    }
    return left;
  }
  Term product() {
    Term left = unary();
    while (!failed_) {
      if (take("*")) {
        left = call("Mul", {left, unary()});
      } else if (take("//")) {
        left = call("FloorDiv", {left, unary()});
      } else if (take("%")) {
        left = call("Mod", {left, unary()});
      } else {
        break;
      }
    }
    return left;
  }
  Term unary() {
    if (++depth_ > kMaxDepth) return fail();
    Term out = take("-") ? call("Mul", {number(-1), unary()}) : power();
    --depth_;
    return out;
  }
  Term power() {
    Term base = atom();
    if (take("**")) return call("Pow", {base, unary()});
    return base;
  }
  Term atom() {
    skip();
    if (take("(")) {
      Term inner = sum();
      return take(")") ? inner : fail();
    }
    if (at_ == text_.size()) return fail();
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return digits();
    if (std::isalpha(static_cast<unsigned char>(c)) == 0 && c != '_') {
      return fail();
    }
    return named();
  }
  Term digits() {
    int64_t n = 0;
    const auto read =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
    at_ = static_cast<size_t>(read.ptr - text_.data());
    return read.ec == std::errc() ? number(n) : fail();
  }
  std::string_view word() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
            text_[at_] == '_' || text_[at_] == '.')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  Term named() {
    std::string name(word());
    if (const size_t dot = name.rfind('.'); dot != std::string::npos) {
      name.erase(0, dot + 1);
    }
    if (!take("(")) {
      Term t;
      t.kind = Term::Kind::Symbol;
      t.name = std::move(name);
      return t;
    }
    if (name == "Symbol") return symbol();
    std::vector<Term> arguments;
    while (!failed_ && !take(")")) {
      if (!arguments.empty() && !take(",")) return fail();
      arguments.push_back(sum());
    }
    if (name == "Integer") return arguments.size() == 1 ? arguments[0] : fail();
    return call(std::move(name), std::move(arguments));
  }
  // What follows "Symbol(": a name in quotes, and what is assumed of it.
  Term symbol() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return fail();
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return fail();
    Term t;
    t.kind = Term::Kind::Symbol;
    t.name = std::string(text_.substr(at_ + 1, end - at_ - 1));
    const size_t closing = text_.find(')', end);
    if (closing == std::string_view::npos) return fail();
    at_ = closing + 1;
    return t;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

namespace {

// Terms of a call from the left.
template <class Term, class F>
Result folded(const Term& t, const F& of) {
  if (t.arguments.empty()) return {};
  Result out = of(t.arguments[0]);
  for (size_t i = 1; i < t.arguments.size() && out; ++i) {
    const Result next = of(t.arguments[i]);
    out = next ? of_two(t.name, *out, *next) : Result();
  }
  return t.arguments.size() > 1 ? out : Result();
}

template <class Term>
Result value_of(const Term& t, const SizeExpression::Symbols& symbols) {
  switch (t.kind) {
    case Term::Kind::Number: return t.number;
    case Term::Kind::Symbol: return symbols(t.name);
    case Term::Kind::Call:
      return folded(t, [&](const Term& a) { return value_of(a, symbols); });
    case Term::Kind::Unknown: return {};
  }
  return {};
}

template <class Term>
std::string text_of(const Term& t) {
  switch (t.kind) {
    case Term::Kind::Number: return std::to_string(t.number);
    case Term::Kind::Symbol: return t.name;
    case Term::Kind::Unknown: return "?";
    case Term::Kind::Call: break;
  }
  const bool infix = t.name == "Add" || t.name == "Mul";
  std::string out;
  for (const Term& a : t.arguments) {
    if (!out.empty()) out += infix ? (t.name == "Add" ? " + " : "*") : ", ";
    const bool in_brackets =
        t.name == "Mul" && a.kind == Term::Kind::Call && a.name == "Add";
    out += in_brackets ? "(" + text_of(a) + ")" : text_of(a);
  }
  return infix ? out : t.name + "(" + out + ")";
}

}  // namespace

SizeExpression::SizeExpression(std::string_view text) {
  Term term = Parser(text).run();
  if (term.kind == Term::Kind::Number) {
    value_ = term.number;
  } else {
    term_ = std::make_shared<const Term>(std::move(term));
  }
}

std::optional<int64_t> SizeExpression::constant() const {
  return term_ == nullptr ? Result(value_) : Result();
}

const std::string* SizeExpression::symbol() const {
  return term_ != nullptr && term_->kind == Term::Kind::Symbol ? &term_->name
                                                               : nullptr;
}

std::optional<int64_t> SizeExpression::value(const Symbols& of) const {
  return term_ == nullptr ? Result(value_) : value_of(*term_, of);
}

std::string SizeExpression::text() const {
  return term_ == nullptr ? std::to_string(value_) : text_of(*term_);
}

}  // namespace sy::exporting
