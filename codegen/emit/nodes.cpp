#include "codegen/emit/nodes.h"

#include <algorithm>

#include "codegen/emit/programs.h"
#include "codegen/model_names.h"
#include "lang/cpp_names.h"
#include "lang/format.h"
#include "model/cpp_types.h"

namespace sy::codegen {
namespace {

bool mentions(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string fused_id(const Operator& op, const DerivativePlan& plan,
                     const GradFormula& f) {
  const std::size_t argument = plan.arguments[f.targets[0]];
  return fmt::format("{}_{}_grad", op.base.id,
                     op.base.schema.arguments()[argument].name.view());
}

// The C++ names in a formula's scope.
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
std::string variable(const Saved& s, const std::set<std::string>& taken,
                     bool changes = false) {
  std::string member = s.cpp + "_";
  if (taken.contains(member)) member = "this->" + member;
  const std::string list = lang::fresh_name(s.cpp + "_list", taken);
  const std::string unpack = fmt::format(R"((*this, "{}");)", s.name);
  switch (s.kind) {
    case Saved::kTensor:
      return fmt::format("{}Tensor {} = {}.unpack{}", changes ? "" : "const ",
                         s.cpp, member, unpack);
    case Saved::kOptional:
      return fmt::format(
          "const std::optional<Tensor> {} = {}.unpack_optional{}", s.cpp,
          member, unpack);
    case Saved::kList:
      return fmt::format(
          "const std::vector<Tensor> {0} = {1}.unpack{2}\n"
          "const TensorList {3} = {0};",
          list, member, unpack, s.cpp);
    case Saved::kMetaList:
      return fmt::format("const ArrayRef<SavedMeta> {} = {};", s.cpp, member);
    case Saved::kOptionalList:
      return fmt::format(
          "const auto {0} = {1}.unpack_optional{2}\n"
          "const ArrayRef<std::optional<Tensor>> {3} = {0};",
          list, member, unpack, s.cpp);
    case Saved::kMeta:
      return fmt::format("const SavedMeta& {} = {};", s.cpp, member);
    case Saved::kInts:
      return fmt::format("const IntArrayRef {} = {};", s.cpp, member);
    case Saved::kOptionalInts:
      return fmt::format(
          "const auto {0} = {1} ? OptionalIntArrayRef(IntArrayRef(*{1})) : "
          "std::nullopt;",
          s.cpp, member);
    case Saved::kNumbers:
    case Saved::kBools: {
      const std::string element =
          s.type.substr(s.type.find('<') + 1,
                        s.type.find_first_of(",>") - s.type.find('<') - 1);
      return fmt::format("const ArrayRef<{0}> {1}({2}.data(), {2}.size());",
                         element, s.cpp, member);
    }
    case Saved::kString:
      return fmt::format("const std::string_view {} = {};", s.cpp, member);
    case Saved::kOptionalString:
      return fmt::format("const std::optional<std::string_view> {} = {};",
                         s.cpp, member);
    case Saved::kOptionalMeta:
    case Saved::kValue: break;
  }
  return fmt::format("const auto& {} = {};", s.cpp, member);
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
        plan_.has_lists ? "NodeOfMany"
                        : fmt::format("NodeOf<{}>", plan_.arguments.size());
    w_.gap();
    w_.line("// {}  {}", op_.base.name, op_.source);
    w_.line("struct {} final : {} {{", node_name(op_), base);
    w_.line("  void apply(GradFrame& {}) override {{", f_);
    if (reads("grad") || by_geometry()) {
      w_.line("    const Tensor& grad = {}.grad();", f_);
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
    w_.line("constinit FusedPointwise fused_{0}{{{0}}};", id);
  }

  void formula(const GradFormula& f) {
    const std::string asked = condition(f);
    const std::string pad(asked.empty() ? 4 : 6, ' ');
    if (!asked.empty()) w_.line("    if ({}) {{", asked);
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
      parts.push_back(fmt::format("{}.{}({})", f_,
                                  f.targets.size() == 1 ? "needs" : "needs_any",
                                  numbers(f.targets)));
    }
    const std::size_t n = op_.base.schema.returns().size();
    if (!f.results.empty() && f.results.size() < n &&
        !mentions(f.names, "grad")) {
      parts.push_back(fmt::format("{}.has_any({})", f_, numbers(f.results)));
    }
    return join(parts, " && ");
  }

  void body(const GradFormula& f, const std::string& pad) {
    if (f.by_geometry) {
      w_.include("autograd/formulas.h");
      w_.line("{}{}.set({}, as_strided_backward(grad, {}, {}));", pad, f_,
              f.targets[0], geometry_member(plan_, "self"),
              geometry_member(plan_, "view"));
      return;
    }
    if (!f.results.empty()) {
      w_.line("{}const GradFrame& grads = {};", pad, f_);
    } else if (mentions(f.names, "grads")) {
      w_.line("{}const auto grads = {}.grads();", pad, f_);
    }
    if (!f.own.empty()) {
      const std::string k = std::to_string(f.targets[0]);
      w_.line("{}const SavedMeta& {} = {}.argument({});", pad,
              lang::cpp_name(f.own), f_, k);
    }
    const std::set<std::string> numbers = used_as_numbers(f);
    for (const Saved& s : plan_.saved) {
      if (mentions(f.names, s.name) && s.name != f.own) {
        w_.block(variable(s, taken_, numbers.contains(s.cpp)),
                 static_cast<int>(pad.size()));
      }
    }
    if (f.fused) return fused(f, numbers, pad);
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
      w_.line("{}{}.{}({}, {});", pad, f_, list ? "set_list" : "set", k, value);
      return;
    }
    const std::string all = lang::fresh_name("gradients", taken_);
    w_.line("{}auto {} = {};", pad, all, value);
    for (std::size_t i = 0; i < f.targets.size(); ++i) {
      w_.line("{}{}.set({}, std::move(std::get<{}>({})));", pad, f_,
              f.targets[i], i, all);
    }
  }

  // The saved arguments that the program uses as numbers and that may be truth
  // values. An argument with a gradient is no truth value.
  std::set<std::string> used_as_numbers(const GradFormula& f) const {
    std::set<std::string> out;
    if (!f.fused || !mentions(f.names, "grad")) return out;
    for (const lang::ProgramInput& in : fused_parts(op_, f).program.inputs) {
      const int argument = op_.base.schema.argument_index(in.name);
      const bool has_grad =
          std::any_of(f.targets.begin(), f.targets.end(), [&](std::size_t t) {
            return static_cast<int>(plan_.arguments[t]) == argument;
          });
      if (has_grad || in.reg_class != lang::RegClass::kValue) continue;
      for (const Saved& s : plan_.saved) {
        if (s.name == in.name && s.kind == Saved::kTensor && !s.is_result) {
          out.insert(s.cpp);
        }
      }
    }
    return out;
  }

  void fused(const GradFormula& f, const std::set<std::string>& numbers,
             const std::string& pad) {
    const lang::Program p = fused_parts(op_, f).program;
    std::vector<std::string> inputs;
    for (const lang::ProgramInput& in : p.inputs) {
      inputs.push_back("&" + lang::cpp_name(in.name));
    }
    std::string args = lang::fresh_name("inputs", taken_);
    w_.line("{}const TensorBase* const {}[] = {{{}}};", pad, args,
            join(inputs, ", "));
    const auto scalars = scalar_values(op_.base.schema, p.scalars);
    if (!scalars.empty()) {
      const std::string numbers = lang::fresh_name("scalars", taken_);
      w_.line("{}const Scalar {}[] = {{{}}};", pad, numbers,
              join(scalars, ", "));
      args += ", " + numbers;
    }
    w_.include("aten/backend/fused_pointwise.h");
    const std::string g = lang::fresh_name("g", taken_);
    w_.line("{}Tensor {} = fused_{}({{{}}});", pad, g, fused_id(op_, plan_, f),
            args);
    w_.line("{}if (!{}.defined()) {{", pad, g);
    if (!numbers.empty()) w_.include("autograd/formulas.h");
    for (const std::string& n : numbers) {
      w_.line("{}  {} = as_numbers({}, grad);", pad, n, n);
    }
    for (const std::string& s : f.code.statements) w_.line("{}  {}", pad, s);
    w_.line("{}  {} = {};", pad, g, f.code.value);
    w_.line("{}}}", pad);
    set(f, pad, fmt::format("std::move({})", g));
  }

  void visit_saved() {
    std::vector<std::string> calls;
    for (const Saved& s : plan_.saved) {
      if (s.kind == Saved::kTensor || s.kind == Saved::kOptional ||
          s.kind == Saved::kList || s.kind == Saved::kOptionalList) {
        calls.push_back(fmt::format(R"(v("{}", {}_);)", s.name, s.cpp));
      }
    }
    if (calls.empty()) return;
    w_.line("  void visit_saved(SavedVisitor& v) noexcept override {");
    for (const std::string& c : calls) w_.line("    {}", c);
    w_.line("  }");
  }

  void members() {
    if (plan_.saved.empty() && !by_geometry()) return;
    w_.gap();
    if (by_geometry()) {
      w_.line("  Geometry {}, {};", geometry_member(plan_, "self"),
              geometry_member(plan_, "view"));
    }
    for (const Saved& s : plan_.saved) {
      const bool number =
          s.kind == Saved::kValue &&
          (s.type == "int64_t" || s.type == "double" || s.type == "bool");
      if (s.kind == Saved::kBools) w_.include("<array>");
      w_.line("  {} {}_{};", s.type, s.cpp,
              s.kind == Saved::kBools ? "{}"
              : !number               ? ""
              : s.type == "bool"      ? " = false"
                                      : " = 0");
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
  w.comment("The node of a write to `self` that does not depend on it.");
  w.raw(R"(struct OverwriteBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    f.set(0, sy::zeros_like(f.grad()));
  }
};

)");
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
  return lang::fresh_name(fmt::format("{}_", of), taken);
}

std::string if_needed(const DerivativePlan& plan, const Saved& s,
                      const std::string& node) {
  if (s.readers.size() == plan.arguments.size()) return "";
  std::vector<std::string> needs;
  for (const std::size_t r : s.readers) {
    needs.push_back(fmt::format("{}->needs({})", node, r));
  }
  return fmt::format("if ({}) ", join(needs, " || "));
}

void emit_saves(Writer& w, const DerivativePlan& plan,
                const std::string& written, const std::string& node) {
  for (const GradFormula& f : plan.formulas) {
    if (!f.by_geometry) continue;
    w.line("  {}->{} = Geometry(*self.impl());", node,
           geometry_member(plan, "self"));
  }
  for (const Saved& s : plan.saved) {
    if (s.is_result) continue;
    std::string condition = if_needed(plan, s, node);
    const std::string member = fmt::format("{}->{}_", node, s.cpp);
    std::string statement;
    switch (s.kind) {
      case Saved::kTensor:
        if (written.empty()) {
          statement = fmt::format("{}.save({});", member, s.cpp);
        } else if (s.cpp == written) {
          statement =
              fmt::format("{}.save(clone_before_write({}));", member, s.cpp);
        } else {
          statement = fmt::format("save_before_write({}, {}, {});", member,
                                  s.cpp, written);
        }
        break;
      case Saved::kOptional:
      case Saved::kList:
      case Saved::kOptionalList:
      case Saved::kMeta:
        statement = fmt::format("{}.save({});", member, s.cpp);
        break;
      case Saved::kOptionalInts:
        condition =
            condition.empty()
                ? fmt::format("if ({}) ", s.cpp)
                : fmt::format("{} && {}) ",
                              condition.substr(0, condition.size() - 2), s.cpp);
        statement = fmt::format("{}.emplace(*{});", member, s.cpp);
        if (s.readers.size() > 1 && condition.find("||") != std::string::npos) {
          condition = fmt::format("if ({}) ", s.cpp);
        }
        break;
      case Saved::kMetaList:
        statement =
            fmt::format("{0} = {{{1}.begin(), {1}.end()}};", member, s.cpp);
        break;
      case Saved::kOptionalMeta:
        condition = fmt::format("if ({0} && {0}->defined()) ", s.cpp);
        statement = fmt::format("{}.emplace(*{});", member, s.cpp);
        break;
      case Saved::kNumbers:
        statement =
            fmt::format("{0}.assign({1}.begin(), {1}.end());", member, s.cpp);
        break;
      case Saved::kBools:
        w.include("<algorithm>");
        statement =
            fmt::format("std::copy_n({0}.begin(), {1}.size(), {1}.begin());",
                        s.cpp, member);
        break;
      case Saved::kOptionalString:
        condition = fmt::format("if ({}) ", s.cpp);
        statement = fmt::format("{}.emplace(*{});", member, s.cpp);
        break;
      default: statement = fmt::format("{} = {};", member, s.cpp);
    }
    w.line("  {}{}", condition, statement);
  }
}

}  // namespace sy::codegen
