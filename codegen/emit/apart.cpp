#include "codegen/emit/apart.h"

#include "codegen/cpp_types.h"
#include "lang/cpp_text.h"

namespace sy::codegen {
namespace {

// A tensor, an optional one, or a list of either.
bool holds_tensors(const Type& t) {
  if (t == TypeKind::kTensor) return true;
  if (t.is_optional()) return t.element() == TypeKind::kTensor;
  return t.is_list() && t.element().without_optional() == TypeKind::kTensor;
}

void call_again(Writer& w, const Overload& o, const std::string& function,
                const std::string& first, const std::string& condition,
                const char* replace, const std::string& outs) {
  std::vector<std::string> args;
  for (const Argument& a : o.schema.arguments()) {
    std::string given = parameter_name(a);
    const bool input = !is_target(o.schema, a) && !a.is_write();
    if (input && holds_tensors(a.type)) {
      given.insert(0, "(").insert(0, replace).insert(0, "generated::");
      given.append(", ").append(outs).append(")");
    }
    args.push_back(std::move(given));
  }
  w.include("aten/engine/apart.h");
  w.line("  if (SY_UNLIKELY(" + condition + ")) {");
  w.line("    return " + function + "(" + first + join(args, ", ") + ");");
  w.line("  }");
}

}  // namespace

void emit_apart(Writer& w, const Operator&, const Overload& o,
                const std::string& function, const std::string& first) {
  const std::string outs = join(written_arguments(o), ", ");
  std::vector<std::string> shared;
  for (const Argument& a : o.schema.arguments()) {
    if (is_target(o.schema, a) || a.is_write() || !holds_tensors(a.type)) {
      continue;
    }
    shared.push_back("generated::shares(" + parameter_name(a) + ", " + outs +
                     ")");
  }
  if (outs.empty() || shared.empty()) return;
  call_again(w, o, function, first, join(shared, " || "), "apart", outs);
}

void emit_pointwise_apart(Writer& w, const Operator& op, const Overload& o,
                          const std::string& function, const std::string& first,
                          const std::string& args) {
  const std::string out = written_arguments(o)[0];
  bool others = false;
  for (const Argument& a : o.schema.arguments()) {
    others |= !is_target(o.schema, a) && a.type == TypeKind::kTensor;
  }
  if (!others) return;
  const std::string inputs = local(op, "inputs");
  const std::string condition =
      "generated::shares_another(" + out + ", " + inputs + ", " +
      descriptor(op) + ".n_inputs) && reads_what_it_writes(" + descriptor(op) +
      ", " + args + ", " + out + ", " +
      (o.schema.is_inplace() ? "true" : "false") + ")";
  w.include("aten/engine/pointwise.h");
  call_again(w, o, function, first, condition, "another_apart", out);
}

void emit_outs_apart(Writer& w, const Overload& o) {
  std::vector<std::string> outs;
  for (const Argument& a : o.schema.arguments()) {
    if (!is_target(o.schema, a)) continue;
    if (a.type != TypeKind::kTensor) return;
    outs.push_back("&" + parameter_name(a));
  }
  w.include("aten/engine/apart.h");
  w.line("  generated::check_outs_apart(" + entry_of(o) + ", {" +
         join(outs, ", ") + "});");
}

}  // namespace sy::codegen
