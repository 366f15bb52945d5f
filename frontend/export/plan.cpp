#include "frontend/export/plan.h"

#include <algorithm>
#include <map>

#include "aten/backend/node.h"
#include "c10/dispatch/default_argument.h"
#include "c10/schema/function_schema.h"
#include "c10/schema/nearest.h"
#include "c10/schema/parser.h"
#include "frontend/export/arguments.h"
#include "frontend/export/operator_names.h"

namespace sy::exporting {

namespace {

using Kind = ArgumentText::Kind;

// What is wrong with a file, of all its graphs.
struct Problems {
  // The operators that there are not, and the first nodes of them.
  std::map<std::string, std::vector<std::string>> missing;
  std::vector<std::string> others;
};

std::string place_of(const NodeText& node) {
  return str("node '{}'{}", node.name,
             node.module.empty() ? "" : " of '" + node.module + "'");
}

// The operator that writes the result into its first argument, where the result
// has the same dtype whatever floating arguments there are; nullptr if there is
// none. run() looks at the arguments.
const OperatorEntry* in_place_of(const OperatorEntry& op) {
  const NodeDesc* const node = node_desc(op);
  if (node == nullptr || node->pointwise == nullptr) return nullptr;
  const PointwiseOp& pointwise = *node->pointwise;
  const bool gives_self = pointwise.n_outputs == 1 && node->n_inputs > 0 &&
                          node->inputs[0] == 0 &&
                          (pointwise.promote_inputs & 1) != 0 &&
                          !pointwise.program.body.results[0].is_bool;
  if (!gives_self) return nullptr;
  std::string name(op.name());
  name.insert(std::min(name.find('.'), name.size()), 1, '_');
  const auto found = Dispatcher::singleton().find(name);
  const bool fits =
      found && found->entry().defined() &&
      found->entry().functional() != nullptr &&
      found->entry().functional()->op == op.name() &&
      found->schema().arguments().size() == op.schema().arguments().size();
  return fits ? &found->entry() : nullptr;
}

class GraphPlanner : private Slots {
 public:
  GraphPlanner(Problems* problems, const std::string& home)
      : problems_(problems), home_(home) {}

  GraphPlan plan(const GraphText& text) {
    complex_ = &text.complex;
    for (const ArgumentText& input : text.inputs) {
      plan_.inputs.push_back(input.kind == Kind::Name ? define(input.text)
                                                      : plan_.slots++);
    }
    plan_.steps.reserve(text.nodes.size());
    for (const NodeText& node : text.nodes) add(node);
    for (const ArgumentText& output : text.outputs) {
      try {
        plan_.outputs.push_back(plan_source(output, *this));
      } catch (const Error& e) {
        problems_->others.push_back(str("an output: {}", e.message()));
      }
    }
    find_ends();
    for (StepPlan& step : plan_.steps) find_in_place(&step);
    return std::move(plan_);
  }

 private:
  int32_t find(const std::string& name) override {
    const auto found = slots_.find(name);
    return found == slots_.end() ? Source::kConstant : found->second;
  }

  int32_t define(const std::string& name) {
    const auto [at, added] = slots_.emplace(name, plan_.slots);
    if (!added) {
      fail(ErrorKind::Value, "expected each value once, got '{}' twice", name);
    }
    return plan_.slots++;
  }

  void add(const NodeText& node) {
    StepPlan step;
    step.name = node.name;
    step.module = node.module;
    try {
      if (node.target.starts_with(kHigherOrder)) {
        call_graphs(node, &step);
      } else if (node.target.starts_with(kOperators)) {
        call_operator(node, &step);
      } else {
        call_number(node, &step);
      }
    } catch (const Error& e) {
      problems_->others.push_back(str("{}: {}", place_of(node), e.message()));
    }
    // Nodes after it are looked at too.
    try {
      for (const ArgumentText& output : node.outputs) {
        step.results.push_back(result(output));
      }
    } catch (const Error& e) {
      problems_->others.push_back(str("{}: {}", place_of(node), e.message()));
    }
    if (step.op != nullptr) check_results(node, step);
    plan_.steps.push_back(std::move(step));
  }

  ResultPlan result(const ArgumentText& output) {
    ResultPlan out;
    if (output.kind == Kind::Name) {
      out.slot = define(output.text);
    } else if (output.kind == Kind::List) {
      out.is_list = true;
      for (const ArgumentText& item : output.items) {
        out.items.push_back(item.kind == Kind::Name ? define(item.text)
                                                    : ResultPlan::kUnused);
      }
    }
    return out;
  }

  void check_results(const NodeText& node, const StepPlan& step) {
    const auto expected = static_cast<size_t>(step.op->num_results());
    if (step.results.size() == expected) return;
    problems_->others.push_back(str("{}: expected {} results of {}, got {}",
                                    place_of(node), expected, step.op->name(),
                                    step.results.size()));
  }

  // ---- operators

  void call_operator(const NodeText& node, StepPlan* step) {
    const std::string name = target_name(node.target);
    if (!complex_->empty() && has_complex(node)) {
      return call_of_complex(name, node, step);
    }
    if (const auto assertion = assertion_function(name)) {
      step->kind = StepPlan::Kind::Function;
      step->function = assertion->run;
      fill_arguments(node, parse_schema(assertion->schema), step);
      return;
    }
    if (const auto op = Dispatcher::singleton().find(name);
        op && op->entry().defined()) {
      step->op = &op->entry();
      fill_arguments(node, op->schema(), step);
    } else if (const auto other = stand_in(name)) {
      const OperatorHandle op = *Dispatcher::singleton().find(other->op);
      step->op = &op.entry();
      fill_arguments(node, parse_schema(other->schema), step);
      fill_defaults(op.schema(), step);
    } else {
      problems_->missing[name].push_back(place_of(node));
    }
  }

  // ---- complex numbers

  bool is_complex(const ArgumentText& a) const {
    if (a.kind == Kind::Name) return complex_->contains(a.text);
    return a.kind == Kind::List &&
           std::any_of(a.items.begin(), a.items.end(),
                       [&](const ArgumentText& i) { return is_complex(i); });
  }

  bool has_complex(const NodeText& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](const ArgumentText& a) { return is_complex(a); }) ||
           std::any_of(
               node.inputs.begin(), node.inputs.end(),
               [&](const NodeText::Input& i) { return is_complex(i.value); });
  }

  void call_of_complex(const std::string& name, const NodeText& node,
                       StepPlan* step) {
    const auto f = complex_function(name);
    SY_CHECK(f, NotImplemented,
             "{} of complex numbers is not supported: compute real and "
             "imaginary parts, view_as_real(x)",
             name);
    const FunctionSchema schema = parse_schema(f->schema);
    NodeText real = node;
    int64_t mask = 0;
    for (size_t i = 0; i < real.inputs.size(); ++i) {
      NodeText::Input& input = real.inputs[i];
      const int at = schema.argument_index(input.name);
      if (at >= 0 && is_complex(input.value)) mask |= int64_t{1} << at;
      // A complex dtype is that of its parts.
      const auto parts = input.value.scalar_type();
      if (input.value.kind == Kind::Other && input.value.integer != 0 &&
          parts != ScalarType::Undefined) {
        input.value.kind = Kind::ScalarType;
      }
    }
    step->kind = StepPlan::Kind::Function;
    step->function = f->run;
    fill_arguments(real, schema, step);
    step->arguments.emplace_back(mask);
  }

  void fill_arguments(const NodeText& node, const FunctionSchema& schema,
                      StepPlan* step) {
    const auto arguments = schema.arguments();
    std::vector<bool> given(arguments.size());
    step->arguments.resize(arguments.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const NodeText::Input& input = node.inputs[i];
      const int at = input.name.empty() && i < arguments.size()
                         ? static_cast<int>(i)
                         : schema.argument_index(input.name);
      if (at < 0) {
        fail(ErrorKind::Value, "{} has no argument '{}'", schema_name(schema),
             input.name);
      }
      given[size_t(at)] = true;
      fill(input, arguments[size_t(at)], static_cast<uint16_t>(at), step);
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (given[i]) continue;
      const Argument& a = arguments[i];
      SY_CHECK(a.default_value || a.type.is_optional(), Value,
               "{} needs an argument '{}'", schema_name(schema), a.name.view());
      step->arguments[i] = default_value(a.default_value, a.type);
    }
  }

  // Those behind the arguments that there are.
  static void fill_defaults(const FunctionSchema& schema, StepPlan* step) {
    const auto arguments = schema.arguments();
    for (size_t i = step->arguments.size(); i < arguments.size(); ++i) {
      step->arguments.push_back(
          default_value(arguments[i].default_value, arguments[i].type));
    }
  }

  static std::string schema_name(const FunctionSchema& schema) {
    return to_string(schema.name());
  }

  void fill(const NodeText::Input& input, const Argument& argument, uint16_t at,
            StepPlan* step) {
    try {
      ArgumentPlan plan = plan_argument(input.value, argument.type, *this);
      if (plan.list) {
        step->lists.push_back({at, std::move(*plan.list)});
      } else if (plan.source.slot != Source::kConstant) {
        step->slots.push_back({at, plan.source.slot});
      } else {
        step->arguments[at] = std::move(plan.source.constant);
        if (input.value.kind == Kind::Device && input.value.text == home_) {
          step->devices.push_back(at);
        }
      }
    } catch (Error& e) {
      e.add_prefix(input.name + ": ");
      throw;
    }
  }

  // ---- numbers

  void call_number(const NodeText& node, StepPlan* step) {
    const auto f = number_function(node.target);
    if (!f) {
      problems_->missing[node.target].push_back(place_of(node));
      return;
    }
    const size_t n = node.inputs.size();
    SY_CHECK(n >= f->min && n <= f->max, Value,
             "{}: expected {} arguments, got {}", node.target, f->min, n);
    step->kind = StepPlan::Kind::Function;
    step->function = f->run;
    step->arguments.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const ArgumentText& value = node.inputs[i].value;
      if (value.kind == Kind::List && n == 1) {
        list_arguments(value, step);
        return;
      }
      argument(value, static_cast<uint16_t>(i), step);
    }
  }

  void list_arguments(const ArgumentText& list, StepPlan* step) {
    step->arguments.resize(list.items.size());
    for (size_t i = 0; i < list.items.size(); ++i) {
      argument(list.items[i], static_cast<uint16_t>(i), step);
    }
  }

  void argument(const ArgumentText& text, uint16_t at, StepPlan* step) {
    Source source = plan_source(text, *this);
    if (source.slot != Source::kConstant) {
      step->slots.push_back({at, source.slot});
    } else {
      step->arguments[at] = std::move(source.constant);
    }
  }

  // ---- graphs in graphs

  void call_graphs(const NodeText& node, StepPlan* step) {
    const auto list = [&](size_t i) {
      return operands(node.inputs[i].value, step);
    };
    switch (graph_call(node.target)) {
      case GraphCall::Cond:
        shape(node, step, StepPlan::Kind::Branch, {1, 2, 1});
        step->operands.push_back(plan_source(node.inputs[0].value, *this));
        list(3);
        return;
      case GraphCall::WhileLoop:
        shape(node, step, StepPlan::Kind::Loop, {0, 2, 2});
        step->changing = list(2);
        list(3);
        return;
      case GraphCall::Map:
        shape(node, step, StepPlan::Kind::Map, {0, 1, 2});
        step->changing = list(1);
        list(2);
        return;
      case GraphCall::Scan:
        shape(node, step, StepPlan::Kind::Scan, {0, 1, 3});
        step->carried = list(1);
        step->changing = list(2);
        list(3);
        return;
      case GraphCall::SetGradEnabled:
        inline_graph(node, 1, step);
        step->gradients = node.inputs[0].value.integer != 0;
        return;
      case GraphCall::Autocast:
        inline_graph(node, 4, step);
        SY_CHECK(node.inputs[2].value.integer == 0, NotImplemented,
                 "regions of autocast are not supported: export the model "
                 "without torch.autocast, or in bfloat16");
        return;
      case GraphCall::Unknown: break;
    }
    problems_->missing[target_name(node.target)].push_back(place_of(node));
  }

  struct Shape {
    size_t before, graphs, after;
  };
  // Makes the graphs of a node that has `before` arguments before them.
  void shape(const NodeText& node, StepPlan* step, StepPlan::Kind kind,
             Shape s) {
    SY_CHECK(node.inputs.size() >= s.before + s.graphs + s.after, Value,
             "{}: expected {} arguments, got {}", node.target,
             s.before + s.graphs + s.after, node.inputs.size());
    step->kind = kind;
    for (size_t i = 0; i < s.graphs; ++i) {
      const ArgumentText& a = node.inputs[s.before + i].value;
      SY_CHECK(a.kind == Kind::Graph, Type, "expected a graph, got {}",
               kind_name(a.kind));
      step->graphs.push_back(GraphPlanner(problems_, home_).plan(*a.graph));
    }
  }

  void inline_graph(const NodeText& node, size_t before, StepPlan* step) {
    shape(node, step, StepPlan::Kind::Inline, {before, 1, 0});
    for (size_t i = before + 1; i < node.inputs.size(); ++i) {
      step->operands.push_back(plan_source(node.inputs[i].value, *this));
    }
  }

  // Adds the items of a list to the operands, and gives how many they are.
  size_t operands(const ArgumentText& list, StepPlan* step) {
    if (list.kind != Kind::List) {
      step->operands.push_back(plan_source(list, *this));
      return 1;
    }
    for (const ArgumentText& item : list.items) {
      step->operands.push_back(plan_source(item, *this));
    }
    return list.items.size();
  }

  // ---- lifetimes

  template <class F>
  static void each_read(const StepPlan& step, const F& f) {
    for (const auto& s : step.slots) f(s.slot);
    for (const auto& l : step.lists) {
      for (const Source& s : l.list.items) f(s.slot);
    }
    for (const Source& s : step.operands) f(s.slot);
  }

  template <class F>
  static void each_written(const StepPlan& step, const F& f) {
    for (const ResultPlan& r : step.results) {
      f(r.slot);
      for (const int32_t item : r.items) f(item);
    }
  }

  // A slot ends after the step that reads it last, or after the one that writes
  // it if nobody does.
  void find_ends() {
    std::vector<bool> read(size_t(plan_.slots));
    for (const Source& s : plan_.outputs) {
      if (s.slot >= 0) read[size_t(s.slot)] = true;
    }
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      StepPlan& step = plan_.steps[i];
      const auto end = [&](int32_t slot) {
        if (slot < 0 || read[size_t(slot)]) return;
        read[size_t(slot)] = true;
        step.ends.push_back(slot);
      };
      each_written(step, end);
      each_read(step, end);
    }
  }

  // The first argument's memory is free for the result where nobody reads it
  // again, in this call either.
  static void find_in_place(StepPlan* step) {
    if (step->op == nullptr || step->results.size() != 1 ||
        step->slots.empty() || step->slots[0].argument != 0) {
      return;
    }
    const int32_t slot = step->slots[0].slot;
    const auto reads =
        std::count_if(step->slots.begin(), step->slots.end(),
                      [&](const StepPlan::Slot& s) { return s.slot == slot; });
    const bool ends = std::find(step->ends.begin(), step->ends.end(), slot) !=
                      step->ends.end();
    if (!ends || reads != 1 || !step->lists.empty()) return;
    step->in_place = in_place_of(*step->op);
  }

  Problems* problems_;
  const std::string& home_;
  const std::set<std::string, std::less<>>* complex_ = nullptr;
  GraphPlan plan_;
  std::map<std::string, int32_t> slots_;
};

bool writes(const GraphPlan& plan) {
  return std::any_of(
      plan.steps.begin(), plan.steps.end(), [](const StepPlan& step) {
        return (step.op != nullptr &&
                step.op->has_flag(OperatorDef::kWrites)) ||
               std::any_of(step.graphs.begin(), step.graphs.end(), writes);
      });
}

// What copies elements where sizes and strides permit no view.
std::string_view copying_form(std::string_view op) {
  if (op == "aten::view" || op == "aten::_unsafe_view") return "aten::reshape";
  return op == "aten::view_as" ? "aten::reshape_as" : std::string_view();
}

// A value may have other strides here than in Python, and a view of it may have
// to be a copy. If nothing writes, nobody sees which of the two it is.
void let_views_copy(GraphPlan* plan) {
  for (StepPlan& step : plan->steps) {
    for (GraphPlan& graph : step.graphs) let_views_copy(&graph);
    if (step.op == nullptr) continue;
    const std::string_view copying = copying_form(step.op->name());
    if (copying.empty()) continue;
    step.op = &Dispatcher::singleton().find(copying)->entry();
  }
}

std::string text_of(const Problems& problems) {
  std::string out;
  const auto line = [&](const std::string& text) {
    out += (out.empty() ? "" : "\n  ") + text;
  };
  for (const auto& [name, nodes] : problems.missing) {
    NearestName nearest(name);
    for (const OperatorHandle& op : Dispatcher::singleton().operators()) {
      nearest.consider(op.name());
    }
    const std::string more =
        nodes.size() > 1 ? str(" and {} more", nodes.size() - 1) : "";
    line(str("no operator {} ({}{}){}", name, nodes[0], more,
             nearest.question()));
  }
  for (const std::string& other : problems.others) line(other);
  return out;
}

}  // namespace

GraphPlan plan_graph(const io::FileView& file, const GraphText& graph,
                     const std::string& home) {
  Problems problems;
  GraphPlan plan = GraphPlanner(&problems, home).plan(graph);
  if (const std::string text = text_of(problems); !text.empty()) {
    file.fail("{}", text);
  }
  if (!writes(plan)) let_views_copy(&plan);
  return plan;
}

}  // namespace sy::exporting
