#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/model_names.h"
#include "model/model.h"

// Operators in words, for reference pages and `sygen explain`.

namespace sy::codegen {

// A call of one of an operator's functions or methods.
struct ApiCall {
  std::string id;           // "mul_Tensor_method"
  std::string declaration;  // "Tensor& sy::mul_out(Tensor& out, …)"
  std::string result;       // "Tensor&"
  std::string parameters;   // of a function that makes the call
  std::string call;         // "sy::mul_out(out, self, other)"
  bool is_method = false;
};
// Defined beside what declares them, in functions.cpp.
std::vector<ApiCall> api_calls(const Operator& op);

// Arguments for words.h of a call that shows the operator, and the same call in
// C++; nothing if neither `example:` nor the signature says enough.
bool has_example(const Operator& op);
std::string example_words(const Operator& op);
std::optional<ApiCall> example_call(const Operator& op);

// "the arguments' dtype, integers and bool as the default one"
std::string promotion_text(const Operator& op);
// "that of the arguments, broadcast"
std::string shape_text(const Operator& op);
// The computation in words: "Each element" and its expression, "Made of" and a
// composite's, each `in these quotes`.
std::vector<std::pair<std::string, std::string>> meaning_texts(
    const Operator& op);
// Whether its gradient is that of the operators it calls.
bool is_composite(const Operator& op);
// The gradient by each argument as an expression, `auto` derived.
std::vector<std::pair<lang::Text, std::string>> derivative_texts(
    const Model& model, const Operator& op);
// "CPU" and what it runs, for each key.
std::vector<std::pair<std::string, std::string>> kernel_texts(
    const Model& model, const Operator& op);
// The engine that runs the operator on backends that have it.
std::optional<EngineKind> engine_of(const Operator& op);
// "sy::cpu::" of a key of `dispatch:`.
std::string kernel_namespace(const Model& model, std::string_view key);

}  // namespace sy::codegen
