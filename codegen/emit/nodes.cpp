#include "codegen/emit/nodes.h"

#include <algorithm>

#include "codegen/cpp_types.h"
#include "codegen/emit/programs.h"
#include "codegen/lang/cpp_names.h"

namespace sy::codegen {
namespace {

bool mentions(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string fused_id(const Operator& op, const DerivativePlan& plan,
                     const GradFormula& f) {
  const std::size_t argument = plan.arguments[f.targets[0]];
  return op.base.id + "_" +
         std::string(op.base.schema.arguments()[argument].name.view()) +
         "_grad";
}

// What a formula finds in its scope, by the names that C++ has for it.
std::set<std::string> names_in_scope(const Operator& op,
                                     const DerivativePlan& plan) {
  std::set<std::string> out = {"grad", "grads"};
  const FunctionSchema& s = op.base.schema;
  for (std::string& name : parameter_names(s)) out.insert(std::move(name));
  for (std::size_t i = 0; i < s.returns().size(); ++i) {
    out.insert(lang::cpp_name(result_name(s, i)));
  }
  for (const GradFormula& f : plan.formulas) {
    lang::add_bound_names(f.expr, out);
  }
  return out;
}

// A saved member as a variable of its own name.
std::string variable(const Saved& s, const std::set<std::string>& taken) {
  std::string member = s.cpp + "_";
  if (taken.contains(member)) member = "this->" + member;
  const std::string list = lang::fresh_name(s.cpp + "_list", taken);
  const std::string unpack = "(*this, \"" + s.name + "\");";
  switch (s.kind) {
    case Saved::kTensor:
      return "const Tensor " + s.cpp + " = " + member + ".unpack" + unpack;
    case Saved::kOptional:
      return "const std::optional<Tensor> " + s.cpp + " = " + member +
             ".unpack_optional" + unpack;
    case Saved::kList:
      return "const std::vector<Tensor> " + list + " = " + member + ".unpack" +
             unpack + "\nconst TensorList " + s.cpp + " = " + list + ";";
    case Saved::kMetaList:
      return "const ArrayRef<SavedMeta> " + s.cpp + " = " + member + ";";
    case Saved::kOptionalList:
      return "const auto " + list + " = " + member + ".unpack_optional" +
             unpack + "\nconst ArrayRef<std::optional<Tensor>> " + s.cpp +
             " = " + list + ";";
    case Saved::kMeta:
      return "const SavedMeta& " + s.cpp + " = " + member + ";";
    case Saved::kInts:
      return "const IntArrayRef " + s.cpp + " = " + member + ";";
    case Saved::kOptionalInts:
      return "const auto " + s.cpp + " = " + member +
             " ? OptionalIntArrayRef(IntArrayRef(*" + member +
             ")) : std::nullopt;";
    case Saved::kNumbers:
    case Saved::kBools: {
      const std::string element =
          s.type.substr(s.type.find('<') + 1,
                        s.type.find_first_of(",>") - s.type.find('<') - 1);
      return "const ArrayRef<" + element + "> " + s.cpp + "(" + member +
             ".data(), " + member + ".size());";
    }
    case Saved::kString:
      return "const std::string_view " + s.cpp + " = " + member + ";";
    case Saved::kOptionalString:
      return "const std::optional<std::string_view> " + s.cpp + " = " + member +
             ";";
    case Saved::kOptionalMeta:
    case Saved::kValue: break;
  }
  return "const auto& " + s.cpp + " = " + member + ";";
}

class NodeEmitter {
 public:
  NodeEmitter(Writer& w, const Operator& op, const DerivativePlan& plan,
              const CompiledPrograms& compiled)
      : w_(w),
        op_(op),
        plan_(plan),
        compiled_(compiled),
        taken_(names_in_scope(op, plan)) {
    std::set<std::string> members = taken_;
    for (const Saved& s : plan.saved) members.insert(s.cpp + "_");
    f_ = lang::fresh_name("f", members);
  }

  void run() {
    for (const GradFormula& f : plan_.formulas) {
      if (f.fused) program(f);
    }
    const std::string base =
        plan_.has_lists
            ? "NodeOfMany"
            : "NodeOf<" + std::to_string(plan_.arguments.size()) + ">";
    w_.gap();
    w_.line("// " + op_.base.name + "  " + op_.source);
    w_.line("struct " + node_name(op_) + " final : " + base + " {");
    w_.line("  void apply(GradFrame& " + f_ + ") override {");
    if (reads("grad") || by_geometry()) {
      w_.line("    const Tensor& grad = " + f_ + ".grad();");
    }
    if (several_results() && !plan_.uses_grads) {
      w_.line("    if (!grad.defined()) return;");
    }
    for (const GradFormula& f : plan_.formulas) {
      w_.include_all(f.code.headers);
      formula(f);
    }
    w_.line("  }");
    visit_saved();
    members();
    w_.line("};");
  }

 private:
  bool reads(std::string_view name) const {
    return std::any_of(
        plan_.formulas.begin(), plan_.formulas.end(),
        [&](const GradFormula& f) { return mentions(f.names, name); });
  }
  bool by_geometry() const {
    return std::any_of(plan_.formulas.begin(), plan_.formulas.end(),
                       [](const GradFormula& f) { return f.by_geometry; });
  }
  bool several_results() const { return op_.base.schema.returns().size() > 1; }

  void program(const GradFormula& f) {
    w_.gap();
    const std::string id = fused_id(op_, plan_, f);
    emit_pointwise_op(w_, id, fused_parts(op_, f), compiled_);
    w_.line("constinit FusedPointwise fused_" + id + "{" + id + "};");
  }

  void formula(const GradFormula& f) {
    const std::string asked = condition(f);
    const std::string pad(asked.empty() ? 4 : 6, ' ');
    if (!asked.empty()) w_.line("    if (" + asked + ") {");
    body(f, pad);
    if (!asked.empty()) w_.line("    }");
  }

  // Whether the formula is wanted and anything flows into it.
  std::string condition(const GradFormula& f) const {
    const auto numbers = [](const std::vector<std::size_t>& list) {
      std::vector<std::string> out;
      for (const std::size_t i : list) out.push_back(std::to_string(i));
      return join(out, ", ");
    };
    std::vector<std::string> parts;
    if (plan_.arguments.size() > 1) {
      parts.push_back(f_ + (f.targets.size() == 1 ? ".needs(" : ".needs_any(") +
                      numbers(f.targets) + ")");
    }
    const std::size_t n = op_.base.schema.returns().size();
    if (!f.results.empty() && f.results.size() < n &&
        !mentions(f.names, "grad")) {
      parts.push_back(f_ + ".has_any(" + numbers(f.results) + ")");
    }
    return join(parts, " && ");
  }

  void body(const GradFormula& f, const std::string& pad) {
    if (f.by_geometry) {
      w_.include("autograd/formulas.h");
      w_.line(pad + f_ + ".set(" + std::to_string(f.targets[0]) +
              ", as_strided_backward(grad, " + geometry_member(plan_, "self") +
              ", " + geometry_member(plan_, "view") + "));");
      return;
    }
    if (!f.results.empty()) {
      w_.line(pad + "const GradFrame& grads = " + f_ + ";");
    } else if (mentions(f.names, "grads")) {
      w_.line(pad + "const auto grads = " + f_ + ".grads();");
    }
    if (!f.own.empty()) {
      const std::string k = std::to_string(f.targets[0]);
      w_.line(pad + "const SavedMeta& " + lang::cpp_name(f.own) + " = " + f_ +
              ".argument(" + k + ");");
    }
    for (const Saved& s : plan_.saved) {
      if (mentions(f.names, s.name) && s.name != f.own) {
        w_.block(variable(s, taken_), static_cast<int>(pad.size()));
      }
    }
    if (f.fused) return fused(f, pad);
    for (const std::string& s : f.code.statements) w_.line(pad + s);
    set(f, pad, f.code.value);
  }

  void set(const GradFormula& f, const std::string& pad,
           const std::string& value) {
    if (f.targets.size() == 1) {
      const std::string k = std::to_string(f.targets[0]);
      const Type t =
          op_.base.schema.arguments()[plan_.arguments[f.targets[0]]].type;
      const bool list = t.without_optional().is_list();
      w_.line(pad + f_ + (list ? ".set_list(" : ".set(") + k + ", " + value +
              ");");
      return;
    }
    const std::string all = lang::fresh_name("gradients", taken_);
    w_.line(pad + "auto " + all + " = " + value + ";");
    for (std::size_t i = 0; i < f.targets.size(); ++i) {
      w_.line(pad + f_ + ".set(" + std::to_string(f.targets[i]) +
              ", std::move(std::get<" + std::to_string(i) + ">(" + all +
              ")));");
    }
  }

  void fused(const GradFormula& f, const std::string& pad) {
    const lang::Program p = fused_parts(op_, f).program;
    std::vector<std::string> inputs;
    for (const lang::ProgramInput& in : p.inputs) {
      inputs.push_back("&" + lang::cpp_name(in.name));
    }
    std::string args = lang::fresh_name("inputs", taken_);
    w_.line(pad + "const TensorBase* const " + args + "[] = {" +
            join(inputs, ", ") + "};");
    const auto scalars = scalar_values(op_.base.schema, p.scalars);
    if (!scalars.empty()) {
      const std::string numbers = lang::fresh_name("scalars", taken_);
      w_.line(pad + "const Scalar " + numbers + "[] = {" + join(scalars, ", ") +
              "};");
      args += ", " + numbers;
    }
    w_.include("aten/backend/fused_pointwise.h");
    const std::string g = lang::fresh_name("g", taken_);
    w_.line(pad + "Tensor " + g + " = fused_" + fused_id(op_, plan_, f) + "({" +
            args + "});");
    w_.line(pad + "if (!" + g + ".defined()) {");
    for (const std::string& s : f.code.statements) w_.line(pad + "  " + s);
    w_.line(pad + "  " + g + " = " + f.code.value + ";");
    w_.line(pad + "}");
    set(f, pad, "std::move(" + g + ")");
  }

  void visit_saved() {
    std::vector<std::string> calls;
    for (const Saved& s : plan_.saved) {
      if (s.kind == Saved::kTensor || s.kind == Saved::kOptional ||
          s.kind == Saved::kList || s.kind == Saved::kOptionalList) {
        calls.push_back("v(\"" + s.name + "\", " + s.cpp + "_);");
      }
    }
    if (calls.empty()) return;
    w_.line("  void visit_saved(SavedVisitor& v) noexcept override {");
    for (const std::string& c : calls) w_.line("    " + c);
    w_.line("  }");
  }

  void members() {
    if (plan_.saved.empty() && !by_geometry()) return;
    w_.gap();
    if (by_geometry()) {
      w_.line("  Geometry " + geometry_member(plan_, "self") + ", " +
              geometry_member(plan_, "view") + ";");
    }
    for (const Saved& s : plan_.saved) {
      const bool number =
          s.kind == Saved::kValue &&
          (s.type == "int64_t" || s.type == "double" || s.type == "bool");
      if (s.kind == Saved::kBools) w_.include("<array>");
      w_.line("  " + s.type + ' ' + s.cpp + "_" +
              (s.kind == Saved::kBools ? "{}" : "") +
              (number ? (s.type == "bool" ? " = false;" : " = 0;") : ";"));
    }
  }

  Writer& w_;
  const Operator& op_;
  const DerivativePlan& plan_;
  const CompiledPrograms& compiled_;
  const std::set<std::string> taken_;
  std::string f_;  // the parameter of apply()
};

}  // namespace

std::string node_name(const Operator& op) {
  const bool internal = op.base.id.starts_with('_');
  return (internal ? "Internal" : "") + camel(op.base.id) +
         (op.base.schema.is_inplace() ? "InplaceBackward" : "Backward");
}

void emit_node(Writer& w, const Operator& op, const DerivativePlan& plan,
               const CompiledPrograms& compiled) {
  NodeEmitter(w, op, plan, compiled).run();
}

void emit_overwrite_node(Writer& w) {
  w.comment("Of operators that write to `self` what does not depend on it.");
  w.raw(
      "struct OverwriteBackward final : NodeOf<1> {\n"
      "  void apply(GradFrame& f) override {\n"
      "    f.set(0, sy::zeros_like(f.grad()));\n"
      "  }\n"
      "};\n\n");
}

bool has_result_saves(const DerivativePlan& plan) {
  return std::any_of(plan.saved.begin(), plan.saved.end(),
                     [](const Saved& s) { return s.is_result; }) ||
         std::any_of(plan.formulas.begin(), plan.formulas.end(),
                     [](const GradFormula& f) { return f.by_geometry; });
}

std::string geometry_member(const DerivativePlan& plan, std::string_view of) {
  std::set<std::string> taken;
  for (const Saved& s : plan.saved) taken.insert(s.cpp + "_");
  return lang::fresh_name(std::string(of) + "_", taken);
}

std::string if_needed(const DerivativePlan& plan, const Saved& s,
                      const std::string& node) {
  if (s.readers.size() == plan.arguments.size()) return "";
  std::vector<std::string> needs;
  for (const std::size_t r : s.readers) {
    needs.push_back(node + "->needs(" + std::to_string(r) + ")");
  }
  return "if (" + join(needs, " || ") + ") ";
}

void emit_saves(Writer& w, const DerivativePlan& plan,
                const std::string& written, const std::string& node) {
  for (const GradFormula& f : plan.formulas) {
    if (!f.by_geometry) continue;
    w.line("  " + node + "->" + geometry_member(plan, "self") +
           " = Geometry(*self.impl());");
  }
  for (const Saved& s : plan.saved) {
    if (s.is_result) continue;
    std::string condition = if_needed(plan, s, node);
    const std::string member = node + "->" + s.cpp + "_";
    std::string statement;
    switch (s.kind) {
      case Saved::kTensor:
        if (written.empty()) {
          statement = member + ".save(" + s.cpp + ");";
        } else if (s.cpp == written) {
          statement = member + ".save(clone_before_write(" + s.cpp + "));";
        } else {
          statement = "save_before_write(" +
                      join({member, s.cpp, written}, ", ") + ");";
        }
        break;
      case Saved::kOptional:
      case Saved::kList:
      case Saved::kOptionalList:
      case Saved::kMeta: statement = member + ".save(" + s.cpp + ");"; break;
      case Saved::kOptionalInts:
        condition = condition.empty()
                        ? "if (" + s.cpp + ") "
                        : condition.substr(0, condition.size() - 2) + " && " +
                              s.cpp + ") ";
        statement = member + ".emplace(*" + s.cpp + ");";
        if (s.readers.size() > 1 && condition.find("||") != std::string::npos) {
          condition = "if (" + s.cpp + ") ";
        }
        break;
      case Saved::kMetaList:
        statement = member + " = {" + s.cpp + ".begin(), " + s.cpp + ".end()};";
        break;
      case Saved::kOptionalMeta:
        condition = "if (" + s.cpp + " && " + s.cpp + "->defined()) ";
        statement = member + ".emplace(*" + s.cpp + ");";
        break;
      case Saved::kNumbers:
        statement =
            member + ".assign(" + s.cpp + ".begin(), " + s.cpp + ".end());";
        break;
      case Saved::kBools:
        w.include("<algorithm>");
        statement = "std::copy_n(" + s.cpp + ".begin(), " + member +
                    ".size(), " + member + ".begin());";
        break;
      case Saved::kOptionalString:
        condition = "if (" + s.cpp + ") ";
        statement = member + ".emplace(*" + s.cpp + ");";
        break;
      default: statement = member + " = " + s.cpp + ";";
    }
    w.line("  " + condition + statement);
  }
}

}  // namespace sy::codegen
