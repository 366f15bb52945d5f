#include <algorithm>

#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/nodes.h"
#include "codegen/emit/programs.h"
#include "codegen/model_names.h"
#include "model/cpp_types.h"
#include "model/derivative.h"
#include "model/form_plan.h"

namespace sy::codegen {
namespace {

class AutogradEmitter {
 public:
  AutogradEmitter(const Model& model, const Family& family)
      : model_(model), family_(family), compiled_(model, family) {}

  std::string run() {
    Writer body;
    for (const Operator& op : family_.operators) one(body, op);
    Writer w;
    w.raw(banner(family_));
    Writer declared;
    headers(body, declared);
    includes(w, body.headers());
    if (!declared.str().empty()) {
      open_namespace(w, "sy");
      w.gap();
      w.raw(declared.str());
      close_namespace(w, "sy");
    }
    open_namespace(w, "sy::autograd");
    if (!body.str().empty()) {
      open_namespace(w, "");
      w.gap();
      if (has_programs_) emit_program_names(w);
      if (overwrites_) emit_overwrite_node(w);
      w.raw(body.str());
      close_namespace(w, "");
    }
    if (!registrations_.empty()) {
      w.gap();
      w.line("SY_LIBRARY_IMPL({}, Autograd, m) {{", family_.ns);
      for (const std::string& r : registrations_) w.line("  {}", r);
      w.line("}");
    }
    close_namespace(w, "sy::autograd");
    return w.str();
  }

 private:
  void headers(Writer& w, Writer& declared) const {
    w.include(fmt::format("aten/ops/{}_ops.h", family_.name));
    w.include("autograd/generated_support.h");
    // A library of its own is one source, with one declaration of each.
    if (family_.is_own()) return include_operators(w, model_, called_);
    declare_functions(declared, model_, called_);
    w.include_all(declared.headers());
  }

  void one(Writer& w, const Operator& op) {
    DerivativePlan plan;
    if (!is_recorded_by_parts(op)) {
      lang::Diagnostics diagnostics;
      plan = plan_derivative(model_, op, diagnostics);
      if (!diagnostics.empty()) throw lang::LangError(diagnostics);
    }
    for (const GradFormula& f : plan.formulas) {
      called_.insert(f.operators.begin(), f.operators.end());
      has_programs_ = has_programs_ || f.fused;
    }
    if (!plan.empty() && !plan.non_differentiable) {
      emit_node(w, op, plan, compiled_);
    }
    for (const Overload* o : op.overloads()) form(w, op, *o, plan);
  }

  void form(Writer& w, const Operator& op, const Overload& o,
            const DerivativePlan& plan) {
    switch (gradient_of(op, o, plan)) {
      case FormGradient::kNone: break;
      case FormGradient::kFallthrough: fallthrough(o); break;
      case FormGradient::kOverwrite: overwritten(w, op, o); break;
      case FormGradient::kReject:
        reject(w, op, o,
               is_recorded_by_parts(op) ? tensor_names(op.base.schema)
                                        : differentiable_names(op, plan));
        break;
      case FormGradient::kRecord:
        if (o.schema.is_functional()) {
          functional(w, op, plan);
        } else {
          inplace(w, op, o, plan, "rebase_history");
        }
        break;
      case FormGradient::kRecordView:
        w.include("autograd/inplace_view.h");
        inplace(w, op, o, plan, "set_history_of_view");
    }
  }

  static std::vector<std::string> tensor_names(const FunctionSchema& s) {
    std::vector<std::string> out;
    for (const Argument& a : s.arguments()) {
      if (a.type.is_tensor_like()) out.push_back(parameter_name(a));
    }
    return out;
  }

  static std::vector<std::string> differentiable_names(
      const Operator& op, const DerivativePlan& plan) {
    std::vector<std::string> out;
    for (const std::size_t i : plan.arguments) {
      out.push_back(parameter_name(op.base.schema.arguments()[i]));
    }
    return out;
  }

  void fallthrough(const Overload& o) {
    registrations_.push_back(
        fmt::format(R"(m.impl("{}", Kernel::fallthrough());)", o.name));
  }

  void begin(Writer& w, const Operator& op, const Overload& o) {
    const std::string params = parameter_list(o.schema);
    w.gap();
    w.line("{} {}(DispatchKeySet {}{}) {{", return_type(o.schema), o.id,
           local(op, "ks"), params.empty() ? "" : fmt::format(", {}", params));
    registrations_.push_back(
        fmt::format(R"(m.impl("{}", SY_FN({}));)", o.name, o.id));
  }

  static std::string redispatch(const Operator& op, const Overload& o) {
    const std::string args = argument_list(o.schema);
    return fmt::format("ops::{}::redispatch(below_autograd({}){});", o.id,
                       local(op, "ks"), args.empty() ? "" : ", " + args);
  }

  // Nothing to record.
  static void pass(Writer& w, const Operator& op, const Overload& o,
                   const std::string& names) {
    const char* question = o.schema.is_functional() ? "any_requires_grad"
                                                    : "inplace_requires_grad";
    w.line("  if (!{}({})) {{", question, names);
    w.line("    return {}", redispatch(op, o));
    w.line("  }");
  }

  // The call below autograd, in the scope that the lines before opened.
  static void below(Writer& w, const Operator& op, const std::string& call) {
    w.line("    const AutoDispatchBelowAutograd {};", local(op, "guard"));
    w.line("    {}", call);
  }

  static void make_node(Writer& w, const Operator& op, const Overload& o,
                        const std::string& names) {
    w.line("  auto {} = make_node<{}>({}, {});", local(op, "node"),
           node_name(op), entry_of(o), names);
  }

  void functional(Writer& w, const Operator& op, const DerivativePlan& plan) {
    const Overload& o = op.base;
    const std::string names = join(differentiable_names(op, plan), ", ");
    begin(w, op, o);
    pass(w, op, o, names);
    make_node(w, op, o, names);
    const std::string node = local(op, "node");
    emit_saves(w, plan, {}, node);
    const bool several = o.schema.returns().size() > 1;
    const std::string result = local(op, several ? "results" : "result");
    w.line("  {} {} = [&] {{", return_type(o.schema), result);
    below(w, op, "return " + redispatch(op, o));
    w.line("  }();");
    history(w, o.schema, plan, node, result);
    w.line("  return {};", result);
    w.line("}");
  }

  static void history(Writer& w, const FunctionSchema& s,
                      const DerivativePlan& plan, const std::string& node,
                      const std::string& result) {
    const bool saves = has_result_saves(plan);
    const std::size_t n = s.returns().size();
    const bool list = n == 1 && s.returns()[0].type.is_list();
    if (n == 1) {
      const bool views = list && s.returns()[0].alias;
      w.line("  {}({}, {});", views ? "set_history_views" : "set_history",
             result, saves ? node : fmt::format("std::move({})", node));
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        if (i == 0 || plan.uses_grads) {
          w.line("  set_history(std::get<{}>({}), {});", i, result, node);
        } else {
          w.line("  skip_output({});", node);
        }
      }
    }
    const auto name = [&](std::size_t i) {
      return n == 1 ? result : fmt::format("std::get<{}>({})", i, result);
    };
    emit_result_saves(w, plan, node, name);
  }

  void inplace(Writer& w, const Operator& op, const Overload& o,
               const DerivativePlan& plan, const char* set_history) {
    const std::string names = join(differentiable_names(op, plan), ", ");
    const std::string self = written_arguments(o)[0];
    const std::string node = local(op, "node");
    begin(w, op, o);
    pass(w, op, o, names);
    w.line("  check_inplace({}, {});", entry_of(o), self);
    make_node(w, op, o, names);
    emit_saves(w, plan, self, node);
    w.line("  {");
    below(w, op, redispatch(op, o));
    w.line("  }");
    w.line("  {}({}, {});", set_history, self,
           has_result_saves(plan) ? node : fmt::format("std::move({})", node));
    emit_result_saves(w, plan, node, [&](std::size_t) { return self; });
    w.line("  return {};", self);
    w.line("}");
  }

  // The in-place form of an operator without a gradient: the old value no
  // longer matters.
  void overwritten(Writer& w, const Operator& op, const Overload& o) {
    overwrites_ = true;
    called_.insert("zeros_like");
    const std::string node = local(op, "node");
    const std::string self = written_arguments(o)[0];
    begin(w, op, o);
    pass(w, op, o, self);
    w.line("  check_inplace({}, {});", entry_of(o), self);
    w.line("  auto {} = make_node<OverwriteBackward>({}, {});", node,
           entry_of(o), self);
    w.line("  {");
    below(w, op, redispatch(op, o));
    w.line("  }");
    w.line("  rebase_history({}, std::move({}));", self, node);
    w.line("  return {};", self);
    w.line("}");
  }

  void reject(Writer& w, const Operator& op, const Overload& o,
              std::vector<std::string> names) {
    for (const std::string& out : written_arguments(o)) names.push_back(out);
    begin(w, op, o);
    w.line("  if (any_requires_grad({})) {{", join(names, ", "));
    w.line("    reject_out({});", entry_of(o));
    w.line("  }");
    w.line("  return {}", redispatch(op, o));
    w.line("}");
  }

  const Model& model_;
  const Family& family_;
  const CompiledPrograms compiled_;
  std::vector<std::string> registrations_;
  std::set<std::string> called_;  // "add.Tensor", by formulas
  bool overwrites_ = false;
  bool has_programs_ = false;
};

}  // namespace

std::string emit_autograd(const Model& model, const Family& family) {
  return AutogradEmitter(model, family).run();
}

}  // namespace sy::codegen
