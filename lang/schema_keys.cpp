#include "lang/schema_keys.h"

#include <algorithm>

namespace sy::lang {
namespace {

using enum SchemaKey::Origin;

// A key that is kept of PyTorch's files and has no meaning here.
constexpr SchemaKey unused(std::string_view name) {
  return {name, "any", "PyTorch's; read, not used.", kTorch};
}

constexpr SchemaKey kOperator[] = {
    {"func", "signature", "The signature, as in native_functions.yaml.",
     kShared},
    {"doc", "text", "The result, in a sentence."},
    {"example", "text", "Arguments of a call: 2x3 1 dim=0."},
    {"variants", "variants", "Function, method of Tensor, or both.", kShared},
    {"inplace_variants", "variants",
     "The variants of the in-place form, if it has others than usual."},
    {"tags", "tags", "Words of tags.yaml.", kShared},
    {"device_check", "device_check",
     "NoCheck: the arguments may lie on several devices.", kShared},
    {"device_guard", "bool",
     "False: kernels run with the current device as it is.", kTorch},
    {"compiled", "bool", "A loop of its own for a program of a few steps."},
    {"require", "require",
     "Conditions on the arguments, each with a message or without."},
    {"promote", "promote", "The dtype that elements are computed in."},
    {"shape", "expressions",
     "Sizes of each result, made before the kernel fills it."},
    {"dtype", "expressions", "The dtype of each result."},
    {"pointwise", "expressions", "One element of the result."},
    {"reduce", "reduce", "How elements become one."},
    {"scan", "scan", "How a running result takes the next element."},
    {"composite", "expression", "An expression of other operators."},
    {"foreach", "expression", "The same, for each element of lists."},
    {"view", "view", "Geometry of a view of self."},
    {"dispatch", "dispatch", "C++ functions by dispatch key.", kShared},
    {"derivative", "derivative",
     "The gradient by each Tensor: auto, a formula or non_differentiable; or "
     "'none, because …' or 'non_differentiable, because …'."},
    {"forms", "forms", "In-place and out= signatures that are not derived."},
    {"writes", "names",
     "Arguments that are written and not marked so in the signature."},
    {"autogen", "names", "Forms that PyTorch derives.", kTorch},
    unused("structured"),
    unused("structured_delegate"),
    unused("structured_inherits"),
    unused("precomputed"),
    unused("python_module"),
    unused("manual_kernel_registration"),
    unused("manual_cpp_binding"),
    unused("category_override"),
    unused("cpp_no_default_args"),
    unused("use_const_ref_for_mutable_tensors"),
    unused("ufunc_inner_loop"),
};

constexpr SchemaKey kReduce[] = {
    {"map", "expressions_by_name", "The accumulators of one element."},
    {"identity", "expressions_by_name", "The accumulators of none."},
    {"combine", "expressions_by_name", "Two sets, a and b, as one."},
    {"finish", "expressions", "The results, of the accumulators and n."},
    {"accumulate", "text", "The rule of the accumulators' dtype."},
};

constexpr SchemaKey kScan[] = {
    {"combine", "expression", "The result so far, a, and the next, b, as one."},
    {"choose", "expression", "Whether the next, b, takes the place of a."},
    {"accumulate", "text", "The rule of the running result's dtype."},
};

constexpr SchemaKey kView[] = {
    {"sizes", "expression", "Sizes of the view."},
    {"strides", "expression", "Its strides; those of a reshape if left out."},
    {"offset", "expression", "Its storage offset; self's if left out."},
};

constexpr SchemaKey kPromote[] = {
    {"rule", "promote_rule", "How the dtype follows from that of arguments."},
    {"args", "names", "The arguments that count; all if left out."},
};

constexpr SchemaKey kForms[] = {
    {"inplace", "form", "The in-place signature, or none."},
    {"out", "form", "The out= signature, or none."},
};

}  // namespace

std::span<const SchemaKey> operator_keys() { return kOperator; }
std::span<const SchemaKey> reduce_keys() { return kReduce; }
std::span<const SchemaKey> scan_keys() { return kScan; }
std::span<const SchemaKey> view_keys() { return kView; }
std::span<const SchemaKey> promote_keys() { return kPromote; }
std::span<const SchemaKey> form_keys() { return kForms; }

std::vector<std::string_view> names_of(std::span<const SchemaKey> keys) {
  std::vector<std::string_view> out;
  for (const SchemaKey& k : keys) out.push_back(k.name);
  return out;
}

const SchemaKey* find_key(std::string_view name) {
  const auto* key =
      std::find_if(std::begin(kOperator), std::end(kOperator),
                   [&](const SchemaKey& k) { return k.name == name; });
  return key == std::end(kOperator) ? nullptr : key;
}

std::size_t key_rank(std::string_view name) {
  const SchemaKey* key = find_key(name);
  return key ? static_cast<std::size_t>(key - kOperator) : std::size(kOperator);
}

}  // namespace sy::lang
