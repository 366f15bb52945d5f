#include "c10/dispatch/signature_check.h"

#include "c10/process/error.h"
#include "c10/schema/function_schema.h"

namespace sy {

const char* cpp_type_name(ArgCode c, bool is_result) {
  switch (c) {
    case ArgCode::Void: return "void";
    case ArgCode::Tensor: return is_result ? "Tensor" : "const Tensor&";
    case ArgCode::TensorRef: return "Tensor&";
    case ArgCode::OptTensor: return "const std::optional<Tensor>&";
    case ArgCode::TensorList:
      return is_result ? "std::vector<Tensor>" : "ArrayRef<Tensor>";
    case ArgCode::OptTensorList: return "ArrayRef<std::optional<Tensor>>";
    case ArgCode::Int: return "int64_t";
    case ArgCode::OptInt: return "std::optional<int64_t>";
    case ArgCode::IntList: return "IntArrayRef";
    case ArgCode::OptIntList: return "OptionalIntArrayRef";
    case ArgCode::Double: return "double";
    case ArgCode::OptDouble: return "std::optional<double>";
    case ArgCode::DoubleList: return "ArrayRef<double>";
    case ArgCode::OptDoubleList: return "std::optional<ArrayRef<double>>";
    case ArgCode::Bool: return "bool";
    case ArgCode::OptBool: return "std::optional<bool>";
    case ArgCode::BoolList: return "ArrayRef<bool>";
    case ArgCode::Scalar: return is_result ? "Scalar" : "const Scalar&";
    case ArgCode::OptScalar: return "const std::optional<Scalar>&";
    case ArgCode::ScalarList: return "ArrayRef<Scalar>";
    case ArgCode::String: return "std::string_view";
    case ArgCode::OptString: return "std::optional<std::string_view>";
    case ArgCode::StringList: return "ArrayRef<std::string_view>";
    case ArgCode::ScalarType: return "ScalarType";
    case ArgCode::OptScalarType: return "std::optional<ScalarType>";
    case ArgCode::Device: return "Device";
    case ArgCode::OptDevice: return "std::optional<Device>";
    case ArgCode::Layout: return "Layout";
    case ArgCode::OptLayout: return "std::optional<Layout>";
    case ArgCode::MemoryFormat: return "MemoryFormat";
    case ArgCode::OptMemoryFormat: return "std::optional<MemoryFormat>";
    case ArgCode::OptGenerator: return "std::optional<Generator>";
  }
  return "?";
}

bool same_signature(const CppSignature& a, const CppSignature& b) {
  if (&a == &b) return true;
  if (a.num_args != b.num_args || a.num_results != b.num_results) return false;
  for (int i = 0; i < a.num_args; ++i) {
    if (a.args[i] != b.args[i]) return false;
  }
  for (int i = 0; i < a.num_results; ++i) {
    if (a.results[i] != b.results[i]) return false;
  }
  return true;
}

std::string to_string(const CppSignature& s) {
  std::string out = "(";
  for (int i = 0; i < s.num_args; ++i) {
    out += str("{}{}", i > 0 ? ", " : "", cpp_type_name(s.args[i], false));
  }
  out += ") -> ";
  if (s.num_results == 0) return out + "void";
  if (s.num_results > 1) out += "(";
  for (int i = 0; i < s.num_results; ++i) {
    out += str("{}{}", i > 0 ? ", " : "", cpp_type_name(s.results[i], true));
  }
  return s.num_results > 1 ? out + ")" : out;
}

namespace {

// The parameter that a schema type asks for; Void if none is known.
ArgCode code_of(Type type, bool is_write) {
  const bool optional = type.is_optional();
  const Type t = type.without_optional();
  const auto pick = [&](ArgCode plain, ArgCode opt) {
    return optional ? opt : plain;
  };
  if (t.is_list()) {
    const Type e = t.element();
    switch (e.without_optional().kind()) {
      case TypeKind::kTensor:
        return e.is_optional() ? ArgCode::OptTensorList : ArgCode::TensorList;
      case TypeKind::kInt:
      case TypeKind::kSymInt:
        return pick(ArgCode::IntList, ArgCode::OptIntList);
      case TypeKind::kFloat:
        return pick(ArgCode::DoubleList, ArgCode::OptDoubleList);
      case TypeKind::kBool: return ArgCode::BoolList;
      case TypeKind::kScalar: return ArgCode::ScalarList;
      case TypeKind::kStr: return ArgCode::StringList;
      default: return ArgCode::Void;
    }
  }
  switch (t.kind()) {
    case TypeKind::kTensor:
      if (is_write && !optional) return ArgCode::TensorRef;
      return pick(ArgCode::Tensor, ArgCode::OptTensor);
    case TypeKind::kInt:
    case TypeKind::kSymInt:
    case TypeKind::kDeviceIndex: return pick(ArgCode::Int, ArgCode::OptInt);
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: return pick(ArgCode::Double, ArgCode::OptDouble);
    case TypeKind::kBool:
    case TypeKind::kSymBool: return pick(ArgCode::Bool, ArgCode::OptBool);
    case TypeKind::kScalar: return pick(ArgCode::Scalar, ArgCode::OptScalar);
    case TypeKind::kStr: return pick(ArgCode::String, ArgCode::OptString);
    case TypeKind::kScalarType:
      return pick(ArgCode::ScalarType, ArgCode::OptScalarType);
    case TypeKind::kDevice: return pick(ArgCode::Device, ArgCode::OptDevice);
    case TypeKind::kLayout: return pick(ArgCode::Layout, ArgCode::OptLayout);
    case TypeKind::kMemoryFormat:
      return pick(ArgCode::MemoryFormat, ArgCode::OptMemoryFormat);
    case TypeKind::kGenerator: return ArgCode::OptGenerator;
    default: return ArgCode::Void;
  }
}

std::string mismatch(const std::string& what, ArgCode expected, ArgCode got,
                     bool is_result) {
  return str("{}: expected {}, got {}", what,
             cpp_type_name(expected, is_result), cpp_type_name(got, is_result));
}

}  // namespace

std::string signature_mismatch(const CppSignature& kernel,
                               const FunctionSchema& schema) {
  const auto args = schema.arguments();
  const auto returns = schema.returns();
  if (kernel.num_args != args.size()) {
    return str("expected {} arguments for {}, got {}", args.size(),
               to_string(schema), int{kernel.num_args});
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const ArgCode expected = code_of(args[i].type, args[i].is_write());
    if (expected != ArgCode::Void && expected != kernel.args[i]) {
      return mismatch(str("argument {} '{}' ({})", i + 1, args[i].name.view(),
                          args[i].type.str()),
                      expected, kernel.args[i], false);
    }
  }
  if (kernel.num_results != returns.size()) {
    return str("expected {} results, got {}", returns.size(),
               int{kernel.num_results});
  }
  for (size_t i = 0; i < returns.size(); ++i) {
    const ArgCode expected =
        code_of(returns[i].type, returns[i].alias.is_write());
    if (expected != ArgCode::Void && expected != kernel.results[i]) {
      return mismatch(str("result {}", i + 1), expected, kernel.results[i],
                      true);
    }
  }
  return "";
}

std::string signature_mismatch(const CppSignature& kernel,
                               const CppSignature& expected) {
  if (same_signature(kernel, expected)) return "";
  return str("expected {}, got {}", to_string(expected), to_string(kernel));
}

}  // namespace sy
