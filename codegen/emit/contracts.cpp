#include "codegen/emit/contracts.h"

#include <algorithm>

#include "codegen/emit/apart.h"
#include "codegen/model_names.h"
#include "lang/cpp_text.h"
#include "lang/format.h"
#include "model/cpp_types.h"
#include "model/form_plan.h"

namespace sy::codegen {
namespace {

using lang::OperatorKind;

// A statement without its line breaks.
std::string one_line(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      out += text[i];
      continue;
    }
    i = std::min(text.find_first_not_of(' ', i + 1), text.size()) - 1;
    if (i + 1 < text.size()) out += ' ';
  }
  return out;
}

// All tensors on one device; every tensor of a list defined.
void device_check(Writer& w, const Operator& op) {
  // The engines of the other kinds do this themselves.
  if (!op.entry->device_check || op.kind() != OperatorKind::kDispatch) return;
  std::vector<std::string> single;
  std::vector<std::string> lists;
  for (const Argument* a : op.tensor_arguments()) {
    const std::string name = parameter_name(*a);
    if (a->type == TypeKind::kTensor) {
      single.push_back("&" + name);
    } else if (a->type.is_optional() &&
               a->type.element() == TypeKind::kTensor) {
      single.push_back(fmt::format("{0} ? &*{0} : nullptr", name));
    } else if (a->type.is_list() && a->type.element() == TypeKind::kTensor) {
      lists.push_back(name);
    }
  }
  const std::string entry = entry_of(op.base);
  if (single.size() > 1) {
    const std::string tensors = local(op, "tensors");
    w.line("  const TensorBase* const {}[] = {{{}}};", tensors,
           join(single, ", "));
    w.line("  check_same_device({}, {}, {});", entry, tensors, single.size());
  }
  for (const std::string& name : lists) {
    const bool with = !single.empty() && single[0][0] == '&';
    w.line(R"(  generated::check_list({0}, "{1}", {1}, {2});)", entry, name,
           with ? single[0] : "nullptr");
  }
}

// The checks of the arguments that a form writes, beyond the contract.
void written_check(Writer& w, const Operator& op, const Overload& o) {
  const auto written = written_arguments(o);
  const std::string entry = entry_of(o);
  const std::string sizes = local(op, "sizes");
  if (op.is_structured() && o.schema.is_inplace()) {
    w.line("  generated::check_inplace_sizes({}, {}, {}[0]);", entry,
           written[0], sizes);
  }
  if (op.is_structured() && o.schema.is_out()) {
    for (std::size_t i = 0; i < written.size(); ++i) {
      w.include_all(result_headers(op));
      w.line("  prepare_out({}, {}, {}[{}], {}, {}.device());", entry,
             written[i], sizes, i, result_dtype(op, i), like_argument(op));
    }
    return;
  }
  for (const Argument& a : o.schema.arguments()) {
    if (!a.is_write()) continue;
    const std::string name = parameter_name(a);
    if (a.type.is_list()) {
      w.line(R"(  generated::check_list({0}, "{1}", {1}, nullptr);)", entry,
             name);
      const std::string each = local(op, "t");
      w.line("  for (const Tensor& {0} : {1}) {0}.impl()->bump_version(&{2});",
             each, name, entry);
    } else {
      w.line(R"(  generated::bump_version({0}, "{1}", {1});)", entry, name);
    }
  }
}

Rerun rerun(const Operator& op, const Overload& o) {
  return {o.id + "_guard", local(op, "k") + ", " + local(op, "keys") + ", ",
          ""};
}

void pointwise_check(Writer& w, const Operator& op, const Overload& o) {
  w.include("aten/engine/pointwise.h");
  const std::string args = pointwise_arguments(w, op);
  if (!o.schema.is_mutable()) {
    w.line("  check_pointwise({}, {});", descriptor(op), args);
    return;
  }
  const std::string out = written_arguments(o)[0];
  emit_pointwise_apart(w, op, o, rerun(op, o), args);
  w.line("  check_pointwise_out({}, {}, {}, {});", descriptor(op), args, out,
         o.schema.is_inplace());
  w.line("  {}.impl()->bump_version(&{});", out, entry_of(o));
}

// The checks of an engine with several results, or of `scan`.
void results_check(Writer& w, const Operator& op, const Overload& o,
                   const std::string& engine, const std::string& args) {
  w.include(fmt::format("aten/engine/{}.h", engine));
  if (!o.schema.is_mutable()) {
    w.line("  check_{}({}, {});", engine, descriptor(op), args);
    return;
  }
  w.line(outs_line(op, o));
  w.line("  check_{}_outs({}, {}, {});", engine, descriptor(op), args,
         local(op, "outs"));
  for (const std::string& name : written_arguments(o)) {
    w.line("  {}.impl()->bump_version(&{});", name, entry_of(o));
  }
}

void reduce_check(Writer& w, const Operator& op, const Overload& o) {
  w.include("aten/engine/reduce.h");
  const std::string args = reduce_arguments(w, op);
  if (op.base.schema.returns().size() > 1) {
    results_check(w, op, o, "reduce", args);
    return;
  }
  if (!o.schema.is_mutable()) {
    w.line("  check_reduce({}, {});", descriptor(op), args);
    return;
  }
  const std::string out = written_arguments(o)[0];
  w.line("  check_reduce_out({}, {}, {});", descriptor(op), args, out);
  w.line("  {}.impl()->bump_version(&{});", out, entry_of(o));
}

}  // namespace

std::string contract_head(const Operator& op) {
  std::string params = parameter_list(op.base.schema);
  if (op.is_structured()) params += ", Dims* " + local(op, "sizes");
  return fmt::format("void {}({})", op.base.id, params);
}

void emit_requirements(Writer& w, const Operator& op) {
  for (const Argument& a : op.base.schema.arguments()) {
    const int length = required_length(a);
    if (length == 0) continue;
    const std::string name = parameter_name(a);
    const bool optional = a.type.is_optional();
    w.line("  {}generated::check_list_size({}, {}, {}{}size(), {});",
           optional ? fmt::format("if ({}) ", name) : "",
           lang::cpp_string(op.base.name), lang::cpp_string(a.name.view()),
           name, optional ? "->" : ".", length);
  }
  for (const lang::RequireCode& r : op.contract.require) {
    w.include_all(r.condition.headers);
    lang::RequireCode plain = r;
    plain.condition.statements.clear();
    const std::string statement = one_line(lang::to_statement(plain, 0));
    if (r.condition.statements.empty()) {
      w.line("  {}", statement);
      continue;
    }
    w.line("  {");
    for (const std::string& s : r.condition.statements) w.block(s, 4);
    w.line("    {}", statement);
    w.line("  }");
  }
}

void emit_contract(Writer& w, const Operator& op) {
  Writer body;
  device_check(body, op);
  emit_requirements(body, op);
  for (std::size_t i = 0; i < op.contract.shape.size(); ++i) {
    define(body, fmt::format("{}[{}]", local(op, "sizes"), i),
           op.contract.shape[i]);
  }
  std::string params = parameter_list(op.base.schema, body.str());
  if (op.is_structured()) params += ", Dims* " + local(op, "sizes");
  w.gap();
  w.line(item_source(op));
  w.function(fmt::format("void {}({})", op.base.id, params), body.str());
  w.include_all(body.headers());
}

void emit_guard(Writer& w, const Operator& op, const Overload& o) {
  const std::string params = parameter_list(o.schema);
  const std::string args = argument_list(o.schema);
  w.gap();
  if (has_descriptor(op)) w.include(family_header(op, "_desc.h"));
  const std::string k = local(op, "k");
  const std::string keys = local(op, "keys");
  w.line("{} {}_guard(const Kernel* {}, DispatchKeySet {}{}) {{",
         return_type(o.schema), o.id, k, keys,
         params.empty() ? "" : fmt::format(", {}", params));
  if (inputs_apart(op, o) == InputsApart::kCopied) {
    emit_apart(w, o, rerun(op, o));
  }
  emit_outs_apart(w, o);
  if (has_contract(op) && contract_applies(op, o)) {
    if (op.is_structured()) {
      w.line("  Dims {}[{}];", local(op, "sizes"), op.contract.shape.size());
    }
    w.line("  {}", contract_call(op));
  }
  switch (op.kind()) {
    case OperatorKind::kPointwise: pointwise_check(w, op, o); break;
    case OperatorKind::kReduce: reduce_check(w, op, o); break;
    case OperatorKind::kScan:
      results_check(w, op, o, "scan", scan_arguments(op));
      break;
    default:
      if (contract_applies(op, o) || !op.is_structured()) {
        written_check(w, op, o);
      }
  }
  w.line("  return generated::call_guarded<ops::{}>({}, {}{});", o.id, k, keys,
         args.empty() ? "" : fmt::format(", {}", args));
  w.line("}");
}

}  // namespace sy::codegen
