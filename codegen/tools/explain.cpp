#include "codegen/tools/explain.h"

#include <algorithm>
#include <ostream>

#include "codegen/emit/common.h"
#include "codegen/emit/describe.h"
#include "codegen/emit/nodes.h"
#include "codegen/model_names.h"
#include "lang/compile.h"
#include "model/derivative.h"
#include "model/exact_out.h"
#include "model/form_plan.h"

namespace sy::codegen {
namespace {

using lang::OperatorKind;

std::string place(const Operator& op, const lang::Text& text) {
  return fmt::format("{}.yaml:{}", op.family, text.start().line);
}

// The prefix of a namespace of its own: "mine::".
std::string prefix(const Operator& op) {
  return op.ns == "aten" ? "" : op.ns + "::";
}

std::string signature(const Operator& op, const Overload& o) {
  return prefix(op) + to_string(o.schema);
}

std::string indented(std::string_view text, std::size_t indent) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    append(out, "{:{}}{}\n", "", indent, text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

class Explainer {
 public:
  Explainer(const Model& model, const Operator& op)
      : model_(model), op_(op), e_(*op.entry) {}

  std::string run() {
    out_ = signature(op_, op_.base) + '\n';
    line("{}, {}", op_.source, to_string(op_.kind()));
    if (!e_.doc.empty()) line("{}", e_.doc);
    forms();
    api();
    contract();
    body();
    kernels();
    autograd();
    files();
    return std::move(out_);
  }

 private:
  void head(const std::string& title) { append(out_, "\n{}\n", title); }
  template <class... Args>
  void line(fmt::format_string<const Args&...> format, const Args&... args) {
    out_ += "  ";
    append(out_, format, args...);
    out_ += '\n';
  }

  bool is_own() const { return op_.ns != "aten"; }
  // A generated file: one of the tree, or the one that a library of its own is
  // made of.
  std::string in_tree(const std::string& file) const {
    return is_own() ? op_.family + ".cpp" : file;
  }

  void forms() {
    head("forms");
    for (const Overload* o : op_.overloads()) {
      const lang::Form* given =
          o == &op_.base ? nullptr : e_.find_form(o->schema.kind());
      std::string from = "derived";
      if (o == &op_.base) from = place(op_, e_.func);
      if (given) from = fmt::format("{}.yaml:{}", op_.family, given->at.line);
      line("{}  [{}]", signature(op_, *o), from);
    }
    constexpr const char* kNames[] = {"functional", "in-place", "out="};
    for (const lang::Form& f : e_.forms) {
      if (f.schema || f.kind > SchemaKind::kOut) continue;
      line("no {} form  [{}.yaml:{}]", kNames[static_cast<int>(f.kind)],
           op_.family, f.at.line);
    }
  }

  void api() {
    head("C++");
    const std::string folder = is_own() ? "" : "aten/ops/";
    for (const ApiCall& c : api_calls(op_)) {
      line("{}  [{}]", c.declaration,
           c.is_method ? "aten/tensor_methods_gen.h"
                       : fmt::format("{}{}.h", folder, op_.family));
    }
    for (const Overload* o : op_.overloads()) {
      line("ops::{}::call, redispatch, entry  [{}]", o->id,
           in_tree(fmt::format("aten/ops/{}_ops.h", op_.family)));
    }
  }

  void contract() {
    if (e_.require.empty() && e_.shape.empty() && e_.dtype.empty() &&
        !e_.promote) {
      return;
    }
    head("contract");
    for (const lang::Requirement& r : e_.require) {
      line("require {}{}  [{}]", lang::to_string(r.condition.expr),
           r.message.empty() ? "" : ": " + r.message.str(),
           place(op_, r.condition.text));
    }
    for (const lang::Formula& f : e_.shape) {
      line("shape {}  [{}]", lang::to_string(f.expr), place(op_, f.text));
    }
    for (const lang::Formula& f : e_.dtype) {
      line("dtype {}  [{}]", lang::to_string(f.expr), place(op_, f.text));
    }
    if (e_.promote) {
      std::string text = "promote " + e_.promote->rule.str();
      for (std::size_t i = 0; i < e_.promote->arguments.size(); ++i) {
        text += (i ? ", " : " of ") + e_.promote->arguments[i].str();
      }
      line("{}  [{}]", text, place(op_, e_.promote->rule));
    }
    if (has_contract(op_)) {
      line("checked by contract::{} before every kernel", op_.base.id);
    }
  }

  void formula(const std::string& name, const lang::Formula& f) {
    if (!f.expr) return;
    const bool is_element = e_.pointwise || e_.reduce;
    const lang::Expr e = is_element ? lang::fold(f.expr) : f.expr;
    line("{}{}  [{}]", name, lang::to_string(e), place(op_, f.text));
  }

  void program(const std::string& title, std::span<const lang::Expr> results,
               const lang::ElementEnv& env) {
    lang::Diagnostics quiet;
    const auto p = lang::compile_element(results, env, quiet);
    if (!p) return;
    line("{}, {} steps:", title, p->steps.size());
    out_ += indented(lang::to_string(*p), 4);
  }

  void body() {
    if (op_.kind() == OperatorKind::kDispatch) return;
    head(std::string(to_string(op_.kind())));
    const auto env = lang::ElementEnv::of(op_.base.schema);
    if (e_.pointwise) {
      std::vector<lang::Expr> results;
      for (const lang::Formula& f : e_.pointwise->results) {
        formula("", f);
        results.push_back(f.expr);
      }
      program("element program desc::" + op_.base.id, results, env);
    } else if (e_.reduce) {
      std::vector<lang::Expr> maps, combines, finish;
      for (const lang::Accumulator& a : e_.reduce->accumulators) {
        formula(a.name + ": map ", a.map);
        formula(a.name + ": identity ", a.identity);
        formula(a.name + ": combine ", a.combine);
        maps.push_back(a.map.expr);
        combines.push_back(a.combine.expr);
      }
      for (const lang::Formula& f : e_.reduce->finish) {
        formula("finish ", f);
        finish.push_back(f.expr);
      }
      program("map", maps, env);
      program("combine", combines, lang::combine_env(*e_.reduce));
      if (!finish.empty()) {
        program("finish", finish,
                lang::finish_env(*e_.reduce, op_.base.schema));
      }
    } else if (e_.composite) {
      formula("", *e_.composite);
      const lang::TensorCode code = composite_code(model_, op_);
      line("calls {}", join(code.operators, ", "));
    } else if (e_.view) {
      formula("sizes ", e_.view->sizes);
      if (e_.view->strides) formula("strides ", *e_.view->strides);
      if (e_.view->offset) formula("offset ", *e_.view->offset);
    }
  }

  void kernels() {
    head("kernels");
    const std::string def =
        in_tree(fmt::format("aten/ops/{}_def.cpp", op_.family));
    const auto generated = [&](const Backend& b) {
      return fmt::format("  [{}]",
                         in_tree(in_folder(b, op_.family + "_gen.cpp")));
    };
    if (const auto engine = engine_of(op_)) {
      const std::string shared = fmt::format(
          "  [{}]",
          in_tree(fmt::format("aten/ops/{}_engine_kernels.h", op_.family)));
      for (const Backend& b : model_.backends()) {
        if (!b.has_engine(*engine)) continue;
        line("{}: {}{}", b.key.str(),
             b.fills ? "element program" : "sizes and dtype of the same",
             shared);
      }
    } else if (op_.kind() == OperatorKind::kComposite) {
      line("CompositeImplicitAutograd: the expression as C++  [{}]", def);
    } else if (op_.kind() == OperatorKind::kView) {
      line("CompositeExplicitAutograd: the view of any device  [{}]", def);
    }
    for (const lang::DispatchItem& d : e_.dispatch) {
      line("{}: {}{}  [{}]", d.key.str(), kernel_namespace(model_, d.key.str()),
           d.kernel.str(), place(op_, d.kernel));
    }
    for (const Backend& b : model_.backends()) {
      if (op_.is_structured() && !b.fills && !op_.has_kernel(b.key.str())) {
        line("{}: from 'shape:'{}", b.key.str(), generated(b));
      }
    }
    if (e_.dispatch.empty() && op_.kind() == OperatorKind::kDispatch) {
      line("none here: a library registers them");
    }
    for (const Overload* o : op_.overloads()) {
      if (o == &op_.base) continue;
      line("{}: by {}", o->name, op_.base.name);
    }
  }

  void autograd() {
    head("autograd");
    if (op_.entry->no_derivative) {
      line("{}", op_.entry->no_derivative_words());
      return;
    }
    if (is_composite(op_)) {
      line("that of the operators called");
      return;
    }
    lang::Diagnostics quiet;
    const DerivativePlan plan = plan_derivative(model_, op_, quiet);
    if (plan.empty()) {
      line("{}", plan.non_differentiable ? "results are never differentiable"
                                         : "none: a gradient stops here");
      return;
    }
    line("node {}  [{}]", node_name(op_),
         in_tree(fmt::format("autograd/{}_gen.cpp", op_.family)));
    std::vector<std::string> saved;
    for (const Saved& s : plan.saved) {
      saved.push_back(fmt::format("{} as {}", s.name, s.type));
    }
    line("keeps {}", saved.empty() ? "nothing" : join(saved, ", "));
    for (const auto& [name, text] : derivative_texts(model_, op_)) {
      line("by {}: {}  [{}]", name.str(), text.empty() ? "none" : text,
           place(op_, name));
    }
    for (const GradFormula& f : plan.formulas) {
      if (f.fused) line("one element program: {}", lang::to_string(*f.fused));
    }
  }

  // The commands for a library of its own, whose kernels in C++ are only in the
  // library.
  void commands() {
    const Family& family = *model_.find_family(op_.family);
    const bool has_kernels = std::any_of(
        family.operators.begin(), family.operators.end(),
        [](const Operator& op) { return !op.entry->dispatch.empty(); });
    line("sy prove '{}{}' {}", prefix(op_), op_.base.name,
         has_kernels ? "--plugin LIBRARY" : "--schema " + family.path);
    line("sygen site DIR --with {}", family.path);
  }

  void files() {
    head("pages and tests");
    if (is_own()) return commands();
    line("sygen site DIR");
    lang::Diagnostics quiet;
    if (!plan_derivative(model_, op_, quiet).empty()) {
      line(
          "gradients against finite differences: "
          "test/autograd/operators_test.cpp");
    }
    line("recorded cases: sy conform --op '{}'", op_.base.name);
  }

  const Model& model_;
  const Operator& op_;
  const lang::OperatorEntry& e_;
  std::string out_;
};

}  // namespace

std::string explain(const Model& model, const Operator& op) {
  return Explainer(model, op).run();
}

int explain_operator(const std::string& name,
                     const std::vector<std::string>& files, std::ostream& out,
                     std::ostream& err) {
  lang::Diagnostics diagnostics;
  const Model model = Model::load(files, diagnostics);
  if (!diagnostics.empty()) {
    err << diagnostics.str_with_sources() << '\n';
    return 1;
  }
  const std::size_t colons = name.find("::");
  const bool qualified = colons != std::string::npos;
  const std::string ns = qualified ? name.substr(0, colons) : "";
  const std::string wanted = qualified ? name.substr(colons + 2) : name;
  std::vector<std::string> names;
  std::vector<const Operator*> found;
  for (const Family& family : model.families()) {
    for (const Operator& op : family.operators) {
      bool is_it = false;
      for (const Overload* o : op.overloads()) {
        names.push_back(qualified ? fmt::format("{}::{}", op.ns, o->name)
                                  : o->name);
        is_it |= o->name == wanted || o->schema.name().name.view() == wanted;
      }
      if (is_it && (!qualified || op.ns == ns)) found.push_back(&op);
    }
  }
  if (found.empty()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    err << fmt::format("sygen: error: unknown operator '{}'{}\n", name,
                       lang::suggest(name, known));
    return 1;
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i) out << '\n';
    out << explain(model, *found[i]);
  }
  return 0;
}

}  // namespace sy::codegen
