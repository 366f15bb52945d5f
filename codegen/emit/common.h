#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/model_names.h"
#include "codegen/text.h"
#include "lang/program.h"
#include "model/model.h"

// Functions that several emitters share.

namespace sy::codegen {

// The name of a variable in the functions of all forms of `op`: `wanted`, or a
// name like it that no argument has.
std::string local(const Operator& op, std::string_view wanted);
// The call of a function of that namespace: "reduce", or "cpu::reduce" where an
// argument has its name.
std::string callee(const Operator& op, std::string_view ns,
                   std::string_view name);

// "// Generated from schemas/ops/a.yaml by sygen. Do not edit."
std::string banner(std::string_view path);
std::string banner(const Family& family);
// "backends/cpu/a.h": how a file of that folder is included.
std::string in_folder(const Backend& backend, const std::string& file);
// "backends/cpu/math_kernels_gen.h"
std::string kernels_header(const Backend& backend, const Family& family);
// Whether the backend's description lists an operator of the family.
bool lists(const Backend& backend, const Family& family, const Overload& o);
// The first line of an item: "// schemas/ops/a.yaml:12".
std::string item_source(const Operator& op);

// The namespace of the functions that users call: "sy", or "sy::mine" for
// operators mine::….
std::string api_namespace(const Family& family);
void open_namespace(Writer& w, std::string_view name);
void close_namespace(Writer& w, std::string_view name);
// #include lines, sorted; those of the standard library first.
void includes(Writer& w, const std::set<std::string>& headers);

// The headers of the functions of operators, "add.Tensor".
void include_operators(Writer& w, const Model& model,
                       const std::set<std::string>& operators);
// Declares these functions themselves, in namespace sy.
void declare_functions(Writer& w, const Model& model,
                       const std::set<std::string>& operators);
// "add" of "add.Tensor".
std::set<std::string> roots_of(const std::set<std::string>& operators);

// "AddTensor" of "add_Tensor".
std::string camel(std::string_view id);

// "const Tensor& self, const Scalar& alpha"
std::string parameter_list(const FunctionSchema& s);
std::string argument_list(const FunctionSchema& s);
// The same for a function of this body, which need not use all of them.
std::string parameter_list(const FunctionSchema& s, std::string_view body);
// Whether `name` occurs in `code` as a word.
bool uses_name(std::string_view code, std::string_view name);
// "HEAD = VALUE;" with the statements that the value needs in a scope of their
// own. A list becomes a Dims.
void define(Writer& w, const std::string& head, const lang::IndexCode& code);
// "Tensor mm_kernel(const Tensor& self, …) {"
void function_head(Writer& w, const Overload& o, std::string_view suffix);
// "ops::add_Tensor::entry()"
std::string entry_of(const Overload& o);

// "aten/ops/math_desc.h" of the operator's family and "_desc.h".
std::string family_header(const Operator& op, std::string_view suffix);

// Pointwise and reduce: the name of the descriptor, "desc::add_Tensor".
std::string descriptor(const Operator& op);
// The statement that calls contract::ID with the arguments of that id, if
// has_contract (model/form_plan.h).
std::string contract_call(const Operator& op);

// Statements that gather the arguments of a pointwise call in variables, and
// the braces that hold them: "{inputs, scalars}".
std::string pointwise_arguments(Writer& w, const Operator& op);
// "{&self, dim, keepdim, dtype}"
std::string reduce_arguments(Writer& w, const Operator& op);
// "{&self, dim, dtype}"
std::string scan_arguments(const Operator& op);
// "Tensor* const outs[] = {&values, &indices};"
std::string outs_line(const Operator& op, const Overload& o);
// The C++ of the scalars of a call: numbers, questions.
std::vector<std::string> scalar_values(
    const FunctionSchema& schema,
    const std::vector<lang::ScalarInput>& scalars);
// The expression of PointwiseArgs::absent; "" if none of its bits can be set.
std::string absent_mask(const FunctionSchema& schema,
                        const std::vector<lang::ScalarInput>& scalars);

// The dtype of result `i` of a structured operator, in terms of its arguments.
std::string result_dtype(const Operator& op, std::size_t i);
// The headers that these dtypes need.
lang::Headers result_headers(const Operator& op);
// Whether it is an element program, with a descriptor in namespace desc.
bool has_descriptor(const Operator& op);

// The first tensor among the arguments, lists included: tells where results are
// made.
std::string like_argument(const Operator& op);

// A call of the functional operator from one of its other forms: arguments that
// the form lacks come from the tensor that it writes. `instead`: the value that
// is passed for that tensor itself, if it is another.
std::string functional_call(Writer& w, const Operator& op, const Overload& form,
                            const std::string& instead = "");

// The names of the arguments that receive the results of an overload.
std::vector<std::string> written_arguments(const Overload& o);

// "return out;" of a form that returns what it wrote.
std::string return_written(const Overload& o);

}  // namespace sy::codegen
