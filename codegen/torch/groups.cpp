#include "codegen/torch/groups.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "lang/format.h"

namespace sy::codegen::torch {
namespace {

constexpr std::string_view kFunctionalSuffix = "_functional";

// `name` and `_functional` of one base; of a view and its copy too if asked.
std::string base_name(const OperatorName& name, bool view_copy) {
  std::string base = name.functional_name();
  if (base.ends_with(kFunctionalSuffix)) {
    base.resize(base.size() - kFunctionalSuffix.size());
  }
  if (!view_copy) return base;
  if (base.ends_with("_copy")) {
    base.resize(base.size() - 5);
  } else if (base.ends_with("_scatter")) {
    base.replace(base.size() - 7, 7, "inverse");
  }
  return base;
}

bool is_type(Type type, TypeKind kind) {
  return type.without_optional() == kind;
}

bool is_returned(const FunctionSchema& s, const Argument& a) {
  return std::any_of(s.returns().begin(), s.returns().end(),
                     [&](const Return& r) { return r.alias == a.alias; });
}

// Arguments that a functional form gives back instead of writing them: self,
// out arguments, the others.
std::vector<const Argument*> written_arguments(const FunctionSchema& s) {
  const auto rank = [](const Argument& a) {
    if (!a.kwarg_only && a.name == "self") return 0;
    return a.is_out() ? 1 : 2;
  };
  std::vector<const Argument*> out;
  for (int wanted = 0; wanted < 3; ++wanted) {
    for (const Argument& a : s.arguments()) {
      if (a.is_write() && rank(a) == wanted && !is_returned(s, a) &&
          (!a.kwarg_only || a.is_out())) {
        out.push_back(&a);
      }
    }
  }
  return out;
}

// The arguments a functional form has: none that is written to.
std::vector<Argument> functional_arguments(const FunctionSchema& s) {
  const auto all = s.arguments();
  const std::size_t options = tensor_options(all);
  std::vector<Argument> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is_out() || (i >= options && i < options + 4)) continue;
    out.push_back(all[i]);
    out.back().alias = {};
  }
  return out;
}

OperatorName renamed(const OperatorName& name, const std::string& base,
                     const std::string& overload) {
  return {name.ns, InternedString(base), InternedString(overload)};
}

OperatorName out_name(const OperatorName& name) {
  const std::string overload(name.overload.view());
  return renamed(name, base_name(name, false),
                 overload.empty() ? "out" : overload + "_out");
}

// Out arguments for the tensors among the returns, and the returns with them.
void add_outs(const FunctionSchema& s, std::vector<Argument>& arguments,
              std::vector<Return>& returns) {
  AliasSet used;
  for (const Argument& a : s.arguments()) used = used | a.alias.before();
  std::vector<AliasSet> letters;
  for (char c = 'a'; c <= 'z'; ++c) {
    if (!used.intersects(AliasSet::of(c))) letters.push_back(AliasSet::of(c));
  }
  const auto all = s.returns();
  const bool plain = std::all_of(all.begin(), all.end(), [](const Return& r) {
    return r.type == TypeKind::kTensor;
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].type.is_tensor_like()) {
      returns.push_back(all[i]);
      continue;
    }
    const AliasInfo alias(letters[std::min(i, letters.size() - 1)], true);
    const std::string name = all.size() == 1 ? "out" : fmt::format("out{}", i);
    arguments.push_back(
        {InternedString(name), all[i].type, alias, {}, /*kwarg_only=*/true});
    if (plain) returns.push_back({InternedString(), all[i].type, alias});
  }
}

// Names that PyTorch itself excepts: their signatures do not match those of
// their other forms.
bool is_apart(const NativeFunction& f) {
  constexpr std::string_view kApart[] = {
      "adaptive_avg_pool3d_backward."
      "grad_input",
      "_slow_conv2d_backward.grad_input", "polygamma_"};
  return std::find(std::begin(kApart), std::end(kApart), f.name()) !=
         std::end(kApart);
}

bool has_tensor_return(const FunctionSchema& s) {
  return std::any_of(s.returns().begin(), s.returns().end(),
                     [](const Return& r) { return r.type.is_tensor_like(); });
}

// The function that the missing forms are made from.
const NativeFunction* base_of(const Group& g) {
  for (const Variant v : {Variant::kMutable, Variant::kInplace, Variant::kOut,
                          Variant::kFunctional}) {
    if (const NativeFunction* f = g.get(v)) return f;
  }
  return nullptr;
}

bool gets_forms(const Group& g) {
  const auto members = g.members();
  const auto all = [&](auto predicate) {
    return std::all_of(members.begin(), members.end(), predicate);
  };
  if (!base_of(g) || g.has_view()) return false;
  if (all([](const auto* f) { return f->manual_cpp_binding; })) return false;
  const bool core = !all([](const auto* f) { return !f->has_tag("core"); });
  if (!core && all([](const auto* f) { return f->is_composite_implicit(); })) {
    return false;
  }
  if (g.get(Variant::kOut) && g.size() == 1) return false;
  const NativeFunction* inplace = g.get(Variant::kInplace);
  return !inplace || !is_apart(*inplace);
}

NativeFunction generated(const NativeFunction& from, FunctionSchema schema) {
  NativeFunction f(std::move(schema));
  f.func = Text(to_string(f.schema), from.func.start());
  f.at = from.at;
  f.generated = true;
  f.device_guard = f.device_check = false;
  return f;
}

}  // namespace

std::size_t tensor_options(std::span<const Argument> arguments) {
  constexpr std::pair<std::string_view, TypeKind> kOptions[] = {
      {"dtype", TypeKind::kScalarType},
      {"layout", TypeKind::kLayout},
      {"device", TypeKind::kDevice},
      {"pin_memory", TypeKind::kBool}};
  for (std::size_t i = 0; i + 4 <= arguments.size(); ++i) {
    bool all = arguments[i].kwarg_only;
    for (std::size_t k = 0; all && k < 4; ++k) {
      const Argument& a = arguments[i + k];
      all = a.name == kOptions[k].first && is_type(a.type, kOptions[k].second);
    }
    if (all) return i;
  }
  return arguments.size();
}

std::string group_key(const FunctionSchema& s, bool view_copy) {
  std::string key(s.name().ns.view());
  key += ':';
  key += base_name(s.name(), view_copy);
  const std::size_t options = tensor_options(s.arguments());
  // Its in-place form alone has a default for the probability.
  const bool bernoulli =
      s.name().name == "bernoulli" && s.name().overload == "p";
  bool keyword = false;
  for (std::size_t i = 0; i < s.arguments().size(); ++i) {
    const Argument& a = s.arguments()[i];
    if (a.is_out() || (i >= options && i < options + 4)) continue;
    if (a.kwarg_only && !keyword) key += ",*";
    keyword |= a.kwarg_only;
    key += ',';
    key += a.type.str();
    key += ' ';
    key += a.name.view();
    if (a.default_value) {
      key += '=';
      key += a.default_value.str();
    } else if (bernoulli && a.name == "p") {
      key += "=0.5";
    }
  }
  key += ")";
  for (const Return& r : s.returns()) {
    key += r.type.str();
    key += ',';
  }
  for (const Argument* a : written_arguments(s)) {
    key += a->type.str();
    key += ',';
  }
  return key;
}

std::size_t Group::size() const {
  return static_cast<std::size_t>(
      std::count_if(forms.begin(), forms.end(),
                    [](const NativeFunction* f) { return f != nullptr; }));
}

std::vector<const NativeFunction*> Group::members() const {
  std::vector<const NativeFunction*> out;
  for (const NativeFunction* f : forms) {
    if (f) out.push_back(f);
  }
  return out;
}

// set_ counts as a function that writes, for all that it changes a view.
bool Group::has_view() const {
  return std::any_of(forms.begin(), forms.end(), [](const NativeFunction* f) {
    return f && f->schema.name().name != "set_" && f->is_view();
  });
}

std::vector<Group> group_functions(std::span<const NativeFunction> functions) {
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> known;
  known.reserve(functions.size());
  for (const NativeFunction& f : functions) {
    if (f.signature_broken) continue;
    const auto [it, inserted] =
        known.try_emplace(group_key(f.schema), groups.size());
    if (inserted) groups.emplace_back();
    Group& group = groups[it->second];
    auto& form = group.forms[static_cast<std::size_t>(variant_of(f.schema))];
    if (form) {
      group.surplus.push_back(&f);
    } else {
      form = &f;
    }
  }
  return groups;
}

FunctionSchema torch_out_form(const FunctionSchema& s) {
  std::vector<Argument> arguments(s.arguments().begin(), s.arguments().end());
  std::vector<Return> returns;
  if (s.is_inplace()) {
    const int self = std::max(s.self_index(), 0);
    Argument out = arguments[static_cast<std::size_t>(self)];
    arguments[static_cast<std::size_t>(self)].alias = {};
    out.name = InternedString("out");
    out.default_value = {};
    out.kwarg_only = true;
    arguments.push_back(out);
    returns.assign(s.returns().begin(), s.returns().end());
  } else {
    if (s.is_functional()) arguments = functional_arguments(s);
    add_outs(s, arguments, returns);
  }
  return FunctionSchema(out_name(s.name()), std::move(arguments),
                        std::move(returns));
}

FunctionSchema torch_functional_form(const FunctionSchema& s) {
  std::vector<Return> returns;
  for (const Return& r : s.returns()) returns.push_back({r.name, r.type, {}});
  for (const Argument* a : written_arguments(s)) {
    const std::string name = fmt::format("{}_out", a->name.view());
    returns.push_back({InternedString(name), a->type, {}});
  }
  std::string base = base_name(s.name(), false);
  if (variant_of(s) == Variant::kMutable) base += kFunctionalSuffix;
  return FunctionSchema(
      renamed(s.name(), base, std::string(s.name().overload.view())),
      functional_arguments(s), std::move(returns));
}

std::vector<NativeFunction> generate_functions(std::span<const Group> groups) {
  std::vector<NativeFunction> out;
  for (const Group& g : groups) {
    if (!gets_forms(g)) continue;
    const NativeFunction& base = *base_of(g);
    const Variant variant = variant_of(base.schema);
    const bool asked = std::any_of(
        base.autogen.begin(), base.autogen.end(),
        [](const Text& t) { return t.str().find("out") != std::string::npos; });
    const bool has_out = g.get(Variant::kOut) != nullptr;
    const bool gets_out =
        !has_out && asked &&
        (variant == Variant::kInplace || has_tensor_return(base.schema));
    if (gets_out) out.push_back(generated(base, torch_out_form(base.schema)));
    if (!g.get(Variant::kFunctional) && (has_out || gets_out)) {
      out.push_back(generated(base, torch_functional_form(base.schema)));
    }
  }
  return out;
}

}  // namespace sy::codegen::torch
