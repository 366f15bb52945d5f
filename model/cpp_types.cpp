#include "model/cpp_types.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "lang/cpp_names.h"
#include "lang/cpp_text.h"
#include "lang/format.h"
#include "lang/tensor.h"

namespace sy::model {
namespace {

// The C++ type of a value, the same for parameters, elements and results.
std::string value_type(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInt:
    case TypeKind::kSymInt:
    case TypeKind::kDeviceIndex: return "int64_t";
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: return "double";
    case TypeKind::kBool:
    case TypeKind::kSymBool: return "bool";
    case TypeKind::kStr: return "std::string_view";
    case TypeKind::kScalarType: return "ScalarType";
    case TypeKind::kLayout: return "Layout";
    case TypeKind::kDevice: return "Device";
    case TypeKind::kMemoryFormat: return "MemoryFormat";
    case TypeKind::kGenerator: return "Generator";
    default: return "";
  }
}

bool is_int(TypeKind k) {
  return k == TypeKind::kInt || k == TypeKind::kSymInt;
}

std::string list_type(Type t) {
  const Type e = t.element();
  if (e == TypeKind::kTensor) return "TensorList";
  if (e.is_optional() && e.element() == TypeKind::kTensor) {
    return "ArrayRef<std::optional<Tensor>>";
  }
  if (is_int(e.kind())) return "IntArrayRef";
  if (e == TypeKind::kScalar) return "ArrayRef<Scalar>";
  const std::string element = value_type(e.kind());
  return element.empty() ? "" : fmt::format("ArrayRef<{}>", element);
}

std::string result_type(Type t, bool is_reference) {
  if (t == TypeKind::kTensor) return is_reference ? "Tensor&" : "Tensor";
  if (t == TypeKind::kScalar) return "Scalar";
  if (t.is_list() && t.element() == TypeKind::kTensor) {
    return "std::vector<Tensor>";
  }
  return value_type(t.kind());
}

// Whether a word that is the default names a Reduction: the argument's type has
// no words of its own.
bool is_reduction(const Argument& a) {
  const TypeKind kind = a.type.without_optional().kind();
  return kind != TypeKind::kScalarType && kind != TypeKind::kMemoryFormat &&
         kind != TypeKind::kLayout;
}

std::string identifier_default(const Argument& a, std::string_view text) {
  const TypeKind kind = a.type.without_optional().kind();
  if (kind == TypeKind::kScalarType) {
    std::string out = "k";
    out += static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return out + std::string(text.substr(1));
  }
  if (kind == TypeKind::kMemoryFormat) {
    return text == "contiguous_format" ? "MemoryFormat::Contiguous"
                                       : "MemoryFormat::Preserve";
  }
  if (is_reduction(a)) return fmt::format("Reduction::{}", text);
  return "Layout::Strided";
}

std::string list_default(const Argument& a, DefaultValue v) {
  std::string out = "{";
  if (v.is(DefaultValue::Kind::kList)) {
    for (std::size_t i = 0; i < v.items().size(); ++i) {
      out += (i ? ", " : "") + std::string(v.items()[i].str());
    }
    return out + "}";
  }
  // One value stands for every element of a list of fixed size.
  const int n = std::max(1, a.type.without_optional().size());
  for (int i = 0; i < n; ++i) out += (i ? ", " : "") + std::string(v.str());
  return out + "}";
}

}  // namespace

std::string parameter_type(const Argument& a) {
  const Type t = a.type;
  if (a.is_write() && t == TypeKind::kTensor) return "Tensor&";
  if (t == TypeKind::kTensor) return "const Tensor&";
  if (t == TypeKind::kScalar) return "const Scalar&";
  if (t.is_list()) return list_type(t);
  if (!t.is_optional()) return value_type(t.kind());
  const Type e = t.element();
  if (e == TypeKind::kTensor) return "const std::optional<Tensor>&";
  if (e == TypeKind::kScalar) return "const std::optional<Scalar>&";
  if (e.is_list() && is_int(e.element().kind())) return "OptionalIntArrayRef";
  const std::string inner = e.is_list() ? list_type(e) : value_type(e.kind());
  return inner.empty() ? "" : fmt::format("std::optional<{}>", inner);
}

std::string return_type(const FunctionSchema& s) {
  const auto returns = s.returns();
  if (returns.empty()) return "void";
  const auto one = [&](std::size_t i) {
    return result_type(returns[i].type, returns[i].alias.is_write());
  };
  if (returns.size() == 1) return one(0);
  std::string out = "std::tuple<";
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const std::string t = one(i);
    if (t.empty()) return "";
    out += (i ? ", " : "") + t;
  }
  return out + ">";
}

std::string default_text(const Argument& a) {
  const DefaultValue v = a.default_value;
  if (!v) return "";
  using Kind = DefaultValue::Kind;
  if (v.is_none()) return "std::nullopt";
  if (a.type.without_optional().is_list()) return list_default(a, v);
  switch (v.kind()) {
    case Kind::kBool: return v.as_bool() ? "true" : "false";
    case Kind::kInt: return lang::cpp_int(v.as_int());
    case Kind::kDouble: return lang::cpp_double(v.as_double());
    case Kind::kString: return lang::cpp_string(v.as_string());
    case Kind::kIdentifier: return identifier_default(a, v.as_string());
    default: return "{}";
  }
}

std::set<std::string> default_headers(const Argument& a) {
  const DefaultValue v = a.default_value;
  lang::Headers out;
  if (v.is(DefaultValue::Kind::kDouble)) lang::cpp_double(v.as_double(), out);
  if (v.is(DefaultValue::Kind::kIdentifier) && is_reduction(a)) {
    out.insert("aten/contract/reduction_kind.h");
  }
  return out;
}

std::string parameter_name(const Argument& a) {
  return lang::cpp_name(a.name.view());
}

std::string parameter(const Argument& a) {
  return fmt::format("{} {}", parameter_type(a), parameter_name(a));
}

std::vector<std::string> parameters(const FunctionSchema& s) {
  std::vector<std::string> out;
  for (const Argument& a : s.arguments()) out.push_back(parameter(a));
  return out;
}

std::vector<std::string> parameter_names(const FunctionSchema& s) {
  std::vector<std::string> out;
  for (const Argument& a : s.arguments()) out.push_back(parameter_name(a));
  return out;
}

std::string signature_type(const FunctionSchema& s) {
  std::string out = return_type(s) + '(';
  bool first = true;
  for (const Argument& a : s.arguments()) {
    out += (first ? "" : ", ") + parameter_type(a);
    first = false;
  }
  return out + ')';
}

std::string local_name(const FunctionSchema& s, std::string_view wanted) {
  const auto names = parameter_names(s);
  return lang::fresh_name(std::string(wanted), {names.begin(), names.end()});
}

ApiSignature api_signature(const FunctionSchema& s, bool is_method,
                           std::string_view no_default) {
  ApiSignature out;
  const auto args = s.arguments();
  const int options = lang::options_index(s);
  const int self = is_method ? s.self_index() : -1;
  const std::size_t outs = s.num_out();
  for (const Argument& a : s.out_arguments()) {
    out.parameters.push_back({parameter_type(a), parameter_name(a), ""});
  }
  for (int i = 0; i < static_cast<int>(args.size()); ++i) {
    const Argument& a = args[i];
    const std::string name = parameter_name(a);
    if (i == self) {
      out.call.push_back(a.is_write() ? "const_cast<Tensor&>(*this)" : "*this");
      continue;
    }
    if (options >= 0 && i >= options && i < options + 4) {
      constexpr std::string_view kReads[] = {
          "dtype_opt()", "layout_opt()", "device_opt()", "pinned_memory_opt()"};
      if (i == options) {
        std::string value = default_text(a);
        if (value == "std::nullopt") value = "{}";
        out.options = local_name(s, "options");
        out.parameters.push_back({"TensorOptions", out.options, value});
      }
      out.call.push_back(
          fmt::format("{}.{}", out.options, kReads[i - options]));
      continue;
    }
    const bool is_out = i >= static_cast<int>(args.size() - outs);
    if (!is_out) {
      out.parameters.push_back(
          {parameter_type(a), name,
           a.name == no_default ? std::string() : default_text(a)});
    }
    const bool format = !out.options.empty() && name == "memory_format";
    out.call.push_back(
        format ? fmt::format(
                     "memory_format ? memory_format : {}.memory_format_opt()",
                     out.options)
               : name);
  }
  // C++ allows no parameter without a default after one that has a default.
  bool droppable = false;
  for (auto p = out.parameters.rbegin(); p != out.parameters.rend(); ++p) {
    droppable = droppable || p->default_value.empty();
    if (droppable) p->default_value.clear();
  }
  return out;
}

std::string overload_id(const OperatorName& name) {
  std::string id(name.name.view());
  if (!name.overload.empty()) lang::append(id, "_{}", name.overload.view());
  if (id == "std") id += '_';  // a type of that name would hide the namespace
  return id;
}

}  // namespace sy::model
