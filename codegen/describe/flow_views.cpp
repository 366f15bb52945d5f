#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "codegen/describe/flow.h"
#include "lang/format.h"
#include "lang/tensor.h"

namespace sy::codegen {
namespace {

using lang::Expr;
using lang::IndexValue;
using lang::IndexValues;
using lang::Plan;
using lang::PlanKind;
using lang::TensorMeta;

// A description that cannot be followed; no error of the schema.
struct Unknown {};

// Follows views from one tensor on. All of them lie on its memory, so sizes,
// strides and an offset say where every element comes from.
class Viewer {
 public:
  explicit Viewer(const Model& model) : model_(model) {}

  TensorMeta view(const Operator& op, const IndexValues& values) {
    const lang::ViewBody& body = *op.entry->view;
    const auto run = [&](const Expr& e) {
      return lang::eval_index(e, values, op.base.name);
    };
    const auto self = values.find(op.base.schema.arguments()[0].name.view());
    const auto& base = std::get<TensorMeta>(self->second);
    TensorMeta out;
    out.dtype = base.dtype;
    out.sizes = std::get<std::vector<std::int64_t>>(run(body.sizes.expr));
    out.strides =
        body.strides
            ? std::get<std::vector<std::int64_t>>(run(body.strides->expr))
            : contiguous_strides(out.sizes);
    out.offset = body.offset ? std::get<std::int64_t>(run(body.offset->expr))
                             : base.offset;
    return out;
  }

  IndexValue composite(const Operator& op, const IndexValues& values) {
    std::vector<Type> types;
    for (const Return& r : op.base.schema.returns()) types.push_back(r.type);
    lang::Diagnostics diagnostics;
    const auto code = lang::compile_tensor(op.entry->composite->expr,
                                           lang::TensorEnv::of(op.base.schema),
                                           model_, types, diagnostics);
    if (!code || !code->plan) throw Unknown();
    return run(code->plan, values);
  }

 private:
  const Operator& find(const FunctionSchema& s) const {
    if (const auto* all = model_.named(s.name().name)) {
      for (const Operator* op : *all) {
        if (op->base.schema == s) return *op;
      }
    }
    throw Unknown();
  }

  IndexValue run(const Plan& p, const IndexValues& values) {
    if (!p) throw Unknown();
    switch (p->kind) {
      case PlanKind::kLet: {
        IndexValues inner = values;
        inner[p->name] = run(p->children[0], values);
        return run(p->children[1], inner);
      }
      case PlanKind::kIf:
        return run(
            p->children[std::get<bool>(run(p->children[0], values)) ? 1 : 2],
            values);
      case PlanKind::kOperator: return call(*p, values);
      default: {
        IndexValues named = values;
        return lang::eval_index(expression(p, named), named, "flow");
      }
    }
  }

  IndexValue call(const lang::PlanNode& p, const IndexValues& values) {
    const Operator& op = find(*p.schema);
    IndexValues arguments;
    for (std::size_t k = 0; k < p.children.size(); ++k) {
      const Argument& a = p.schema->arguments()[k];
      if (p.children[k]) {
        arguments[std::string(a.name.view())] = run(p.children[k], values);
      } else if (a.default_value) {
        // Only defaults that stand for themselves.
        const DefaultValue& d = a.default_value;
        if (d.is_none()) continue;
        if (a.type == TypeKind::kInt || a.type == TypeKind::kSymInt) {
          arguments[std::string(a.name.view())] =
              static_cast<std::int64_t>(std::stoll(std::string(d.str())));
        }
      }
    }
    if (op.kind() == lang::OperatorKind::kView) return view(op, arguments);
    if (op.kind() == lang::OperatorKind::kComposite && !op.entry->is_foreach) {
      return composite(op, arguments);
    }
    throw Unknown();
  }

  // An expression of the index typing that says the same; tensors that are
  // computed in it get names.
  Expr expression(const Plan& p, IndexValues& values) {
    if (!p) return lang::make_none();
    const auto child = [&](std::size_t k) {
      return expression(p->children[k], values);
    };
    const auto children = [&] {
      std::vector<Expr> out;
      for (const Plan& c : p->children) out.push_back(expression(c, values));
      return out;
    };
    switch (p->kind) {
      case PlanKind::kNone: return lang::make_none();
      case PlanKind::kNumber: return lang::make_number(p->number);
      case PlanKind::kBool: return lang::make_bool(p->number.i != 0);
      case PlanKind::kString: return lang::make_string(p->name);
      case PlanKind::kName: return lang::make_name(p->name);
      case PlanKind::kMetadata:
        return lang::make_node({.kind = lang::ExprKind::kMethod,
                                .name = p->name,
                                .children = children()});
      case PlanKind::kNot: return lang::make_unary(lang::Op::kNot, child(0));
      case PlanKind::kNegate: return lang::make_unary(lang::Op::kNeg, child(0));
      case PlanKind::kHasValue:
        return lang::make_binary(lang::Op::kNe, child(0), lang::make_none());
      case PlanKind::kBinary:
        return lang::make_binary(p->op, child(0), child(1));
      case PlanKind::kConcat:
        return lang::make_binary(lang::Op::kAdd, child(0), child(1));
      case PlanKind::kIndexFunction:
        return lang::make_call(p->name, children());
      case PlanKind::kIf: return lang::make_if(child(0), child(1), child(2));
      case PlanKind::kList:
        return list(lang::ExprKind::kList, p->name, children());
      case PlanKind::kAt: return list(lang::ExprKind::kIndex, "", children());
      case PlanKind::kSlice:
        return list(lang::ExprKind::kSlice, "", children());
      case PlanKind::kComprehension:
        return list(lang::ExprKind::kComprehension, p->name, children());
      case PlanKind::kOperator: {
        const std::string name = fmt::format("tensor {}", values.size());
        values[name] = call(*p, values);
        return lang::make_name(name);
      }
      default: throw Unknown();
    }
  }

  static Expr list(lang::ExprKind kind, const std::string& name,
                   std::vector<Expr> children) {
    return lang::make_node(
        {.kind = kind, .name = name, .children = std::move(children)});
  }

  const Model& model_;
};

// The place of each element of `t`, row by row.
std::vector<std::vector<int>> places(const TensorMeta& t) {
  std::vector<std::vector<int>> out;
  const std::int64_t n = count_of(t.sizes);
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t rest = k, at = t.offset;
    for (std::size_t d = t.sizes.size(); d-- > 0;) {
      at += rest % t.sizes[d] * t.strides[d];
      rest /= t.sizes[d];
    }
    out.push_back({static_cast<int>(at)});
  }
  return out;
}

std::string strides_note(const TensorMeta& t) {
  std::string out = "strides " + sizes_text(t.strides);
  if (t.offset != 0) lang::append(out, ", offset {}", t.offset);
  return out;
}

std::optional<Flow> try_flow(const Model& model, const Operator& op,
                             const FlowExample& example) {
  if (example.tensors.empty()) return std::nullopt;
  const std::string& first = example.tensors[0];
  const auto& base = std::get<TensorMeta>(example.values.at(first));
  TensorMeta made;
  try {
    Viewer viewer(model);
    const IndexValue v = op.kind() == lang::OperatorKind::kView
                             ? viewer.view(op, example.values)
                             : viewer.composite(op, example.values);
    if (!std::holds_alternative<TensorMeta>(v)) return std::nullopt;
    made = std::get<TensorMeta>(v);
  } catch (const Unknown&) {
    return std::nullopt;
  } catch (const std::exception&) {
    // The view needs sizes that the example does not have.
    return std::nullopt;
  }
  const std::int64_t n = count_of(base.sizes);
  if (made.sizes == base.sizes && made.strides == base.strides) {
    return std::nullopt;
  }
  Flow out;
  out.moves = true;
  out.call = call_text(op, example);
  out.inputs.push_back({first, base.sizes, counted(n), strides_note(base)});
  out.from = places(made);
  std::vector<std::string> texts;
  for (const auto& f : out.from) {
    if (f[0] < 0 || f[0] >= n) return std::nullopt;
    texts.push_back(out.inputs[0].texts[static_cast<std::size_t>(f[0])]);
  }
  out.outputs.push_back(
      {"result", made.sizes, std::move(texts), strides_note(made)});
  return out;
}

}  // namespace

std::optional<Flow> view_flow(const Model& model, const Operator& op,
                              const FlowExample& example) {
  if (auto flow = try_flow(model, op, example)) return flow;
  if (op.entry->example) return std::nullopt;
  // Made-up arguments show nothing: others might.
  for (const Argument& a : op.base.schema.arguments()) {
    const Type t = a.type.without_optional();
    if (t != TypeKind::kInt && t != TypeKind::kSymInt) continue;
    for (const std::int64_t v : {1, 2}) {
      FlowExample other = example;
      const std::string name(a.name.view());
      other.values[name] = v;
      other.texts[name] = std::to_string(v);
      if (auto flow = try_flow(model, op, other)) return flow;
    }
  }
  FlowExample other = example;
  for (const std::string& name : other.tensors) {
    const std::vector<std::int64_t> sizes = {2, 1, 3};
    other.values[name] =
        TensorMeta{sizes, contiguous_strides(sizes), 0, "float32"};
  }
  return try_flow(model, op, other);
}

}  // namespace sy::codegen
