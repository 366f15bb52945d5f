#include <algorithm>
#include <utility>

#include "lang/cpp_text.h"
#include "lang/format.h"
#include "lang/index_given.h"

// Conditions of `require:` and their messages.

namespace sy::lang {
namespace {

// The sides of the comparisons that a condition is made of.
class Sides {
 public:
  struct Side {
    Expr expr;
    Expr reached;  // where it was evaluated; null: always
    Names given;   // optional arguments that are not None there
  };

  // The sides of a condition that is false, where these are not None.
  Sides(const Expr& e, const Names& given) {
    add(e, Truth::kFalse, nullptr, given);
  }

  std::vector<Side> all;

 private:
  enum class Truth { kFalse, kTrue, kUnknown };

  static bool asks_none(const ExprNode& e) {
    return e.children[0]->kind == ExprKind::kNone ||
           e.children[1]->kind == ExprKind::kNone;
  }

  void add(const Expr& e, Truth truth, const Expr& reached,
           const Names& given) {
    if (e->kind == ExprKind::kLet) {
      return add(e->children[1], truth, reached, given);
    }
    if (e->kind == ExprKind::kUnary && e->op == Op::kNot) {
      const Truth other = truth == Truth::kUnknown ? truth
                          : truth == Truth::kTrue  ? Truth::kFalse
                                                   : Truth::kTrue;
      return add(e->children[0], other, reached, given);
    }
    if (e->kind != ExprKind::kBinary) return;
    if (e->op == Op::kAnd || e->op == Op::kOr) {
      // Both parts were read if the whole is a true `and` or a false `or`.
      const bool is_and = e->op == Op::kAnd;
      const bool both = truth == (is_and ? Truth::kTrue : Truth::kFalse);
      const Expr& left = e->children[0];
      add(left, both ? truth : Truth::kUnknown, reached, given);
      Names then = given;
      collect_given(*left, is_and, then);
      if (both) return add(e->children[1], truth, reached, then);
      const Expr passed = is_and ? left : make_unary(Op::kNot, left, e->at);
      const Expr here =
          reached ? make_binary(Op::kAnd, reached, passed, e->at) : passed;
      return add(e->children[1], truth, here, then);
    }
    // An argument that is None has no value to show.
    if (!is_comparison(e->op) || asks_none(*e)) return;
    for (const Expr& side : e->children) {
      if (free_names(side).empty()) continue;
      const auto known =
          std::find_if(all.begin(), all.end(),
                       [&](const Side& s) { return equal(s.expr, side); });
      if (known == all.end()) {
        all.push_back({side, reached, given});
      } else if (known->reached && reached) {
        known->reached = make_binary(Op::kOr, known->reached, reached, e->at);
      } else {
        known->reached = nullptr;
      }
    }
  }
};

std::vector<RequireCode> require_given(const Expr& e, const IndexEnv& env,
                                       std::string_view message,
                                       std::string_view op, const Names& given,
                                       Diagnostics& diagnostics) {
  // The parts are apart, so that a message never reads what an earlier one
  // rules out.
  if (e->kind == ExprKind::kBinary && e->op == Op::kAnd) {
    Names then = given;
    collect_given(*e->children[0], true, then);
    auto first =
        require_given(e->children[0], env, message, op, given, diagnostics);
    auto second =
        require_given(e->children[1], env, message, op, then, diagnostics);
    if (first.empty() || second.empty()) return {};
    for (RequireCode& r : second) first.push_back(std::move(r));
    return first;
  }
  auto condition =
      compile_given(e, env, IndexType::kBool, op, given, diagnostics);
  if (!condition) return {};
  RequireCode code{std::string(op), std::move(*condition), {}, {}, {}};
  code.expected = message.empty() ? to_string(e) : std::string(message);
  Names asked;  // `weight == None or …` is about weight
  collect_given(*e, false, asked);
  if (!asked.empty()) code.argument = asked.front();
  for (const IndexName& n : env.names) {
    if (code.argument.empty() && mentions(e, n.name)) code.argument = n.name;
  }
  for (const auto& [side, reached, known] : Sides(e, given).all) {
    // A name that a let binds is not in reach here.
    Diagnostics ignored;
    auto value = compile_given(side, env, std::nullopt, op, known, ignored);
    if (!value || !value->statements.empty()) continue;
    if (value->type != IndexType::kInt && value->type != IndexType::kList &&
        value->type != IndexType::kNumber &&
        value->type != IndexType::kString) {
      continue;
    }
    std::string where;
    Plan reached_plan;
    if (reached) {
      auto asked =
          compile_given(reached, env, IndexType::kBool, op, known, ignored);
      if (!asked || !asked->statements.empty()) continue;
      where = std::move(asked->value);
      reached_plan = std::move(asked->plan);
      code.condition.headers.merge(asked->headers);
    }
    code.condition.headers.merge(value->headers);
    code.got.push_back({to_string(side), std::move(value->value),
                        std::move(value->plan), std::move(where),
                        std::move(reached_plan)});
  }
  return {std::move(code)};
}

// The text as a part of a format, in which braces are written twice.
std::string in_format(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '{' || c == '}' ? 2 : 1, c);
  return out;
}

}  // namespace

std::vector<RequireCode> compile_require(const Expr& e, const IndexEnv& env,
                                         std::string_view message,
                                         std::string_view op,
                                         Diagnostics& diagnostics) {
  return require_given(e, env, message, op, {}, diagnostics);
}

std::string to_statement(const RequireCode& code, int indent) {
  std::string out;
  for (const std::string& s : code.condition.statements) {
    append(out, "{:{}}{}\n", "", indent, s);
  }
  std::string format =
      in_format(fmt::format("[{}] {}{}expected {}", code.op, code.argument,
                            code.argument.empty() ? "" : ": ", code.expected));
  std::string values;
  bool first = true;
  for (const RequireCode::Got& got : code.got) {
    const std::string label =
        in_format(fmt::format("{}{} = ", first ? ", got " : ", ", got.label));
    if (got.reached) {
      // A value that may not be there makes its own words.
      format += "{}";
      append(values, ", {} ? sy::str({}, {}) : std::string()", got.where,
             cpp_string(label + "{}"), got.cpp);
      continue;
    }
    format += label + "{}";
    append(values, ", {}", got.cpp);
    first = false;
  }
  append(out, "{0:{1}}SY_CHECK({2}, Value,\n{0:{1}}         {3}{4});\n", "",
         indent, code.condition.value, cpp_string(format), values);
  return out;
}

}  // namespace sy::lang
