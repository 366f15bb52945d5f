#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/format.h"
#include "lang/tensor.h"
#include "lang/tensor_value.h"

// Private to the tensor typing: one expression on its way to C++ and a plan.

namespace sy::lang::detail {

// Thrown once the error is told.
struct TensorFailed {};

class TensorCompiler {
 public:
  TensorCompiler(const TensorEnv& env, const OpTable& ops,
                 Diagnostics& diagnostics);

  // Compiles a whole expression, once. Throws TensorFailed.
  TensorCode top(Expr e, std::span<const Type> expected);

 private:
  using Lets = std::vector<std::pair<std::string, Plan>>;

  // ---- names, lets, types (tensor.cpp)

  [[noreturn]] void fail(const ExprNode& e, std::string message);
  template <class Arg, class... Args>
  [[noreturn]] void fail(const ExprNode& e,
                         fmt::format_string<const Arg&, const Args&...> format,
                         const Arg& arg, const Args&... args) {
    fail(e, fmt::format(format, arg, args...));
  }
  static Plan bound(Lets lets, Plan body);
  void define(const ExprNode& e, std::vector<std::string>& statements,
              Lets& lets);
  const Value* find_local(std::string_view name) const;
  Value name(const ExprNode& e);
  Value run(const Expr& e);
  // A let that is not at the top.
  Value block(const Expr& e, std::span<const Type> expected);
  // The value as the expected types; as it is if there are none.
  Value coerced(const Expr& e, std::span<const Type> expected);
  Value single(const Expr& e, Value v, Type expected);
  Value integer(const Expr& e) { return single(e, run(e), TypeKind::kInt); }
  Value ints(const Expr& e);
  // A Tensor; an optional one is taken to be there.
  std::string tensor(const Expr& e, const Value& v);
  static Value int_list(std::string text, Plan plan);
  // The call of a function of the index typing that no table names.
  std::string built_in(std::string_view name,
                       const std::vector<std::string>& args);
  Value condition(const Expr& e);

  // ---- of numbers, tensors and lists (tensor_arithmetic.cpp)

  // Numbers as C++ computes with them.
  static Cpp number(const Value& v);
  static Plan number_plan(const Value& v);
  Value unary(const ExprNode& e);
  std::optional<Value> question(const ExprNode& e);
  Value binary(const ExprNode& e);
  static bool is_list(const Value& v);
  // Puts numbers to the right where the operator has no overload for the left.
  Value tensor_binary(const ExprNode& e, const Value& a, const Value& b);
  // The logical operators take no numbers.
  Value truth_tensor(const ExprNode& e, const Value& v);
  Value comparison(const ExprNode& e, const Value& a, const Value& b);
  Value arithmetic(const ExprNode& e, const Value& a, const Value& b);

  // ---- calls (tensor_apply.cpp)

  Value call(const ExprNode& e);
  std::optional<Value> number_call(const ExprNode& e,
                                   const std::vector<CallArgument>& args);
  // The functions of the index typing, on ints and lists of them.
  std::optional<Value> index_call(const ExprNode& e,
                                  const std::vector<CallArgument>& args);
  Value apply(const ExprNode& e, std::string_view name,
              const std::vector<CallArgument>& args);
  // Adds the headers that the call of `f` needs.
  void headers_of(const FunctionSchema& f, const PlanNode& call);
  Value method(const ExprNode& e);

  // ---- if, lists (tensor_lists.cpp)

  Value branch(const ExprNode& e, std::span<const Type> expected);
  std::string cpp_type(const ExprNode& e, Type t);
  Value comprehension(const ExprNode& e);
  // A literal index of one of n.
  std::size_t literal(const Expr& i, std::size_t n);
  // The gradient of one of several results.
  Value gradient(const ExprNode& e);
  Value index(const ExprNode& e);

  const TensorEnv& env_;
  const OpTable& ops_;
  const std::string op_;
  Diagnostics& diagnostics_;
  std::vector<std::pair<std::string, Value>> locals_;
  std::set<std::string> called_;
  Headers headers_;
  // The C++ names of the environment and of whatever the expression binds.
  std::set<std::string> names_;
};

}  // namespace sy::lang::detail
