#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/schema/function_schema.h"
#include "lang/ast.h"
#include "lang/cpp_text.h"
#include "lang/diagnostics.h"
#include "lang/plan.h"

// The index typing, of `view:`, `shape:` and `require:`: integers, truth values
// and lists of integers from the metadata of tensors.

namespace sy::lang {

enum class IndexType : std::uint8_t {
  kInt,         // int64_t
  kBool,        // bool
  kList,        // Dims, or an IntArrayRef
  kNumber,      // double
  kTensor,      // read by methods only
  kTensorList,  // ArrayRef<Tensor>
  kString,
  kScalarType,
  kOther,  // nothing can be done with it
};
std::string_view to_string(IndexType type);

struct IndexName {
  std::string name;
  IndexType type;
  bool optional = false;  // `x == None` asks; `x` alone is its value
  // How C++ reads the value; empty: the name, or `*name` of an optional one.
  std::string cpp = {};
  bool is_dims = false;  // of a list: a Dims
};

struct IndexEnv {
  std::vector<IndexName> names;

  // Every argument of the schema, out arguments aside.
  static IndexEnv of(const FunctionSchema& schema);
  const IndexName* find(std::string_view name) const;
};

// A built-in function. `parameters` and `result` are letters: i int, o int or
// None, l list, b bool, n number, t tensor, T list of tensors. One with `op`
// takes the operator's name first. A name may have several.
struct IndexFunction {
  std::string_view name;
  std::string_view parameters;
  char result;
  bool op;
  std::string_view cpp;     // the C++ function: "geometry::sum"
  std::string_view header;  // that declares it
};
std::span<const IndexFunction> index_functions();
// The call of one of these.
Plan plan_index_function(const IndexFunction& f, std::vector<Plan> arguments);

// `statements` are complete lines, to be put before the use of `value`.
struct IndexCode {
  std::vector<std::string> statements;
  std::string value;
  IndexType type;
  bool is_dims = false;    // a list that is a Dims, not an IntArrayRef
  bool is_vector = false;  // a list that is a std::vector
  Headers headers = {};
  Plan plan = {};  // the same, statements included
};

// Checks `e`; prints it as C++ over the arguments, for code in namespace sy
// that includes its headers, and plans it. `op` is the operator's name for
// messages. A list converts to IntArrayRef; one that is no plain argument's
// should be kept as `const Dims x(value)`. Nothing after an error, or if the
// type is not the expected one.
std::optional<IndexCode> compile_index(const Expr& e, const IndexEnv& env,
                                       std::optional<IndexType> expected,
                                       std::string_view op,
                                       Diagnostics& diagnostics);

// A condition of `require:`, and what its message is made of:
// "[op] argument: expected CONDITION, got self.dim() = 3".
struct RequireCode {
  std::string op;
  IndexCode condition;
  // The first that it mentions, or the one that `x == None or …` asks for.
  std::string argument;
  std::string expected;  // the condition's text, or the author's message
  struct Got {
    std::string label;  // "self.dim()"
    std::string cpp;    // an int64_t, a list or a bool
    Plan plan;
    // The condition for reaching it, as C++ and as a plan; null: always.
    std::string where;
    Plan reached;
  };
  std::vector<Got> got;
};
// One for each part of a conjunction, to be checked in this order; `message`
// may be empty. None after an error.
std::vector<RequireCode> compile_require(const Expr& e, const IndexEnv& env,
                                         std::string_view message,
                                         std::string_view op,
                                         Diagnostics& diagnostics);
// The whole statement, "SY_CHECK(self.dim() == 2, Value, …);".
std::string to_statement(const RequireCode& code, int indent = 2);

}  // namespace sy::lang
