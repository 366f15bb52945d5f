#include "aten/backend/functionalize.h"

#include <algorithm>
#include <utility>

#include "aten/backend/functional_call.h"
#include "aten/engine/view.h"
#include "c10/dispatcher.h"
#include "c10/plugin/library.h"
#include "c10/schema/function_schema.h"

// Note [Functionalize and Wrapped]
// Functionalize is in the table of operators that write or whose results share
// memory with arguments; all others skip it. It runs the operator's composite
// kernel on functional tensors where only metadata matters (views), and
// otherwise the functional operator on values. Wrapped is in every table and
// reached by functional tensors alone: it makes the call on their values.

namespace sy {

namespace functional {

namespace {

DeviceType backend_of(const Value* args, size_t n) {
  DeviceType type = kCPU;
  for (size_t i = 0; i < n; ++i) {
    for_each_tensor(args[i], [&](const TensorBase& t) {
      if (is_functional(t)) type = std::max(type, t.device().type());
    });
  }
  return type;
}

// The kernel of Wrapped.
void call_wrapped(const Kernel&, const OperatorEntry& op, DispatchKeySet,
                  Value* args, size_t num_args, Value* results,
                  size_t num_results) {
  {
    const OnValues below;
    CallOnValues on_values(args, num_args);
    const bool parts = on_values.recorded() && has_composite(op) &&
                       !op.has_own_kernel(backend_of(args, num_args));
    if (!parts) {
      call(op, on_values.args(), results, num_results);
      for (size_t i = 0; i < num_results; ++i) {
        results[i] = on_values.result(results[i]);
      }
      return;
    }
  }
  // A backend that records sees the parts, made functional as well.
  OperatorHandle(&op).redispatch_boxed(DispatchKeySet(), args, num_args,
                                       results, num_results);
}

// ---- results that share memory

// How `result`, a view of `self`, was made, if nothing says so yet.
void record_view(const OperatorEntry& op, const Value* args, size_t n,
                 const TensorBase& result, int output) {
  if (!is_functional(result) || result.impl()->backend_meta()) return;
  const TensorBase* self = nullptr;
  for (size_t i = 0; i < n && self == nullptr; ++i) {
    if (args[i].is_tensor()) self = &args[i].to_tensor();
  }
  if (self == nullptr || self->is_same(result) || !self->is_alias_of(result)) {
    return;
  }
  const bool made_here = !result.impl()->view_meta();
  if (!made_here && !is_recorded(value_of(*self))) return;
  auto record = make_intrusive<ViewRecord>();
  if (made_here) {
    record->parent = Tensor(*self);
    record->op = &op;
    record->args.assign(args, args + n);
    for (Value& v : record->args) {
      if (v.is_tensor() && v.to_tensor().is_same(*self)) v = Value();
    }
    record->output = output;
  }
  result.impl()->set_backend_meta(std::move(record));
}

// Tensors beside the one that is viewed may be read, as indices are.
std::vector<Value> with_values_beside_self(const Value* args, size_t n) {
  const OnValues below;
  std::vector<Value> out(args, args + n);
  bool self = true;
  for (Value& v : out) {
    if (v.is_tensor() && !std::exchange(self, false) &&
        is_functional(v.to_tensor())) {
      v = Value(value_of(v.to_tensor()));
    }
  }
  return out;
}

void call_view(const OperatorEntry& op, Value* args, size_t num_args,
               Value* results, size_t num_results) {
  std::vector<Value> in = with_values_beside_self(args, num_args);
  OperatorHandle(&op).redispatch_boxed(DispatchKeySet(), in.data(), num_args,
                                       results, num_results);
  // The parts of an operator that is made of others have recorded their views.
  const OnValues below;
  for (size_t i = 0; i < num_results; ++i) {
    int output = 0;
    for_each_tensor(results[i], [&](const TensorBase& t) {
      record_view(op, args, num_args, t, output++);
    });
  }
}

// The kernel of Functionalize.
void functionalize_call(const Kernel&, const OperatorEntry& op,
                        DispatchKeySet keys, Value* args, size_t num_args,
                        Value* results, size_t num_results) {
  const bool any = std::any_of(args, args + num_args, has_functional);
  const WritePlan& plan = write_plan(op);
  const bool stays = plan.kind == WritePlan::kPure ||
                     plan.kind == WritePlan::kOnCopies ||
                     plan.kind == WritePlan::kGeometry;
  if (!any && stays) {
    const DispatchKeySet below =
        keys & DispatchKeySet::below(DispatchKey::Functionalize);
    OperatorHandle(&op).redispatch_boxed(below, args, num_args, results,
                                         num_results);
    return;
  }
  switch (plan.kind) {
    case WritePlan::kPure:
      if (has_composite(op)) {
        call_view(op, args, num_args, results, num_results);
      } else {
        OperatorHandle(&op).redispatch_boxed(
            DispatchKeySet(DispatchKey::Wrapped), args, num_args, results,
            num_results);
      }
      return;
    case WritePlan::kGeometry:
      write_geometry(op, plan, args, num_args, results, num_results);
      return;
    case WritePlan::kFunctional: {
      const OnValues below;
      write_functional(op, plan, args, num_args, results, num_results);
      return;
    }
    case WritePlan::kOnCopies: {
      const OnValues below;
      write_copies(op, plan, args, num_args, results, num_results);
      return;
    }
  }
}

SY_LIBRARY_IMPL(_, Functionalize, m) {
  m.fallback(Kernel::from_boxed(&functionalize_call));
}
SY_LIBRARY_IMPL(_, Wrapped, m) {
  m.fallback(Kernel::from_boxed(&call_wrapped));
}

}  // namespace

}  // namespace functional

bool is_functional(const TensorBase& t) {
  return t.defined() && t.key_set().has(DispatchKey::Wrapped) &&
         functional::SharedValue::of(*t.storage()) != nullptr;
}

Tensor functionalize(const Tensor& t) {
  return functionalize(TensorList(&t, 1))[0];
}

std::vector<Tensor> functionalize(TensorList tensors) {
  std::vector<Tensor> out;
  struct Known {
    Tensor plain, functional;
  };
  std::vector<Known> known;
  for (const Tensor& t : tensors) {
    if (!t.defined() || is_functional(t)) {
      out.push_back(t);
      continue;
    }
    const auto same =
        std::find_if(known.begin(), known.end(),
                     [&](const Known& k) { return k.plain.is_same(t); });
    if (same != known.end()) {
      out.push_back(same->functional);
      continue;
    }
    const auto alias =
        std::find_if(known.begin(), known.end(),
                     [&](const Known& k) { return k.plain.is_alias_of(t); });
    Tensor f;
    {
      const functional::OnValues below;
      if (alias != known.end()) {
        f = alias_without_view(alias->functional, t.sizes(), t.strides(),
                               t.storage_offset());
        f.impl()->set_dtype(t.scalar_type());
      } else {
        Tensor value =
            alias_without_view(t, t.sizes(), t.strides(), t.storage_offset());
        value.impl()->set_wrapped_number(t.impl()->is_wrapped_number());
        f = functional::wrap(value);
      }
    }
    // No tensor has autograd metadata without the autograd library.
    if (t.impl()->autograd_meta() != nullptr && t.requires_grad()) {
      f.requires_grad_();
    }
    known.push_back({t, f});
    out.push_back(std::move(f));
  }
  return out;
}

Tensor functional_value(const Tensor& t) {
  if (!is_functional(t)) return t;
  const functional::OnValues below;
  return functional::value_of(t);
}

}  // namespace sy
