#include "frontend/compile/binder.h"

#include <algorithm>
#include <utility>

#include "autograd/meta.h"

namespace sy::compiling {

Tensor root_of(const Tensor& t) {
  intrusive_ptr<TensorImpl> impl = t.impl_ptr();
  while (impl->view_meta()) {
    const autograd::Meta* const m = autograd::meta_of(*impl);
    if (m != nullptr && m->requires_grad) break;
    impl = impl->view_meta()->parent();
  }
  return Tensor(TensorBase(std::move(impl)));
}

Binder::Binder(const Arguments& a, std::vector<Touched>* touched, Variant* v)
    : arguments_(a), touched_(*touched), v_(*v) {
  for (size_t i = 0; i < touched_.size(); ++i) {
    touched_[i].place = {TensorPlace::kGrad, static_cast<int>(i)};
  }
}

int Binder::argument(const Tensor& t) const {
  const auto& all = arguments_.tensors;
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Tensor& a) { return a.is_same(t); });
  return at == all.end() ? -1 : static_cast<int>(at - all.begin());
}

TensorPlace Binder::place_of_outer(const Tensor& t) {
  for (size_t i = 0; i < v_.outer.size(); ++i) {
    if (v_.outer[i].tensor.is_same(t)) {
      return {TensorPlace::kOuter, static_cast<int>(i)};
    }
  }
  v_.outer.emplace_back(t);
  return {TensorPlace::kOuter, static_cast<int>(v_.outer.size()) - 1};
}

TensorPlace Binder::place_of_leaf(const Tensor& t) {
  const int given = argument(t);
  return given >= 0 ? TensorPlace{TensorPlace::kArgument, given}
                    : place_of_outer(t);
}

// Finds the place of a value that an earlier step has made.
bool Binder::find_value(const Tensor& t, TensorPlace* place) const {
  for (size_t i = 0; i < values_.size(); ++i) {
    for (size_t k = 0; k < values_[i].size(); ++k) {
      if (values_[i][k].lock().get() != t.storage().get()) continue;
      *place = {TensorPlace::kValue, static_cast<int>(k), static_cast<int>(i)};
      return true;
    }
  }
  return false;
}

// The place where a replay finds memory that was there before the call, or was
// made by a step.
TensorPlace Binder::place_of(const Tensor& t) {
  TensorPlace value;
  if (find_value(t, &value)) return value;
  const auto shares = [&](const Tensor& other) {
    return other.defined() && other.storage().get() == t.storage().get();
  };
  int given = argument(t);
  for (size_t i = 0; i < arguments_.tensors.size() && given < 0; ++i) {
    if (shares(arguments_.tensors[i])) given = static_cast<int>(i);
  }
  if (given >= 0) return {TensorPlace::kArgument, given};
  const Tensor root = root_of(t);
  for (const Touched& g : touched_) {
    if (root.is_same(g.before)) return g.place;
  }
  for (const Touched& g : touched_) {
    if (shares(g.before)) return g.place;
  }
  return place_of_outer(root_of(t));
}

bool Binder::is_read(TensorPlace grad) const {
  const auto is_it = [&](TensorPlace p) {
    return p.kind == grad.kind && p.index == grad.index;
  };
  return std::any_of(v_.inputs.begin(), v_.inputs.end(),
                     [&](const auto& in) { return is_it(in.place); }) ||
         std::any_of(v_.outputs.begin(), v_.outputs.end(), [&](const auto& o) {
           return o.is_place && is_it(o.place);
         });
}

const Tensor& Binder::tensor_at(TensorPlace p) const {
  const auto i = static_cast<size_t>(p.index);
  switch (p.kind) {
    case TensorPlace::kArgument: return arguments_.tensors[i];
    case TensorPlace::kOuter: return v_.outer[i].tensor;
    default: return touched_[i].before;
  }
}

void Binder::add_step(capture::Piece* p, Device device) {
  auto step = std::make_shared<Step>();
  step->device = device;
  step->graph = std::move(p->graph);
  step->look = std::move(p->look);
  bind_inputs(p->graph_tensors, step->graph->inputs(), &step->inputs);
  values_.push_back(p->values);
  bind_inputs(p->look_tensors, step->look->inputs(), &step->look_inputs);
  p->graph_tensors.clear();
  p->look_tensors.clear();
  v_.steps.push_back(std::move(step));
  v_.seen.push_back(p->seen);
}

void Binder::bind_inputs(const std::vector<Tensor>& seen,
                         const std::vector<capture::Input>& of,
                         std::vector<BoundInput>* to) {
  for (size_t i = 0; i < seen.size(); ++i) {
    const capture::Input& in = of[i];
    BoundInput b;
    const auto given = static_cast<int>(arguments_.tensors.size());
    if (in.source >= given) {
      b.place = {TensorPlace::kSeed, in.source};
      to->push_back(b);
      continue;
    }
    b.place = in.source >= 0 ? TensorPlace{TensorPlace::kArgument, in.source}
                             : place_of(seen[i]);
    b.whole = in.whole;
    b.written = in.written;
    const auto item = static_cast<int64_t>(seen[i].itemsize());
    b.offset = seen[i].storage_offset() * item;
    if (b.place.kind != TensorPlace::kValue) {
      const Tensor& at = tensor_at(b.place);
      if (b.place.kind != TensorPlace::kOuter) {
        b.offset -= at.storage_offset() * static_cast<int64_t>(at.itemsize());
      }
      b.first = at.storage_offset();
      b.bytes = at.storage()->nbytes();
    }
    to->push_back(b);
  }
}

void Binder::describe_outputs(const Outputs& outputs) {
  for (size_t k = 0; k < outputs.tensors.size(); ++k) {
    const Tensor& t = outputs.tensors[k];
    Output o;
    o.defined = t.defined();
    o.requires_grad = autograd::requires_grad(t);
    o.result = k;
    if (o.defined && v_.forward->results()[k].input >= 0) {
      o.place = place_of(t);
      o.is_place =
          o.place.kind != TensorPlace::kValue && tensor_at(o.place).is_same(t);
    }
    v_.outputs.push_back(o);
  }
}

void Binder::add_grads() {
  for (const Touched& g : touched_) {
    Grad grad;
    grad.of = place_of_leaf(g.leaf);
    grad.before = g.guard;
    v_.grads.push_back(grad);
  }
}

void Binder::describe_grads(size_t next) {
  for (size_t i = 0; i < touched_.size(); ++i) {
    const Touched& g = touched_[i];
    if (g.after.is_same(g.before)) continue;
    if (!g.after.defined() && !g.before.defined()) continue;
    v_.grads[i].effect = g.after.defined() ? Grad::kSet : Grad::kReset;
    v_.grads[i].read = !v_.steps.empty() || is_read(g.place);
    if (g.after.defined()) v_.grads[i].result = next++;
  }
}

}  // namespace sy::compiling
