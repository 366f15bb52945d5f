#include "codegen/torch/translate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sy::codegen::torch {
namespace {

using lang::Expr;
using lang::ExprKind;
using lang::Op;

struct Unsaid {};  // thrown where the formula leaves the language

struct BinaryOp {
  std::string_view symbol;
  Op op;
};
constexpr BinaryOp kOr[] = {{"||", Op::kOr}};
constexpr BinaryOp kAnd[] = {{"&&", Op::kAnd}};
constexpr BinaryOp kEqual[] = {{"==", Op::kEq}, {"!=", Op::kNe}};
constexpr BinaryOp kOrder[] = {
    {"<=", Op::kLe}, {">=", Op::kGe}, {"<", Op::kLt}, {">", Op::kGt}};
constexpr BinaryOp kSum[] = {{"+", Op::kAdd}, {"-", Op::kSub}};
constexpr BinaryOp kProduct[] = {
    {"*", Op::kMul}, {"/", Op::kDiv}, {"%", Op::kMod}};
// The operators by precedence, the weakest first.
constexpr std::array<std::span<const BinaryOp>, 6> kBinary = {
    kOr, kAnd, kEqual, kOrder, kSum, kProduct};

// Expressions of C++, by recursive descent.
class Translator {
 public:
  explicit Translator(std::string_view text) : text_(text) {}

  Expr run() {
    Expr e = choice();
    if (peek() != 0) throw Unsaid();
    return e;
  }

 private:
  struct Level {
    explicit Level(int& n) : depth(n) {
      if (++depth > 100) throw Unsaid();
    }
    ~Level() { --depth; }
    int& depth;
  };

  char peek() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) throw Unsaid();
        at_ = end + 2;
      } else {
        return text_[at_];
      }
    }
    return 0;
  }

  bool accept(std::string_view symbol) {
    peek();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  void expect(std::string_view symbol) {
    if (!accept(symbol)) throw Unsaid();
  }

  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  }

  std::string word() {
    peek();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (begin == at_) throw Unsaid();
    return std::string(text_.substr(begin, at_ - begin));
  }

  static bool is_bool(const Expr& e, bool value) {
    return e->kind == ExprKind::kBool && (e->number.i != 0) == value;
  }

  Expr choice() {
    const Level level(depth_);
    Expr condition = binary(0);
    if (!accept("?")) return condition;
    Expr a = choice();
    expect(":");
    Expr b = choice();
    // Nothing is complex here.
    if (is_bool(condition, false)) return b;
    if (is_bool(condition, true)) return a;
    return make_if(std::move(condition), std::move(a), std::move(b));
  }

  std::optional<Op> operator_at(std::size_t rank) {
    peek();
    const std::string_view rest = text_.substr(at_);
    for (const BinaryOp& b : kBinary[rank]) {
      if (!rest.starts_with(b.symbol)) continue;
      // `->`, `<<`, `-=` and their kin are none of these.
      const char next =
          rest.size() > b.symbol.size() ? rest[b.symbol.size()] : ' ';
      if (next == '=' || (b.symbol == "-" && next == '>') ||
          (b.symbol == "<" && next == '<') ||
          (b.symbol == ">" && next == '>')) {
        throw Unsaid();
      }
      at_ += b.symbol.size();
      return b.op;
    }
    return std::nullopt;
  }

  Expr binary(std::size_t rank) {
    if (rank == kBinary.size()) return unary();
    Expr a = binary(rank + 1);
    while (const auto op = operator_at(rank)) {
      Expr b = binary(rank + 1);
      if (*op == Op::kAnd && is_bool(a, false)) continue;
      // Comparisons of our language do not chain.
      if (is_comparison(*op) && a->kind == ExprKind::kBinary &&
          is_comparison(a->op)) {
        throw Unsaid();
      }
      a = make_binary(*op, std::move(a), std::move(b));
    }
    return a;
  }

  Expr unary() {
    const Level level(depth_);
    if (accept("!")) {
      Expr e = unary();
      if (e->kind == ExprKind::kBool) return lang::make_bool(e->number.i == 0);
      return make_unary(Op::kNot, std::move(e));
    }
    if (accept("-")) return make_unary(Op::kNeg, unary());
    return postfix();
  }

  Expr postfix() {
    Expr e = primary();
    while (true) {
      if (peek() == '.') {
        ++at_;
        std::string name = word();
        expect("(");
        e = method(std::move(e), plain(std::move(name)), arguments(")"));
      } else if (accept("[")) {
        Expr index = choice();
        expect("]");
        lang::ExprNode node{.kind = ExprKind::kIndex,
                            .children = {std::move(e), std::move(index)}};
        e = make_node(std::move(node));
      } else {
        return e;
      }
    }
  }

  // The name without the marks of symbolic sizes.
  static std::string plain(std::string name) {
    if (name.ends_with("_symint")) name.resize(name.size() - 7);
    if (name.starts_with("sym_")) name.erase(0, 4);
    return name;
  }

  Expr method(Expr self, std::string name, std::vector<Expr> args) {
    if (args.empty()) {
      constexpr std::string_view kSelf[] = {"conj",    "value", "toDouble",
                                            "toFloat", "toInt", "toLong"};
      if (std::find(std::begin(kSelf), std::end(kSelf), name) !=
          std::end(kSelf)) {
        return self;
      }
      if (name == "is_complex" || name == "isComplex") {
        return lang::make_bool(false);
      }
      if (name == "has_value" || name == "defined") {
        return make_binary(Op::kNe, std::move(self), lang::make_none());
      }
    }
    return make_method(std::move(self), std::move(name), std::move(args));
  }

  Expr call(std::string name, std::vector<Expr> args) {
    if (name == "handle_r_to_c" && args.size() == 2) return args[1];
    if (name == "maybe_multiply" && args.size() == 2) {
      return make_binary(Op::kMul, args[0], args[1]);
    }
    if (name == "not_implemented") throw Unsaid();
    return make_call(std::move(name), std::move(args));
  }

  std::vector<Expr> arguments(std::string_view close) {
    std::vector<Expr> args;
    if (accept(close)) return args;
    do {
      args.push_back(choice());
    } while (accept(","));
    expect(close);
    return args;
  }

  Expr primary() {
    const char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') {
      return number();
    }
    if (c == '"') return string();
    if (accept("(")) {
      Expr e = choice();
      expect(")");
      return e;
    }
    if (accept("{")) {
      lang::ExprNode list{.kind = ExprKind::kList, .children = arguments("}")};
      return make_node(std::move(list));
    }
    std::string name = word();
    if (name == "at" && accept("::")) name = word();
    if (name == "std" || name == "c10") {
      if (!accept("::") || word() != "nullopt") throw Unsaid();
      return lang::make_none();
    }
    if (accept("(")) return call(plain(std::move(name)), arguments(")"));
    if (name == "true" || name == "false") {
      return lang::make_bool(name == "true");
    }
    return lang::make_name(std::move(name));
  }

  Expr number() {
    const char* const first = text_.data() + at_;
    const char* const last = text_.data() + text_.size();
    std::int64_t i = 0;
    const auto whole = std::from_chars(first, last, i);
    double d = 0;
    const auto real = std::from_chars(first, last, d);
    if (real.ec != std::errc()) throw Unsaid();
    at_ += static_cast<std::size_t>(real.ptr - first);
    if (at_ < text_.size() && is_word(text_[at_])) throw Unsaid();
    const bool is_int = whole.ec == std::errc() && whole.ptr == real.ptr;
    return is_int ? lang::make_int(i) : lang::make_double(d);
  }

  Expr string() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) throw Unsaid();
    std::string s(text_.substr(at_ + 1, end - at_ - 1));
    if (s.find_first_of("\\'") != std::string::npos) throw Unsaid();
    at_ = end + 1;
    return lang::make_string(std::move(s));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

lang::Expr translate(std::string_view formula) {
  try {
    return Translator(formula).run();
  } catch (const Unsaid&) {
    return nullptr;
  }
}

}  // namespace sy::codegen::torch
