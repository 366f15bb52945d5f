#include "runtime/loader/gradient.h"

#include <algorithm>
#include <variant>

#include "aten/engine/iter.h"
#include "autograd/formulas.h"
#include "autograd/generated_support.h"
#include "autograd/inplace_view.h"

namespace sy::runtime {
namespace {

using namespace sy::autograd;  // NOLINT: what generated kernels are written in
using model::Saved;

const Tensor& as_tensor(const Value& v) {
  return static_cast<const Tensor&>(v.to_tensor());
}
TensorList as_list(const Value& v) {
  const auto list = v.to_tensor_list();
  return {static_cast<const Tensor*>(list.data()), list.size()};
}
bool is_list(const Value& v) {
  return v.tag() == Value::Tag::TensorList ||
         v.tag() == Value::Tag::OptionalTensorList;
}

// The differentiable arguments of a call.
std::vector<const Value*> differentiable(const OverloadState& form,
                                         const Value* args) {
  std::vector<const Value*> out;
  for (const size_t i : form.op->gradient->arguments) {
    out.push_back(&args[form.positions[i]]);
  }
  return out;
}

bool wants_grad(const Value& v) {
  return is_list(v) ? autograd::detail::wants_grad(as_list(v))
                    : autograd::detail::wants_grad(v.to_tensor());
}

bool any_wants_grad(const std::vector<const Value*>& values) {
  return GradMode::is_enabled() &&
         std::any_of(values.begin(), values.end(),
                     [](const Value* v) { return wants_grad(*v); });
}

bool write_is_recorded(const Tensor& self,
                       const std::vector<const Value*>& values) {
  return any_wants_grad(values) || inplace_requires_grad(self);
}

template <class T>
intrusive_ptr<T> new_node(const OperatorEntry& op, LibraryToken* token,
                          const std::vector<const Value*>& arguments) {
  auto node = make_intrusive<T>();
  node->set_op(op);
  autograd::detail::hold_owner(*node, token);
  std::vector<Edge> edges;
  std::vector<uint32_t> starts{0};
  for (const Value* v : arguments) {
    if (is_list(*v)) {
      autograd::detail::append_edges(&edges, as_list(*v));
    } else {
      autograd::detail::append_edges(&edges, v->to_tensor());
    }
    starts.push_back(static_cast<uint32_t>(edges.size()));
  }
  node->set_edges(std::move(edges), std::move(starts));
  return node;
}

// One recorded call: keeps what the plan says, runs the formulas.
class InterpretedNode final : public NodeOfMany {
 public:
  using Kept = std::variant<std::monostate, SavedTensor, SavedTensorList,
                            SavedMeta, std::vector<SavedMeta>, Value>;

  void start(const OverloadState& form) {
    form_ = &form;
    kept_.resize(form.op->gradient->saved.size());
  }
  void keep_arguments(const Value* args);
  void keep_results(Value* results);

  void apply(GradFrame& f) override;
  void visit_saved(SavedVisitor& v) noexcept override {
    for (size_t i = 0; i < kept_.size(); ++i) {
      const char* name = form_->op->gradient->saved[i].name.c_str();
      if (auto* t = std::get_if<SavedTensor>(&kept_[i])) v(name, *t);
      if (auto* l = std::get_if<SavedTensorList>(&kept_[i])) v(name, *l);
    }
  }

 private:
  // The values that names of a formula stand for: saved things, then grad and
  // grads, then each of grads, and each as what may be absent; then arguments
  // of which nothing is saved.
  struct Environment {
    std::vector<Value> values;
    std::vector<Named> names;
  };
  bool is_read(const Gradient::Kept& s) const;
  static void keep(Saved::Kind kind, const Value& v, Kept* kept);
  void unpack(const Gradient::Formula& formula, GradFrame& f,
              Environment* env) const;
  Tensor fused(const Gradient::Formula& formula, const Environment& env) const;
  // Truth values that the program uses as numbers become such.
  static void count_truths(const FusedFormula& fused, const Tensor& grad,
                           Environment* env);
  static void set(const Gradient::Formula& formula, GradFrame& f,
                  const Value* gradients);

  const OverloadState* form_ = nullptr;
  std::vector<Kept> kept_;
  Geometry self_, view_;
};

bool InterpretedNode::is_read(const Gradient::Kept& s) const {
  return s.readers.size() == form_->op->gradient->arguments.size() ||
         std::any_of(s.readers.begin(), s.readers.end(),
                     [&](size_t r) { return needs(static_cast<int>(r)); });
}

void InterpretedNode::keep_arguments(const Value* args) {
  const Gradient& g = *form_->op->gradient;
  for (const Gradient::Formula& f : g.formulas) {
    if (!f.by_geometry) continue;
    const int self = form_->positions[g.arguments[f.targets[0]]];
    self_ = Geometry(*args[self].to_tensor().impl());
  }
  for (size_t i = 0; i < kept_.size(); ++i) {
    const Gradient::Kept& s = g.saved[i];
    if (s.is_result) continue;
    if (!is_read(s)) continue;
    const Value& v = args[form_->positions[s.place]];
    if (s.kind == Saved::kTensor && !form_->written.empty()) {
      save_before_write(kept_[i].emplace<SavedTensor>(), as_tensor(v),
                        as_tensor(args[form_->written[0]]));
    } else {
      keep(s.kind, v, &kept_[i]);
    }
  }
}

void InterpretedNode::keep(Saved::Kind kind, const Value& v, Kept* kept) {
  switch (kind) {
    case Saved::kTensor:
    case Saved::kOptional:
      kept->emplace<SavedTensor>().save(as_tensor(v));
      break;
    case Saved::kList:
    case Saved::kOptionalList:
      kept->emplace<SavedTensorList>().save(as_list(v));
      break;
    case Saved::kMetaList: {
      const TensorList list = as_list(v);
      kept->emplace<std::vector<SavedMeta>>(list.begin(), list.end());
      break;
    }
    case Saved::kOptionalMeta:
      if (!v.is_none()) kept->emplace<SavedMeta>(v.to_tensor());
      break;
    case Saved::kMeta: kept->emplace<SavedMeta>(v.to_tensor()); break;
    case Saved::kInts:
    case Saved::kOptionalInts:
    case Saved::kNumbers:
    case Saved::kBools:
    case Saved::kString:
    case Saved::kOptionalString:
    case Saved::kValue: kept->emplace<Value>(v); break;
  }
}

void InterpretedNode::keep_results(Value* results) {
  const Gradient& g = *form_->op->gradient;
  for (const Gradient::Formula& f : g.formulas) {
    if (f.by_geometry) view_ = Geometry(*results[0].to_tensor().impl());
  }
  for (size_t i = 0; i < kept_.size(); ++i) {
    const Gradient::Kept& s = g.saved[i];
    if (!s.is_result || !is_read(s)) continue;
    const Tensor& t = as_tensor(std::as_const(results[s.place]));
    if (s.kind == Saved::kMeta) {
      kept_[i].emplace<SavedMeta>().save(t);
    } else if (s.place > 0 && !g.uses_grads) {
      // Only the first of several results has a history.
      kept_[i].emplace<SavedTensor>().save(t);
    } else {
      kept_[i].emplace<SavedTensor>().save_output(
          t, static_cast<uint32_t>(s.place));
    }
  }
}

void InterpretedNode::unpack(const Gradient::Formula& formula, GradFrame& f,
                             Environment* env) const {
  const auto& saved = form_->op->gradient->saved;
  const size_t grad = saved.size(), each = grad + 2;
  env->values.resize(form_->op->gradient->names);
  env->names.resize(env->values.size());
  if (formula.own >= 0) {
    env->names[static_cast<size_t>(formula.own)].meta =
        &f.argument(static_cast<int>(formula.targets[0]));
  }
  for (const size_t i : formula.reads) {
    const char* name = saved[i].name.c_str();
    Value& v = env->values[i];
    if (const auto* t = std::get_if<SavedTensor>(&kept_[i])) {
      v = Value(TensorBase(t->unpack(*this, name)));
    } else if (const auto* l = std::get_if<SavedTensorList>(&kept_[i])) {
      const std::vector<Tensor> list = l->unpack(*this, name);
      v = saved[i].kind == Saved::kOptionalList
              ? Value::optional_tensor_list(list.data(), list.size())
              : Value::tensor_list(list.data(), list.size());
    } else if (const auto* m = std::get_if<SavedMeta>(&kept_[i])) {
      env->names[i].meta = m;
    } else if (const auto* m = std::get_if<std::vector<SavedMeta>>(&kept_[i])) {
      env->names[i].metas = m;
    } else if (const auto* kept = std::get_if<Value>(&kept_[i])) {
      v = *kept;
    }
    Named& name_of = env->names[i];
    if (name_of.meta == nullptr && name_of.metas == nullptr) name_of.value = &v;
  }
  env->values[grad] = Value(TensorBase(f.grad()));
  for (const size_t r : formula.results) {
    const int k = static_cast<int>(r);
    env->values[each + 2 * r] = Value(TensorBase(f.grad_or_zeros(k)));
    if (f.has_any(k)) env->values[each + 2 * r + 1] = env->values[each + 2 * r];
    for (const size_t i : {each + 2 * r, each + 2 * r + 1}) {
      env->names[i].value = &env->values[i];
    }
  }
  if (formula.reads_grads) {
    const std::vector<Tensor> grads = f.grads();
    env->values[grad + 1] = Value::tensor_list(grads.data(), grads.size());
  }
  env->names[grad].value = &env->values[grad];
  env->names[grad + 1].value = &env->values[grad + 1];
}

Tensor InterpretedNode::fused(const Gradient::Formula& formula,
                              const Environment& env) const {
  const TensorBase* inputs[Iter::kMaxOperands];
  Scalar scalars[PointwiseData::kMaxScalars];
  const std::vector<int>& reads = formula.fused->reads;
  const std::vector<ScalarSource>& sources = formula.fused->data.scalars();
  const size_t n = reads.size() - sources.size();
  for (size_t i = 0; i < n; ++i) {
    inputs[i] = &std::as_const(env.values[reads[i]]).to_tensor();
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    scalars[i] = sources[i].read(env.values[reads[n + i]]);
  }
  return formula.fused->run({inputs, scalars});
}

void InterpretedNode::count_truths(const FusedFormula& fused,
                                   const Tensor& grad, Environment* env) {
  const size_t n = fused.reads.size() - fused.data.scalars().size();
  for (size_t i = 0; i < n; ++i) {
    if ((fused.data.op().program.body.bool_inputs >> i & 1) != 0) continue;
    Value& v = env->values[static_cast<size_t>(fused.reads[i])];
    v = Value(TensorBase(as_numbers(as_tensor(v), grad)));
  }
}

void InterpretedNode::set(const Gradient::Formula& formula, GradFrame& f,
                          const Value* gradients) {
  for (size_t i = 0; i < formula.targets.size(); ++i) {
    const int target = static_cast<int>(formula.targets[i]);
    if (is_list(gradients[i])) {
      const TensorList list = as_list(gradients[i]);
      f.set_list(target, {list.begin(), list.end()});
    } else {
      f.set(target, as_tensor(gradients[i]));
    }
  }
}

void InterpretedNode::apply(GradFrame& f) {
  const Gradient& g = *form_->op->gradient;
  const bool several = form_->op->returns > 1;
  if (several && !g.uses_grads && !f.grad().defined()) return;
  for (const Gradient::Formula& formula : g.formulas) {
    const bool wanted =
        std::any_of(formula.targets.begin(), formula.targets.end(),
                    [&](size_t t) { return f.needs(static_cast<int>(t)); });
    const bool flows =
        formula.results.empty() || formula.reads_grad ||
        std::any_of(formula.results.begin(), formula.results.end(),
                    [&](size_t r) { return f.has_any(static_cast<int>(r)); });
    if (!wanted || !flows) continue;
    if (formula.by_geometry) {
      f.set(static_cast<int>(formula.targets[0]),
            as_strided_backward(f.grad(), self_, view_));
      continue;
    }
    Environment env;
    unpack(formula, f, &env);
    std::vector<Value> gradients(formula.targets.size());
    Tensor one;
    if (formula.fused) one = fused(formula, env);
    if (one.defined()) {
      gradients[0] = Value(TensorBase(std::move(one)));
    } else {
      if (formula.fused) count_truths(*formula.fused, f.grad(), &env);
      formula.program->run(env.names.data(), gradients.data(),
                           gradients.size());
    }
    set(formula, f, gradients.data());
  }
}

class OverwriteNode final : public NodeOfMany {
 public:
  void apply(GradFrame& f) override {
    static constinit KnownOperator<Tensor(
        const Tensor&, std::optional<ScalarType>, std::optional<Layout>,
        std::optional<Device>, std::optional<bool>,
        std::optional<MemoryFormat>)>
        zeros_like("aten::zeros_like");
    f.set(0, zeros_like.call(f.grad(), {}, {}, {}, {}, {}));
  }
};

void below(const OperatorEntry& op, DispatchKeySet keys, Value* args, size_t n,
           Value* results, size_t num_results) {
  OperatorHandle(&op).redispatch_boxed(below_autograd(keys), args, n, results,
                                       num_results);
}

void quietly_below(const OperatorEntry& op, DispatchKeySet keys, Value* args,
                   size_t n, Value* results, size_t num_results) {
  const AutoDispatchBelowAutograd guard;
  below(op, keys, args, n, results, num_results);
}

void set_histories(const OverloadState& form,
                   const intrusive_ptr<InterpretedNode>& node, Value* results,
                   size_t n) {
  if (n == 1 && is_list(results[0])) {
    const TensorList list = as_list(results[0]);
    std::vector<Tensor> own(list.begin(), list.end());
    if (form.returns_view) {
      set_history_views(own, node);
    } else {
      set_history(own, node);
    }
    results[0] = Value::tensor_list(own.data(), own.size());
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    if (i == 0 || form.op->gradient->uses_grads) {
      set_history(static_cast<Tensor&>(results[i].to_tensor()), node);
    } else {
      skip_output(*node);
    }
  }
}

void record(const Kernel& k, const OperatorEntry& op, DispatchKeySet keys,
            Value* args, size_t num_args, Value* results, size_t n) {
  const auto& form = *static_cast<const OverloadState*>(k.context);
  check_boxes(form, args);
  const auto inputs = differentiable(form, args);
  Tensor* const self =
      form.written.empty()
          ? nullptr
          : &static_cast<Tensor&>(args[form.written[0]].to_tensor());
  const bool recorded = self == nullptr ? any_wants_grad(inputs)
                                        : write_is_recorded(*self, inputs);
  if (!recorded) return below(op, keys, args, num_args, results, n);
  if (self != nullptr) check_inplace(op, *self);
  auto node = new_node<InterpretedNode>(op, form.op->token, inputs);
  node->start(form);
  node->keep_arguments(args);
  quietly_below(op, keys, args, num_args, results, n);
  if (self == nullptr) {
    set_histories(form, node, results, n);
    node->keep_results(results);
  } else {
    const bool is_view = form.gradient == model::FormGradient::kRecordView;
    (is_view ? set_history_of_view : rebase_history)(*self, node);
    node->keep_results(&args[form.written[0]]);
  }
}

void overwrite(const Kernel& k, const OperatorEntry& op, DispatchKeySet keys,
               Value* args, size_t num_args, Value* results, size_t n) {
  const auto& form = *static_cast<const OverloadState*>(k.context);
  check_boxes(form, args);
  const Value& written = args[form.written[0]];
  auto& self = static_cast<Tensor&>(args[form.written[0]].to_tensor());
  if (!write_is_recorded(self, {&written})) {
    return below(op, keys, args, num_args, results, n);
  }
  check_inplace(op, self);
  auto node = new_node<OverwriteNode>(op, form.op->token, {&written});
  quietly_below(op, keys, args, num_args, results, n);
  rebase_history(self, std::move(node));
}

void reject(const Kernel& k, const OperatorEntry& op, DispatchKeySet keys,
            Value* args, size_t num_args, Value* results, size_t n) {
  const auto& form = *static_cast<const OverloadState*>(k.context);
  check_boxes(form, args);
  std::vector<const Value*> tensors;
  if (form.op->gradient != nullptr) {
    tensors = differentiable(form, args);
  } else {
    const auto& arguments = form.op->arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].type.is_tensor_like() && form.positions[i] >= 0) {
        tensors.push_back(&args[form.positions[i]]);
      }
    }
  }
  for (const int w : form.written) tensors.push_back(&args[w]);
  if (any_wants_grad(tensors)) reject_out(op);
  below(op, keys, args, num_args, results, n);
}

int position(const std::vector<std::string>& names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  SY_INTERNAL_ASSERT(it != names.end(), "{}", name);
  return static_cast<int>(it - names.begin());
}

}  // namespace

OperatorState::~OperatorState() = default;

std::unique_ptr<Gradient> make_gradient(model::DerivativePlan plan,
                                        const model::Operator& op,
                                        const char* name,
                                        const FindCallee& find) {
  auto g = std::make_unique<Gradient>();
  const FunctionSchema& schema = op.base.schema;
  std::vector<std::string> names;
  for (const Saved& s : plan.saved) {
    names.push_back(s.name);
  }
  names.emplace_back("grad");
  names.emplace_back("grads");
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    names.push_back(lang::gradient_name(i));
    names.push_back(lang::gradient_name(i) + "?");
  }
  for (const model::GradFormula& f : plan.formulas) {
    if (!f.own.empty() && std::count(names.begin(), names.end(), f.own) == 0) {
      names.push_back(f.own);
    }
  }
  g->names = names.size();
  g->formulas.reserve(plan.formulas.size());
  g->saved.reserve(plan.saved.size());
  for (const model::GradFormula& f : plan.formulas) {
    Gradient::Formula out;
    out.targets = f.targets;
    if (!f.own.empty()) {
      out.own = static_cast<int>(std::find(names.begin(), names.end(), f.own) -
                                 names.begin());
    }
    out.by_geometry = f.by_geometry;
    if (!f.by_geometry) {
      const auto reads = [&](const char* name) {
        return std::count(f.names.begin(), f.names.end(), name) > 0;
      };
      out.results = f.results;
      out.reads_grad = reads("grad");
      out.reads_grads = f.results.empty() && reads("grads");
      for (size_t i = 0; i < plan.saved.size(); ++i) {
        if (names[i] != f.own &&
            std::count(f.names.begin(), f.names.end(), names[i]) > 0) {
          out.reads.push_back(i);
        }
      }
      out.program.emplace(f.code.plan, names, name, find);
    }
    if (f.fused) {
      const model::PointwiseParts parts = model::fused_parts(op, f);
      if (beyond_limits(parts.program).empty()) {
        if (g->name.empty()) g->name = parts.name;
        out.fused =
            std::make_unique<FusedFormula>(parts, schema, g->name.c_str());
        const PointwiseData& data = out.fused->data;
        std::vector<int>& reads = out.fused->reads;
        reads.reserve(data.op().n_inputs + data.scalars().size());
        for (size_t i = 0; i < data.op().n_inputs; ++i) {
          reads.push_back(position(names, data.op().input_names[i]));
        }
        for (const ScalarSource& s : data.scalars()) {
          reads.push_back(position(names, s.name));
        }
      }
    }
    g->formulas.push_back(std::move(out));
  }
  g->arguments = std::move(plan.arguments);
  for (Saved& s : plan.saved) {
    const int place = s.is_result ? static_cast<int>(s.result)
                                  : schema.argument_index(s.name);
    g->saved.push_back({InternedString(s.name), s.kind, s.is_result, place,
                        std::move(s.readers)});
  }
  g->uses_grads = plan.uses_grads;
  return g;
}

BoxedFunction gradient_kernel(model::FormGradient gradient) {
  using model::FormGradient;
  switch (gradient) {
    case FormGradient::kRecord:
    case FormGradient::kRecordView: return &record;
    case FormGradient::kOverwrite: return &overwrite;
    case FormGradient::kReject: return &reject;
    default: return nullptr;
  }
}

}  // namespace sy::runtime
