#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "c10/schema/function_schema.h"

// Signatures in C++. No other file knows how to write them.

namespace sy::model {

// The type of a parameter: "const Tensor&", "std::optional<int64_t>". Empty if
// no C++ type is known for it.
std::string parameter_type(const Argument& a);
// "Tensor", "std::tuple<Tensor, Tensor>", "Tensor&", "void".
std::string return_type(const FunctionSchema& s);
// The literal after `=`; empty if there is none.
std::string default_text(const Argument& a);
// The headers that the literal needs: "aten/contract/reduction_kind.h".
std::set<std::string> default_headers(const Argument& a);

// The argument's name, or one like it that C++ can take (see lang/cpp_names.h).
std::string parameter_name(const Argument& a);
// The name of a variable of a function with these parameters: `wanted`, or a
// name like it that no parameter has.
std::string local_name(const FunctionSchema& s, std::string_view wanted);
// "const Tensor& self"
std::string parameter(const Argument& a);
// The parameters of all arguments, in the schema's order.
std::vector<std::string> parameters(const FunctionSchema& s);
std::vector<std::string> parameter_names(const FunctionSchema& s);
// "Tensor(const Tensor&, const Scalar&)"
std::string signature_type(const FunctionSchema& s);

// A parameter of the function or method that users call: dtype, layout, device
// and pin_memory are one `TensorOptions options`, results to write come first.
struct ApiParameter {
  std::string type;
  std::string name;
  std::string default_value;  // may be empty
};
struct ApiSignature {
  std::vector<ApiParameter> parameters;
  // The value passed on for each argument of the schema.
  std::vector<std::string> call;
  std::string options;  // the parameter of that type, or ""
};
// `no_default`: an argument whose default C++ must not know of, lest a call fit
// two overloads; or "".
ApiSignature api_signature(const FunctionSchema& s, bool is_method,
                           std::string_view no_default = {});

// "add_Tensor", "add__Tensor", "add_out": the name of code that belongs to the
// overload, as in at::_ops.
std::string overload_id(const OperatorName& name);

}  // namespace sy::model
