#include "lang/parser.h"

#include <limits>
#include <optional>
#include <utility>

#include "lang/format.h"
#include "lang/lexer.h"

namespace sy::lang {
namespace {

struct BinaryOp {
  std::string_view symbol;
  Op op;
};
constexpr BinaryOp kComparisons[] = {{"==", Op::kEq}, {"!=", Op::kNe},
                                     {"<", Op::kLt},  {"<=", Op::kLe},
                                     {">", Op::kGt},  {">=", Op::kGe}};
constexpr BinaryOp kSums[] = {{"+", Op::kAdd}, {"-", Op::kSub}};
constexpr BinaryOp kProducts[] = {
    {"*", Op::kMul}, {"/", Op::kDiv}, {"//", Op::kFloorDiv}, {"%", Op::kMod}};

// Recursive descent; nesting is counted so that no input exhausts the stack.
class Parser {
 public:
  explicit Parser(const Text& text) : text_(text), lexer_(text.str()) {
    ahead_ = lexer_.next();
    advance();
  }

  Expr run() {
    if (now_.kind == TokenKind::kEnd) fail("expected an expression, got none");
    Expr e = expression();
    if (now_.kind != TokenKind::kEnd) {
      fail("expected an operator or the end, got {}", describe(now_));
    }
    return e;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<const Args&...> format,
                         const Args&... args) const {
    throw LexError{now_.offset, fmt::format(format, args...)};
  }

  static std::string describe(const Token& t) {
    if (t.kind == TokenKind::kEnd) return "the end";
    if (t.kind == TokenKind::kString) return "a string";
    return fmt::format("'{}'", t.text);
  }

  void advance() {
    now_ = std::move(ahead_);
    ahead_ = now_.kind == TokenKind::kEnd ? Token{} : lexer_.next();
    if (now_.kind == TokenKind::kEnd) ahead_.offset = now_.offset;
  }

  bool accept(std::string_view symbol) {
    if (!now_.is(symbol)) return false;
    advance();
    return true;
  }

  void expect(std::string_view symbol, std::string_view where) {
    if (!accept(symbol)) {
      fail("expected '{}' {}, got {}", symbol, where, describe(now_));
    }
  }

  Location here() const { return text_.at(now_.offset); }

  Expr checked(Expr e) const {
    if (e->depth > kMaxDepth) {
      fail("the expression is nested more than {} deep", kMaxDepth);
    }
    return e;
  }

  // One level of nesting, for as long as the object lives.
  struct Level {
    explicit Level(Parser& p) : parser(p) {
      if (++parser.nesting_ > kMaxNesting) {
        parser.fail("the expression is nested more than {} deep", kMaxNesting);
      }
    }
    ~Level() { --parser.nesting_; }
    Parser& parser;
  };

  std::string binding(std::string_view what) {
    if (now_.kind != TokenKind::kName || is_reserved_word(now_.text)) {
      fail("expected a name after '{}', got {}", what, describe(now_));
    }
    std::string name = now_.text;
    advance();
    return name;
  }

  Expr expression() {
    const Level level(*this);
    const Location at = here();
    if (accept("let")) {
      std::string name = binding("let");
      expect("=", "after the name of a let");
      Expr value = expression();
      expect("in", "after the value of a let");
      return checked(
          make_let(std::move(name), std::move(value), expression(), at));
    }
    if (accept("if")) {
      Expr condition = expression();
      expect("then", "after the condition of an if");
      Expr a = expression();
      expect("else", "after the first branch of an if");
      return checked(
          make_if(std::move(condition), std::move(a), expression(), at));
    }
    return disjunction();
  }

  Expr disjunction() {
    Expr e = conjunction();
    while (now_.is("or")) {
      const Location at = here();
      advance();
      e = checked(make_binary(Op::kOr, std::move(e), conjunction(), at));
    }
    return e;
  }

  Expr conjunction() {
    Expr e = negation();
    while (now_.is("and")) {
      const Location at = here();
      advance();
      e = checked(make_binary(Op::kAnd, std::move(e), negation(), at));
    }
    return e;
  }

  Expr negation() {
    const Location at = here();
    if (!accept("not")) return comparison();
    const Level level(*this);
    return checked(make_unary(Op::kNot, negation(), at));
  }

  template <std::size_t N>
  std::optional<Op> operator_of(const BinaryOp (&table)[N]) const {
    for (const BinaryOp& b : table) {
      if (now_.is(b.symbol)) return b.op;
    }
    return std::nullopt;
  }

  Expr comparison() {
    Expr e = sum();
    const auto op = operator_of(kComparisons);
    if (!op) {
      if (now_.is("=")) fail("expected an operator, got '='; equality is '=='");
      return e;
    }
    const Location at = here();
    advance();
    e = checked(make_binary(*op, std::move(e), sum(), at));
    if (operator_of(kComparisons)) {
      fail("comparisons do not chain; write 'a < b and b < c'");
    }
    return e;
  }

  Expr sum() {
    Expr e = product();
    while (const auto op = operator_of(kSums)) {
      const Location at = here();
      advance();
      e = checked(make_binary(*op, std::move(e), product(), at));
    }
    return e;
  }

  Expr product() {
    Expr e = sign();
    while (const auto op = operator_of(kProducts)) {
      const Location at = here();
      advance();
      e = checked(make_binary(*op, std::move(e), sign(), at));
    }
    return e;
  }

  Expr sign() {
    const Location at = here();
    if (!now_.is("-")) return power();
    const bool literal = ahead_.kind == TokenKind::kNumber;
    advance();
    if (literal) {
      // `-1` is a literal, `-2 ** n` and `-(1)` are not.
      Token number = now_;
      if (!is_power_ahead()) {
        advance();
        return make_number(negated(number.number), at);
      }
    }
    const Level level(*this);
    return checked(make_unary(Op::kNeg, sign(), at));
  }

  bool is_power_ahead() const { return ahead_.is("**"); }

  static Number negated(Number n) {
    // Also right for 2^63, which the lexer gives as the least integer.
    if (n.is_int) {
      return Number::of(
          static_cast<std::int64_t>(-static_cast<std::uint64_t>(n.i)));
    }
    return Number::of(-n.d);
  }

  Expr power() {
    Expr e = postfix();
    if (!now_.is("**")) return e;
    const Location at = here();
    advance();
    const Level level(*this);
    return checked(make_binary(Op::kPow, std::move(e), sign(), at));
  }

  Expr postfix() {
    Expr e = primary();
    while (true) {
      const Location at = here();
      if (accept("[")) {
        e = subscript(std::move(e), at);
      } else if (accept(".")) {
        if (now_.kind != TokenKind::kName || is_reserved_word(now_.text)) {
          fail("expected a name after '.', got {}", describe(now_));
        }
        std::string name = now_.text;
        const Location name_at = here();
        advance();
        if (accept("(")) {
          ExprNode call{.kind = ExprKind::kMethod,
                        .name = std::move(name),
                        .children = {std::move(e)},
                        .at = name_at};
          arguments(call);
          e = make_node(std::move(call));
        } else {
          e = make_node({.kind = ExprKind::kAttribute,
                         .name = std::move(name),
                         .children = {std::move(e)},
                         .at = name_at});
        }
      } else {
        return e;
      }
      e = checked(std::move(e));
    }
  }

  Expr subscript(Expr list, const Location& at) {
    Expr begin = make_none();
    if (!now_.is(":")) begin = expression();
    if (!accept(":")) {
      expect("]", "after an index");
      return make_node({.kind = ExprKind::kIndex,
                        .children = {std::move(list), std::move(begin)},
                        .at = at});
    }
    Expr end = make_none();
    if (!now_.is("]")) end = expression();
    expect("]", "after a slice");
    return make_node(
        {.kind = ExprKind::kSlice,
         .children = {std::move(list), std::move(begin), std::move(end)},
         .at = at});
  }

  void arguments(ExprNode& call) {
    bool any_keyword = false;
    if (!accept(")")) {
      do {
        std::string keyword;
        if (now_.kind == TokenKind::kName && ahead_.is("=")) {
          for (const std::string& k : call.keywords) {
            if (k == now_.text) fail("argument '{}' is given twice", k);
          }
          keyword = binding("(");
          advance();
          any_keyword = true;
        } else if (any_keyword) {
          fail("a positional argument after a keyword argument");
        }
        call.keywords.push_back(std::move(keyword));
        call.children.push_back(expression());
      } while (accept(","));
      expect(")", fmt::format("after the arguments of '{}'", call.name));
    }
    if (!any_keyword) call.keywords.clear();
  }

  Expr primary() {
    const Location at = here();
    if (now_.kind == TokenKind::kNumber) {
      const Number n = now_.number;
      if (n.is_int && n.i < 0) {
        fail("integer {} does not fit into 64 bits", now_.text);
      }
      advance();
      return make_number(n, at);
    }
    if (now_.kind == TokenKind::kString) {
      Expr e = make_string(now_.text, at);
      advance();
      return e;
    }
    if (now_.kind == TokenKind::kName) return name_or_call(at);
    if (accept("(")) {
      Expr e = expression();
      expect(")", "to close '('");
      return e;
    }
    if (accept("[")) return list(at);
    // A word of the grammar is out of place where an operand stands.
    fail("expected an operand, got {}", describe(now_));
  }

  Expr name_or_call(const Location& at) {
    std::string name = now_.text;
    advance();
    if (name == "true" || name == "True") return make_bool(true, at);
    if (name == "false" || name == "False") return make_bool(false, at);
    if (name == "None") return make_none(at);
    if (!accept("(")) return make_name(std::move(name), at);
    ExprNode call{.kind = ExprKind::kCall, .name = std::move(name), .at = at};
    arguments(call);
    return checked(make_node(std::move(call)));
  }

  Expr list(const Location& at) {
    ExprNode node{.kind = ExprKind::kList, .at = at};
    if (accept("]")) return make_node(std::move(node));
    node.children.push_back(expression());
    if (accept("for")) {
      const Level level(*this);
      node.kind = ExprKind::kComprehension;
      node.name = binding("for");
      expect("in", "after the name of a comprehension");
      node.children.push_back(disjunction());
      if (accept("if")) node.children.push_back(disjunction());
      expect("]", "after a comprehension");
      return checked(make_node(std::move(node)));
    }
    while (accept(",")) node.children.push_back(expression());
    expect("]", "after the items of a list");
    return checked(make_node(std::move(node)));
  }

  static constexpr int kMaxNesting = 200;

  const Text& text_;
  Lexer lexer_;
  Token now_;
  Token ahead_;
  int nesting_ = 0;
};

}  // namespace

Expr parse(const Text& text, Diagnostics& diagnostics) {
  try {
    return Parser(text).run();
  } catch (const LexError& e) {
    diagnostics.error(text.at(e.offset), e.message);
    return nullptr;
  }
}

Expr parse(std::string_view text) {
  Diagnostics diagnostics;
  Expr e = parse(Text(std::string(text)), diagnostics);
  if (!e) throw LangError(diagnostics);
  return e;
}

}  // namespace sy::lang
