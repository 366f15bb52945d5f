#include "lang/cpp_names.h"

#include <algorithm>
#include <array>

namespace sy::lang {
namespace {

constexpr auto kKeywords = std::to_array<std::string_view>({
    "alignas",       "alignof",     "and",
    "and_eq",        "asm",         "auto",
    "bitand",        "bitor",       "bool",
    "break",         "case",        "catch",
    "char",          "char16_t",    "char32_t",
    "char8_t",       "class",       "co_await",
    "co_return",     "co_yield",    "compl",
    "concept",       "const",       "const_cast",
    "consteval",     "constexpr",   "constinit",
    "continue",      "decltype",    "default",
    "delete",        "do",          "double",
    "dynamic_cast",  "else",        "enum",
    "explicit",      "export",      "extern",
    "false",         "float",       "for",
    "friend",        "goto",        "if",
    "inline",        "int",         "long",
    "mutable",       "namespace",   "new",
    "noexcept",      "not",         "not_eq",
    "nullptr",       "operator",    "or",
    "or_eq",         "private",     "protected",
    "public",        "register",    "reinterpret_cast",
    "requires",      "return",      "short",
    "signed",        "sizeof",      "static",
    "static_assert", "static_cast", "struct",
    "switch",        "template",    "this",
    "thread_local",  "throw",       "true",
    "try",           "typedef",     "typeid",
    "typename",      "union",       "unsigned",
    "using",         "virtual",     "void",
    "volatile",      "wchar_t",     "while",
    "xor",           "xor_eq",
});

// Types, functions and macros that stand in generated code without a namespace.
// A function with a name that an argument might well have (`reduce`) is
// qualified where it meets one instead.
constexpr auto kReferred = std::to_array<std::string_view>({
    "ArrayRef",
    "AutoDispatchBelowAutograd",
    "Device",
    "Dims",
    "DispatchKeySet",
    "EOF",
    "Generator",
    "Geometry",
    "GradFrame",
    "INT64_MAX",
    "IntArrayRef",
    "Kernel",
    "Layout",
    "MemoryFormat",
    "NULL",
    "OperatorEntry",
    "OptionalIntArrayRef",
    "Reduction",
    "SavedInts",
    "SavedMeta",
    "SavedTensor",
    "SavedTensorList",
    "Scalar",
    "ScalarType",
    "Tensor",
    "TensorBase",
    "TensorList",
    "TensorOptions",
    "any_requires_grad",
    "as_numbers",
    "as_strided_backward",
    "assert",
    "below_autograd",
    "check_inplace",
    "check_pointwise",
    "check_pointwise_out",
    "check_reduce",
    "check_reduce_out",
    "check_reduce_outs",
    "check_same_device",
    "check_scan",
    "check_scan_outs",
    "clone_before_write",
    "errno",
    "handle",
    "inplace_requires_grad",
    "int64_t",
    "kBFloat16",
    "kBool",
    "kCPU",
    "kFloat16",
    "kFloat32",
    "kFloat64",
    "kInt16",
    "kInt32",
    "kInt64",
    "kInt8",
    "kLong",
    "kStrided",
    "kUInt8",
    "make_node",
    "make_view",
    "new_result",
    "prepare_out",
    "rebase_history",
    "reject_out",
    "set_history",
    "set_history_of_view",
    "set_history_views",
    "size_t",
    "skip_output",
    "store_inplace",
    "store_result",
    "uint32_t",
});

static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end()));
static_assert(std::is_sorted(kReferred.begin(), kReferred.end()));

}  // namespace

std::string cpp_name(std::string_view name) {
  const bool taken =
      std::binary_search(kKeywords.begin(), kKeywords.end(), name) ||
      std::binary_search(kReferred.begin(), kReferred.end(), name);
  return std::string(name) + (taken ? "_" : "");
}

std::string fresh_name(std::string wanted, const std::set<std::string>& taken) {
  while (taken.contains(wanted)) wanted += '_';
  return wanted;
}

void add_bound_names(const Expr& e, std::set<std::string>& out) {
  if (!e) return;
  if (e->kind == ExprKind::kLet || e->kind == ExprKind::kComprehension) {
    out.insert(cpp_name(e->name));
  }
  for (const Expr& c : e->children) add_bound_names(c, out);
}

}  // namespace sy::lang
