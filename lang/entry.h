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
#include "lang/diagnostics.h"
#include "lang/location.h"

// The model of schemas/ops/*.yaml: what is written there, checked for form and
// parsed, nothing derived. Plain data, not changed once it is read.

namespace sy::lang {

// An expression of the language and its text. `expr` is never null in a model
// that was read without errors.
struct Formula {
  Text text;
  Expr expr;
};

enum class OperatorKind : std::uint8_t {
  kPointwise,
  kReduce,
  kComposite,
  kView,
  kScan,
  kDispatch,  // also an entry that has no other kind
};
std::string_view to_string(OperatorKind kind);
// Whether operators of the kind are element programs that engines run.
constexpr bool is_program(OperatorKind kind) {
  return kind == OperatorKind::kPointwise || kind == OperatorKind::kReduce ||
         kind == OperatorKind::kScan;
}

// `pointwise:` an expression, or a list with one for each return.
struct PointwiseBody {
  std::vector<Formula> results;
};

// One accumulator of a reduction. A reduction with a single one, written
// without a name, calls it "acc". In `combine` the two sides are the names `a`
// and `b`, or `a.NAME` and `b.NAME`; in `finish` the accumulators' names and
// `n`, the number of elements.
struct Accumulator {
  std::string name;
  Formula map;
  Formula identity;  // null `expr`: reducing nothing is an error
  Formula combine;
};
struct ReduceBody {
  std::vector<Accumulator> accumulators;
  std::vector<Formula> finish;     // one for each return; may be empty
  std::optional<Text> accumulate;  // of accumulate_rules()
};

// `scan:` along `dim`: each element combined with all before it. With `choose`
// the combination is the later side where the condition is true, else the
// earlier one, and where it came from is a second result.
struct ScanBody {
  Formula combine;
  bool chooses = false;
  std::optional<Text> accumulate;
};

struct ViewBody {
  Formula sizes;
  std::optional<Formula> strides;
  std::optional<Formula> offset;
};

// `CPU, Meta: name_of_a_function`, one for each key.
struct DispatchItem {
  Text key;
  Text kernel;
};

// `require:` a condition, with a message of the author's or none.
struct Requirement {
  Formula condition;
  Text message;
};

struct DerivativeItem {
  enum class Kind : std::uint8_t {
    kAuto,     // from `pointwise`, `reduce` or `view`
    kFormula,  // in the tensor typing
    kNonDifferentiable,
  };
  std::vector<Text> arguments;  // several: the formula gives a list
  Kind kind = Kind::kAuto;
  Formula formula;
  Location at;
};

// The exact signature of a form, where the derived one is not PyTorch's.
struct Form {
  SchemaKind kind;
  // None: the operator has no such form.
  std::optional<FunctionSchema> schema;
  Location at;
};

struct Promote {
  Text rule;                    // of promote_rules()
  std::vector<Text> arguments;  // empty: every Tensor and Scalar argument
};
// default, int_to_float, bool_to_int, only_bool_to_int, same.
std::span<const std::string_view> promote_rules();
// float64: floating dtypes accumulate in it.
std::span<const std::string_view> accumulate_rules();

struct OperatorEntry {
  explicit OperatorEntry(FunctionSchema s) : schema(std::move(s)) {}

  FunctionSchema schema;
  Text func;
  std::string doc;
  // Arguments of a call that shows the operator: words.h.
  std::optional<Text> example;
  bool function_variant = true;
  bool method_variant = false;
  std::vector<Text> tags;

  OperatorKind kind = OperatorKind::kDispatch;
  std::optional<PointwiseBody> pointwise;
  std::optional<ReduceBody> reduce;
  std::optional<ScanBody> scan;
  std::optional<Formula> composite;
  // `foreach:` is a composite whose expression is that of one element of the
  // lists.
  bool is_foreach = false;
  std::optional<ViewBody> view;
  std::vector<DispatchItem> dispatch;

  std::optional<Promote> promote;
  std::vector<Formula> shape;  // index typing; one for each return
  std::vector<Formula> dtype;  // tensor typing, a ScalarType; one for each
  std::vector<Requirement> require;
  std::vector<DerivativeItem> derivative;
  // The reason that follows `none, because` (there are no items, and backward
  // throws) or `non_differentiable, because` (all items
  // are kNonDifferentiable, and a gradient stops). For results that are not
  // constant.
  std::optional<Text> no_derivative;
  std::vector<Form> forms;
  bool compiled = false;  // where: compiled_at
  Location compiled_at = {};
  bool device_check = true;
  bool device_guard = true;
  std::vector<Text> autogen;
  // Arguments that the operator writes although its signature, PyTorch's, does
  // not say so.
  std::vector<Text> writes;

  // Keys that few entries have (inplace_variants), and those of PyTorch that
  // are read and not used (structured, python_module …).
  std::vector<std::pair<Text, std::string>> other;
  Location at;

  const DerivativeItem* find_derivative(std::string_view argument) const;
  // "none, because …" as it was written; "" without a reason.
  std::string no_derivative_words() const;
  const Form* find_form(SchemaKind kind) const;
};

struct SchemaFile {
  std::string path;
  std::string text;
  std::vector<OperatorEntry> entries;
  // The signatures of entries that have errors, so that calls of them are no
  // errors too.
  std::vector<FunctionSchema> broken;
};

// Reads the text of a file; entries with errors are left out. All errors of a
// file are reported: syntax, keys, signatures, expressions' grammar, rules of
// the model (one kind, arguments that exist). The code that knows all operators
// checks types; check_types below does where one entry is enough.
SchemaFile read_schema(std::string text, std::string path,
                       Diagnostics& diagnostics);
SchemaFile read_schema_file(const std::string& path, Diagnostics& diagnostics);

// The element and index typings of an entry: pointwise, reduce, view, shape,
// require, and that each `auto` derivative exists.
void check_types(const OperatorEntry& entry, Diagnostics& diagnostics);

// Part of it: keys that contradict each other or are without effect, arguments
// that nothing uses, tensors that `derivative:` leaves out.
void check_rules(const OperatorEntry& entry, Diagnostics& diagnostics);

// Conditions of `require:` that exclude each other.
void check_contradictions(const OperatorEntry& entry, Diagnostics& diagnostics);

// Two entries that define one operator, in any of the files.
void check_duplicates(std::span<const SchemaFile> files,
                      Diagnostics& diagnostics);

// The names of `combine`'s sides and of `finish` for the element typing.
struct ElementEnv;
ElementEnv scan_env();
ElementEnv combine_env(const ReduceBody& body);
ElementEnv finish_env(const ReduceBody& body, const FunctionSchema& schema);

}  // namespace sy::lang
