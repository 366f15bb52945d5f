#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lang/ast.h"

namespace sy::lang {

// Random trees for tests; the same seed gives the same trees.
class RandomExpr {
 public:
  explicit RandomExpr(std::uint32_t seed) : rng_(seed) {}

  // Any tree that the grammar can write, meaning aside.
  Expr any(int depth) {
    if (depth == 0) return leaf();
    switch (below(13)) {
      case 0: return make_unary(Op::kNeg, any(depth - 1));
      case 1: return make_unary(Op::kNot, any(depth - 1));
      case 2:
      case 3:
      case 4:
        return make_binary(static_cast<Op>(2 + below(15)), any(depth - 1),
                           any(depth - 1));
      case 5: return call(depth);
      case 6: return make_method(any(depth - 1), name(), {any(depth - 1)});
      case 7:
        return make_node({.kind = ExprKind::kAttribute,
                          .name = name(),
                          .children = {any(depth - 1)}});
      case 8: return make_if(any(depth - 1), any(depth - 1), any(depth - 1));
      case 9: return make_let(name(), any(depth - 1), any(depth - 1));
      case 10: return list(depth);
      case 11:
        return make_node({.kind = ExprKind::kIndex,
                          .children = {any(depth - 1), any(depth - 1)}});
      default: {
        Expr begin = below(2) ? any(depth - 1) : make_none();
        Expr end = below(2) ? any(depth - 1) : make_none();
        return make_node({.kind = ExprKind::kSlice,
                          .children = {any(depth - 1), begin, end}});
      }
    }
  }

  // A number made of x, y (elements), s (a scalar) and flag (a bool), by
  // functions that are defined everywhere.
  Expr number(int depth) {
    if (depth == 0) return number_leaf();
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return make_binary(pick({Op::kAdd, Op::kSub, Op::kMul}),
                           number(depth - 1), number(depth - 1));
      case 4:
        return make_call(pick_name({"sin", "tanh", "abs", "square", "sigmoid",
                                    "floor", "sign", "atan", "relu"}),
                         {number(depth - 1)});
      case 5:
        return make_call(pick_name({"maximum", "minimum", "fmax"}),
                         {number(depth - 1), number(depth - 1)});
      case 6:
        return make_if(truth(depth - 1), number(depth - 1), number(depth - 1));
      case 7: {
        const std::string bound = "v" + std::to_string(bound_++);
        Expr value = number(depth - 1);
        names_.push_back(bound);
        Expr body = number(depth - 1);
        names_.pop_back();
        return make_let(bound, value, body);
      }
      case 8:
        return make_call(
            "fma", {number(depth - 1), number(depth - 1), number(depth - 1)});
      default: return make_unary(Op::kNeg, number(depth - 1));
    }
  }

  Expr truth(int depth) {
    if (depth == 0) {
      return make_binary(pick({Op::kLt, Op::kLe, Op::kGt, Op::kGe, Op::kEq}),
                         number_leaf(), number_leaf());
    }
    switch (below(4)) {
      case 0: return make_unary(Op::kNot, truth(depth - 1));
      case 1:
        return make_binary(pick({Op::kAnd, Op::kOr}), truth(depth - 1),
                           truth(depth - 1));
      case 2:
        return make_if(truth(depth - 1), truth(depth - 1), truth(depth - 1));
      default:
        return make_binary(pick({Op::kLt, Op::kGe, Op::kNe}), number(depth - 1),
                           number(depth - 1));
    }
  }

  // An eighth, so that sums and products are exact and comparisons of them do
  // not depend on rounding.
  double value() { return (below(49) - 24) / 8.0; }

 private:
  int below(int n) { return static_cast<int>(rng_() % unsigned(n)); }
  Op pick(std::vector<Op> ops) { return ops[below(int(ops.size()))]; }
  std::string pick_name(std::vector<std::string> names) {
    return names[below(int(names.size()))];
  }
  std::string name() { return pick_name({"a", "b", "self", "x_1", "Ab"}); }

  Expr leaf() {
    switch (below(9)) {
      case 0: return make_int(below(100) - 50);
      case 1: return make_double((below(1000) - 500) / 8.0);
      case 2: return make_double(pick_number());
      case 3: return make_bool(below(2));
      case 4: return make_none();
      case 5: return make_string(pick_name({"tanh", "it's", "", "\"q\""}));
      default: return make_name(name());
    }
  }

  double pick_number() {
    const double numbers[] = {1e300, 1.0 / 0.0, -1.0 / 0.0, 3.14159265358979312,
                              1e-5,  0.1,       -0.0,       2.5e20};
    return numbers[below(8)];
  }

  Expr number_leaf() {
    if (!names_.empty() && below(2)) {
      return make_name(names_[below(int(names_.size()))]);
    }
    switch (below(7)) {
      case 0: return make_int(below(4));
      case 1: return make_double(0.5 * below(5));
      case 2: return make_name("s");
      case 3: return make_name("y");
      case 4: return below(3) ? make_name("x") : make_name("flag");
      default: return make_name("x");
    }
  }

  Expr call(int depth) {
    std::vector<Expr> args;
    std::vector<std::string> keywords;
    const int n = below(4);
    for (int i = 0; i < n; ++i) {
      args.push_back(any(depth - 1));
      keywords.push_back(i == 2 ? "dim" : "");
    }
    if (n < 3) keywords.clear();
    return make_call(name(), args, {}, keywords);
  }

  Expr list(int depth) {
    ExprNode node{.kind = ExprKind::kList};
    if (below(2)) {
      node.kind = ExprKind::kComprehension;
      node.name = name();
      node.children = {any(depth - 1), any(depth - 1)};
      if (below(2)) node.children.push_back(any(depth - 1));
    } else {
      for (int n = below(3); n > 0; --n) {
        node.children.push_back(any(depth - 1));
      }
    }
    return make_node(node);
  }

  std::mt19937 rng_;
  int bound_ = 0;
  std::vector<std::string> names_;
};

}  // namespace sy::lang
