#include <algorithm>
#include <map>

#include "codegen/emit/common.h"
#include "codegen/emit/describe.h"
#include "codegen/emit/emit.h"
#include "codegen/model_names.h"
#include "model/cpp_types.h"

namespace sy::codegen {
namespace {

std::string parameter_text(const ApiSignature& api, bool defaults) {
  std::vector<std::string> out;
  for (const ApiParameter& p : api.parameters) {
    std::string text = fmt::format("{} {}", p.type, p.name);
    if (defaults && !p.default_value.empty()) text += " = " + p.default_value;
    out.push_back(std::move(text));
  }
  return join(out, ", ");
}

// "add" of add.Tensor, "add_out" of add.out.
std::string function_name(const Overload& o) {
  std::string name(o.schema.name().name.view());
  return o.schema.is_out() ? name + "_out" : name;
}

std::optional<std::string_view> other(const Operator& op,
                                      std::string_view wanted) {
  for (const auto& [key, value] : op.entry->other) {
    if (key.str() == wanted) return value;
  }
  return std::nullopt;
}

// Whether the entry says that an in-place form is a function, or a method.
std::optional<bool> told(const Operator& op, const Overload& o,
                         std::string_view variant) {
  if (&o == &op.base || o.schema.is_out()) return std::nullopt;
  const auto words = other(op, "inplace_variants");
  if (!words) return std::nullopt;
  return words->find(variant) != std::string_view::npos;
}

// In-place forms are functions too if they take little else: relu_(t), but not
// add_(t, u).
bool has_function(const Operator& op, const Overload& o) {
  if (&o == &op.base) {
    // Formulas call every functional operator as a function. An operator with
    // `variants: []` means the C++ function that has that name already.
    return op.entry->function_variant ||
           (op.entry->method_variant && op.is_functional());
  }
  if (const auto is = told(op, o, "function")) return *is;
  if (o.schema.is_out() || !op.entry->method_variant) return true;
  const auto args = o.schema.arguments();
  const auto required = std::count_if(
      args.begin(), args.end(),
      [](const Argument& a) { return !a.default_value && !a.kwarg_only; });
  return op.entry->function_variant && required <= 1;
}

bool has_method(const Operator& op, const Overload& o) {
  if (o.schema.is_out() || o.schema.self_index() < 0) return false;
  return told(op, o, "method").value_or(op.entry->method_variant);
}

// "call(…)", in with_options() for the options that go beyond the kernel.
std::string call_text(const Overload& o, const ApiSignature& api) {
  std::string call =
      fmt::format("ops::{}::call({})", o.id, join(api.call, ", "));
  const bool fresh = !api.options.empty() &&
                     return_type(o.schema) == "Tensor" &&
                     !o.schema.returns()[0].alias;
  if (fresh)
    call = fmt::format("generated::with_options({}, {})", call, api.options);
  return call;
}

// PyTorch's `cpp_no_default_args`, of one argument.
std::string_view no_default(const Operator& op) {
  return other(op, "cpp_no_default_args").value_or(std::string_view());
}

void function_declaration(Writer& w, const Operator& op, const Overload& o) {
  const ApiSignature api = api_signature(o.schema, false, no_default(op));
  for (const Argument& a : o.schema.arguments()) {
    w.include_all(default_headers(a));
  }
  w.line("SY_API {} {}({});", return_type(o.schema), function_name(o),
         parameter_text(api, true));
}

void function_declarations(Writer& w, const Operator& op) {
  const auto overloads = op.overloads();
  if (std::none_of(overloads.begin(), overloads.end(),
                   [&](const Overload* o) { return has_function(op, *o); })) {
    return;
  }
  w.gap();
  if (!op.entry->doc.empty()) w.comment(op.entry->doc);
  for (const Overload* o : overloads) {
    if (has_function(op, *o)) function_declaration(w, op, *o);
  }
}

void ops_struct(Writer& w, const Operator& op, const Overload& o) {
  w.gap();
  w.comment(to_string(o.schema));
  if (&o == &op.base) w.line(item_source(op));
  const std::string ret = return_type(o.schema);
  const std::string params = parameter_list(o.schema);
  w.lines(R"(struct {0} {{
  using Signature = {1};
  static constexpr const char* name = "{2}::{3}";
  SY_API static const OperatorEntry& entry();
  SY_API static {4} call({5});
  SY_API static {4} redispatch(DispatchKeySet {6}{7}{5});
}};
)",
          o.id, signature_type(o.schema), op.ns, o.name, ret, params,
          local_name(o.schema, "keys"), params.empty() ? "" : ", ");
}

void ops_bodies(Writer& w, const Overload& o) {
  const std::string ret = return_type(o.schema);
  const std::string params = parameter_list(o.schema);
  const std::string args = argument_list(o.schema);
  // Qualified: an argument may have the name of the operator.
  const std::string handle = fmt::format("handle<ops::{}>()", o.id);
  const auto body = [](const std::string& call) {
    return wrap(fmt::format("  return {};", call)) + '\n';
  };
  w.gap();
  w.function(fmt::format("const OperatorEntry& {}::entry()", o.id),
             body(handle + ".entry()"));
  w.gap();
  w.function(fmt::format("{} {}::call({})", ret, o.id, params),
             body(fmt::format("{}.call({})", handle, args)));
  w.gap();
  const std::string keys = local_name(o.schema, "keys");
  w.function(fmt::format("{} {}::redispatch(DispatchKeySet {}{})", ret, o.id,
                         keys, params.empty() ? "" : ", " + params),
             body(fmt::format("{}.redispatch({}{})", handle, keys,
                              args.empty() ? "" : ", " + args)));
}

void function_bodies(Writer& w, const Operator& op) {
  for (const Overload* o : op.overloads()) {
    const std::string ret = return_type(o->schema);
    const std::string name = function_name(*o);
    if (has_function(op, *o)) {
      const ApiSignature api = api_signature(o->schema, false);
      w.gap();
      w.function(
          fmt::format("{} {}({})", ret, name, parameter_text(api, false)),
          wrap(fmt::format("  return {};", call_text(*o, api))) + '\n');
    }
    if (has_method(op, *o)) {
      const ApiSignature api = api_signature(o->schema, true);
      w.gap();
      w.function(fmt::format("{} Tensor::{}({}) const", ret, name,
                             parameter_text(api, false)),
                 wrap(fmt::format("  return {};", call_text(*o, api))) + '\n');
    }
  }
}

std::string names_text(const ApiSignature& api) {
  std::vector<std::string> out;
  for (const ApiParameter& p : api.parameters) out.push_back(p.name);
  return join(out, ", ");
}

}  // namespace

std::vector<ApiCall> api_calls(const Operator& op) {
  std::vector<ApiCall> out;
  const std::string ns = op.ns == "aten" ? "sy::" : fmt::format("{}::", op.ns);
  for (const Overload* o : op.overloads()) {
    const std::string type = return_type(o->schema);
    const std::string name = function_name(*o);
    const ApiSignature api = api_signature(o->schema, false, no_default(op));
    const std::string parameters = parameter_text(api, false);
    if (has_function(op, *o)) {
      out.push_back({o->id,
                     fmt::format("{} {}{}({})", type, ns, name,
                                 parameter_text(api, true)),
                     type, parameters,
                     fmt::format("{}{}({})", ns, name, names_text(api)),
                     false});
    }
    if (has_method(op, *o)) {
      const ApiSignature method =
          api_signature(o->schema, true, no_default(op));
      out.push_back({o->id + "_method",
                     fmt::format("{} Tensor::{}({}) const", type, name,
                                 parameter_text(method, true)),
                     type, parameters,
                     fmt::format("self.{}({})", name, names_text(method)),
                     true});
    }
  }
  return out;
}

void declare_functions(Writer& w, const Model& model,
                       const std::set<std::string>& operators) {
  std::map<std::string, Writer> lines;  // by their text: in no file's order
  for (const std::string& name : roots_of(operators)) {
    const auto* known = model.named(name);
    if (known == nullptr) continue;
    for (const Operator* op : *known) {
      for (const Overload* o : op->overloads()) {
        if (op->ns != "aten" || !has_function(*op, *o)) continue;
        if (function_name(*o) != name) continue;
        Writer line;
        function_declaration(line, *op, *o);
        lines.emplace(line.str(), line);
      }
    }
  }
  if (lines.empty()) return;
  w.comment(
      "The functions that are called, declared here: another operator of their "
      "families is no reason to compile this again.");
  for (const auto& [text, line] : lines) w.add(line);
}

std::string emit_functions_header(const Model&, const Family& family) {
  Writer body;
  body.include("aten/tensor.h");
  for (const Operator& op : family.operators) function_declarations(body, op);
  Writer w;
  w.raw(banner(family));
  w.line("#pragma once");
  w.gap();
  includes(w, body.headers());
  const std::string ns = api_namespace(family);
  open_namespace(w, ns);
  w.gap();
  w.raw(body.str());
  close_namespace(w, ns);
  if (family.is_own()) {
    open_namespace(w, family.ns);
    w.line("using namespace {};", ns);
    w.line("}");
  }
  return w.str();
}

std::string emit_ops_header(const Model&, const Family& family) {
  Writer w;
  w.raw(banner(family));
  w.line("#pragma once");
  w.gap();
  includes(w, {"aten/tensor.h", "c10/dispatch/dispatcher.h"});
  open_namespace(w, "sy::ops");
  for (const Operator& op : family.operators) {
    for (const Overload* o : op.overloads()) ops_struct(w, op, *o);
  }
  close_namespace(w, "sy::ops");
  return w.str();
}

std::string emit_functions(const Model&, const Family& family) {
  Writer w;
  w.raw(banner(family));
  w.line(R"(#include "aten/ops/{}.h")", family.name);
  w.gap();
  includes(w, {"aten/engine/operator_steps.h",
               fmt::format("aten/ops/{}_ops.h", family.name)});
  open_namespace(w, "sy::ops");
  w.gap();
  w.line("using generated::handle;");
  for (const Operator& op : family.operators) {
    for (const Overload* o : op.overloads()) ops_bodies(w, *o);
  }
  close_namespace(w, "sy::ops");
  open_namespace(w, api_namespace(family));
  for (const Operator& op : family.operators) function_bodies(w, op);
  close_namespace(w, api_namespace(family));
  return w.str();
}

std::string emit_methods_header(const Model& model) {
  std::vector<std::pair<std::string, std::string>> methods;  // by name
  for (const Family& family : model.families()) {
    for (const Operator& op : family.operators) {
      for (const Overload* o : op.overloads()) {
        if (!has_method(op, *o)) continue;
        const ApiSignature api = api_signature(o->schema, true, no_default(op));
        const std::string name(o->schema.name().name.view());
        methods.emplace_back(
            name, wrap(fmt::format("{} {}({}) const;", return_type(o->schema),
                                   name, parameter_text(api, true))));
      }
    }
  }
  std::stable_sort(
      methods.begin(), methods.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  Writer w;
  w.line("// Generated from schemas/ops by sygen. Do not edit.");
  w.line("// The methods of class Tensor, which includes this.");
  w.gap();
  for (const auto& [name, line] : methods) w.raw(line + '\n');
  return w.str();
}

std::string emit_umbrella(const Model& model) {
  std::set<std::string> headers;
  for (const Family& family : model.families()) {
    headers.insert(fmt::format("aten/ops/{}.h", family.name));
  }
  Writer w;
  w.line("// Generated from schemas/ops by sygen. Do not edit.");
  w.line("#pragma once");
  w.gap();
  includes(w, headers);
  return w.str();
}

}  // namespace sy::codegen
