#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>

#include "lang/ast.h"
#include "lang/format.h"

namespace sy::lang {
namespace {

// How tightly a construct binds; an operand that binds less than its place
// asks for is put into parentheses.
enum Level : int {
  kWhole,  // let, if
  kOr,
  kAnd,
  kNot,
  kCompare,
  kSum,
  kProduct,
  kSign,
  kPower,
  kPostfix,
};

Level level_of(Op op) {
  switch (op) {
    case Op::kNeg: return kSign;
    case Op::kNot: return kNot;
    case Op::kAdd:
    case Op::kSub: return kSum;
    case Op::kMul:
    case Op::kDiv:
    case Op::kFloorDiv:
    case Op::kMod: return kProduct;
    case Op::kPow: return kPower;
    case Op::kAnd: return kAnd;
    case Op::kOr: return kOr;
    default: return kCompare;
  }
}

bool is_negative(const Number& n) {
  return n.is_int ? n.i < 0 : std::signbit(n.d) && !std::isnan(n.d);
}

Level level_of(const ExprNode& e) {
  switch (e.kind) {
    case ExprKind::kLet:
    case ExprKind::kIf: return kWhole;
    case ExprKind::kUnary:
    case ExprKind::kBinary: return level_of(e.op);
    case ExprKind::kNumber: return is_negative(e.number) ? kSign : kPostfix;
    default: return kPostfix;
  }
}

class Printer {
 public:
  std::string out;

  void print(const Expr& e, Level needed) {
    const bool parenthesised = level_of(*e) < needed;
    if (parenthesised) out += '(';
    print(*e);
    if (parenthesised) out += ')';
  }

 private:
  void print(const ExprNode& e) {
    switch (e.kind) {
      case ExprKind::kNumber: out += to_string(e.number); break;
      case ExprKind::kBool: out += e.number.i ? "true" : "false"; break;
      case ExprKind::kNone: out += "None"; break;
      case ExprKind::kString: quoted(e.name); break;
      case ExprKind::kName: out += e.name; break;
      case ExprKind::kUnary: unary(e); break;
      case ExprKind::kBinary: binary(e); break;
      case ExprKind::kCall:
        out += e.name;
        arguments(e);
        break;
      case ExprKind::kMethod:
        receiver(e.children[0]);
        out += '.';
        out += e.name;
        arguments(e);
        break;
      case ExprKind::kAttribute:
        receiver(e.children[0]);
        out += '.';
        out += e.name;
        break;
      case ExprKind::kIf:
        out += "if ";
        print(e.children[0], kWhole);
        out += " then ";
        print(e.children[1], kWhole);
        out += " else ";
        print(e.children[2], kWhole);
        break;
      case ExprKind::kLet:
        append(out, "let {} = ", e.name);
        print(e.children[0], kWhole);
        out += " in ";
        print(e.children[1], kWhole);
        break;
      case ExprKind::kList:
        out += '[';
        items(e, 0);
        out += ']';
        break;
      case ExprKind::kComprehension: comprehension(e); break;
      case ExprKind::kIndex:
        receiver(e.children[0]);
        out += '[';
        print(e.children[1], kWhole);
        out += ']';
        break;
      case ExprKind::kSlice:
        receiver(e.children[0]);
        out += '[';
        if (e.children[1]->kind != ExprKind::kNone) {
          print(e.children[1], kWhole);
        }
        out += ':';
        if (e.children[2]->kind != ExprKind::kNone) {
          print(e.children[2], kWhole);
        }
        out += ']';
        break;
    }
  }

  // `1.size` would read as a number, so literals are put into parentheses.
  void receiver(const Expr& e) {
    if (e->kind == ExprKind::kNumber) {
      out += '(';
      print(*e);
      out += ')';
    } else {
      print(e, kPostfix);
    }
  }

  void quoted(const std::string& text) {
    const char quote = text.find('\'') == std::string::npos ? '\'' : '"';
    out += quote;
    out += text;
    out += quote;
  }

  void unary(const ExprNode& e) {
    const Expr& x = e.children[0];
    if (e.op == Op::kNot) {
      out += "not ";
      print(x, kNot);
      return;
    }
    out += '-';
    // `-1` would read as the literal.
    if (x->kind == ExprKind::kNumber) {
      out += '(';
      print(*x);
      out += ')';
    } else {
      print(x, kSign);
    }
  }

  void binary(const ExprNode& e) {
    const Level level = level_of(e.op);
    Level left = level;
    auto right = static_cast<Level>(level + 1);
    if (e.op == Op::kPow) {
      left = kPostfix;
      right = kSign;
    } else if (is_comparison(e.op)) {
      left = right;
    }
    print(e.children[0], left);
    out += ' ';
    out += to_string(e.op);
    out += ' ';
    print(e.children[1], right);
  }

  void items(const ExprNode& e, std::size_t first) {
    for (std::size_t i = first; i < e.children.size(); ++i) {
      if (i > first) out += ", ";
      if (!e.keywords.empty() && !e.keywords[i - first].empty()) {
        out += e.keywords[i - first];
        out += '=';
      }
      print(e.children[i], kWhole);
    }
  }

  void arguments(const ExprNode& e) {
    out += '(';
    items(e, e.first_argument());
    out += ')';
  }

  void comprehension(const ExprNode& e) {
    out += '[';
    print(e.children[0], kWhole);
    append(out, " for {} in ", e.name);
    print(e.children[1], kOr);
    if (e.children.size() > 2) {
      out += " if ";
      print(e.children[2], kOr);
    }
    out += ']';
  }
};

}  // namespace

std::string to_string(const Number& n) {
  std::array<char, 32> buffer;
  char* const begin = buffer.data();
  char* const end = begin + buffer.size();
  if (n.is_int) {
    return {begin, std::to_chars(begin, end, n.i).ptr};
  }
  const std::string sign = std::signbit(n.d) && !std::isnan(n.d) ? "-" : "";
  const double magnitude = std::fabs(n.d);
  if (std::isnan(n.d)) return "nan";
  if (std::isinf(n.d)) return sign + "inf";
  if (magnitude == std::numbers::pi) return sign + "pi";
  std::string text(begin, std::to_chars(begin, end, magnitude).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return sign + text;
}

std::string to_string(const Expr& e) {
  Printer printer;
  printer.print(e, kWhole);
  return std::move(printer.out);
}

}  // namespace sy::lang
