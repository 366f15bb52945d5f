#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/location.h"

// Expressions as trees. One grammar for every use of the language (docs/
// expressions.md); what a name or an operator means is decided by the typing:
// element.h, tensor.h or index.h.

namespace sy::lang {

enum class ExprKind : std::uint8_t {
  kNumber,  // number
  kBool,    // number.i
  kNone,
  kString,         // name: the characters
  kName,           // name
  kUnary,          // op, [x]
  kBinary,         // op, [a, b]
  kCall,           // name, args, keywords
  kMethod,         // name, [receiver, args...], keywords (of the args)
  kAttribute,      // name, [receiver]
  kIf,             // [condition, then, else]
  kLet,            // name, [value, body]
  kList,           // items
  kComprehension,  // name, [item, list] or [item, list, condition]
  kIndex,          // [list, index]
  kSlice,          // [list, begin, end]; either may be kNone
};

enum class Op : std::uint8_t {
  kNeg,
  kNot,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMod,
  kPow,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
};

// The spelling: "+", "and", "//".
std::string_view to_string(Op op);
constexpr bool is_comparison(Op op) { return op >= Op::kEq && op <= Op::kGe; }

// A literal: an int64, or a double.
struct Number {
  bool is_int = true;
  std::int64_t i = 0;
  double d = 0;

  static Number of(std::int64_t v) { return {true, v, 0}; }
  static Number of(double v) { return {false, 0, v}; }
  double as_double() const { return is_int ? static_cast<double>(i) : d; }
  bool equals(double v) const { return as_double() == v; }
  // The same literal: NaN equals itself, 1 and 1.0 differ.
  friend bool operator==(const Number& a, const Number& b);
};

// Shortest text that reads back as the same number; pi, inf and nan by name.
std::string to_string(const Number& n);

struct ExprNode;
// Immutable and shared; null after an error. Safe to use from several threads.
using Expr = std::shared_ptr<const ExprNode>;

struct ExprNode {
  ExprKind kind;
  Op op = Op::kNeg;
  std::uint32_t depth = 1;
  Number number = {};
  std::string name = {};
  std::vector<Expr> children = {};
  // The keywords of a call, parallel to its arguments, "" for a positional one;
  // or empty.
  std::vector<std::string> keywords = {};
  Location at = {};

  // The arguments of a call or method begin here.
  std::size_t first_argument() const { return kind == ExprKind::kMethod; }
};

// No tree is deeper; the parser reports one that would be.
inline constexpr std::uint32_t kMaxDepth = 1000;

Expr make_number(Number n, const Location& at = {});
Expr make_int(std::int64_t v, const Location& at = {});
Expr make_double(double v, const Location& at = {});
Expr make_bool(bool v, const Location& at = {});
Expr make_none(const Location& at = {});
Expr make_string(std::string v, const Location& at = {});
Expr make_name(std::string v, const Location& at = {});
Expr make_unary(Op op, Expr x, const Location& at = {});
Expr make_binary(Op op, Expr a, Expr b, const Location& at = {});
Expr make_call(std::string name, std::vector<Expr> args,
               const Location& at = {}, std::vector<std::string> keywords = {});
Expr make_method(Expr receiver, std::string name, std::vector<Expr> args,
                 const Location& at = {},
                 std::vector<std::string> keywords = {});
Expr make_if(Expr condition, Expr a, Expr b, const Location& at = {});
Expr make_let(std::string name, Expr value, Expr body, const Location& at = {});
// Any node from its parts; computes the depth.
Expr make_node(ExprNode node);
// `e` with other children, at the same place.
Expr with_children(const ExprNode& e, std::vector<Expr> children);

// Structural equality and hash; places do not count.
bool equal(const Expr& a, const Expr& b);
std::size_t hash(const Expr& e);

// Text that parses to an equal tree, with no parenthesis too many.
std::string to_string(const Expr& e);

bool is_number(const Expr& e);
bool is_number(const Expr& e, double value);
bool is_name(const Expr& e, std::string_view name);
bool is_call(const Expr& e, std::string_view name, std::size_t arguments);
// "a" of a name, "a.b" of an attribute of one, "" of anything else.
std::string dotted_name(const Expr& e);

// Names (dotted ones whole) that occur free in `e`, sorted, each once.
std::vector<std::string> free_names(const Expr& e);
bool mentions(const Expr& e, std::string_view name);
// `e` with the free name replaced. The value must not mention a name that `e`
// binds where `name` occurs.
Expr substitute(const Expr& e, std::string_view name, const Expr& value);
// `e` with every occurrence of a tree equal to `what` replaced.
Expr replace(const Expr& e, const Expr& what, const Expr& with);
// `e` in which every `let` and comprehension binds a name of its own, none of
// them free in `e`.
Expr with_unique_bindings(const Expr& e);
// Subexpressions that occur more than once computed once, bound by `let`s at
// the front; those of a branch of an `if` stay in the branch.
Expr share(const Expr& e);

}  // namespace sy::lang
