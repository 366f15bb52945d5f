#include "aten/backend/functionalize.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "aten/backend/functional_storage.h"
#include "aten/backend/write_plan.h"
#include "aten/engine/guard.h"
#include "aten/engine/structured.h"
#include "aten/engine/view.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/ops/view_alias.h"
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

bool has_functional(const Value& v) {
  bool found = false;
  for_each_tensor(v, [&](const TensorBase& t) { found |= is_functional(t); });
  return found;
}

// A call's arguments with values in place of functional tensors, and the way
// back for its results.
class CallOnValues {
 public:
  CallOnValues(const Value* args, size_t n) {
    args_.reserve(n);
    for (size_t i = 0; i < n; ++i) args_.push_back(to_values(args[i]));
  }

  std::vector<Value>& args() { return args_; }
  bool recorded() const {
    return std::any_of(pairs_.begin(), pairs_.end(),
                       [](const Pair& p) { return is_recorded(p.value); });
  }

  // Of what the call gave: a value that was an argument is that argument,
  // memory of one is a view of it, anything else is a fresh functional tensor.
  Value result(const Value& v) {
    if (v.is_tensor()) return Value(result_tensor(Tensor(v.to_tensor())));
    if (v.tag() != Value::Tag::TensorList) return v;
    std::vector<TensorBase> list;
    for (const TensorBase& t : v.to_tensor_list()) {
      list.push_back(t.defined() ? result_tensor(Tensor(t)) : t);
    }
    return Value::tensor_list(list.data(), list.size());
  }

 private:
  struct Pair {
    TensorBase outer;
    Tensor value;
  };

  TensorBase to_value(const TensorBase& t) {
    if (!is_functional(t)) return t;
    for (const Pair& p : pairs_) {
      if (p.outer.is_same(t)) return p.value;
    }
    pairs_.push_back({t, value_of(t)});
    // Of its own, so that results which are arguments are known.
    Tensor& v = pairs_.back().value;
    const bool wrapped_number = v.impl()->is_wrapped_number();
    v = alias_without_view(v, v.sizes(), v.strides(), v.storage_offset());
    v.impl()->set_wrapped_number(wrapped_number);
    return v;
  }

  Value to_values(const Value& v) {
    if (v.is_tensor()) return Value(to_value(v.to_tensor()));
    if (!has_functional(v)) return v;
    std::vector<TensorBase> list;
    for (const TensorBase& t : v.to_tensor_list()) list.push_back(to_value(t));
    return v.tag() == Value::Tag::TensorList
               ? Value::tensor_list(list.data(), list.size())
               : Value::optional_tensor_list(list.data(), list.size());
  }

  TensorBase result_tensor(const Tensor& r) {
    for (const Pair& p : pairs_) {
      if (p.value.is_same(r)) return p.outer;
    }
    for (const Pair& p : pairs_) {
      if (!p.value.is_alias_of(r)) continue;
      // The outer tensor and its value lie alike: see with_layout.
      const int64_t offset = p.outer.storage_offset() + r.storage_offset() -
                             p.value.storage_offset();
      auto view = p.outer.impl()->alias(r.sizes(), r.strides(), offset);
      view->set_dtype(r.scalar_type());
      return TensorBase(std::move(view));
    }
    for (const Pair& p : fresh_) {
      if (!p.value.is_alias_of(r)) continue;
      auto view =
          p.outer.impl()->alias(r.sizes(), r.strides(), r.storage_offset());
      return TensorBase(std::move(view));
    }
    fresh_.push_back({wrap(r), r});
    return fresh_.back().outer;
  }

  std::vector<Value> args_;
  std::vector<Pair> pairs_, fresh_;
};

bool has_composite(const OperatorEntry& op) {
  return op.has_kernel(DispatchKey::Undefined, kCPU);
}

void call(const OperatorEntry& op, std::vector<Value>& args, Value* results,
          size_t n) {
  OperatorHandle(&op).call_boxed(args.data(), args.size(), results, n);
}

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

void call_view(const OperatorEntry& op, Value* args, size_t num_args,
               Value* results, size_t num_results) {
  OperatorHandle(&op).redispatch_boxed(DispatchKeySet(), args, num_args,
                                       results, num_results);
  // What is made of other operators was seen as those.
  const OnValues below;
  for (size_t i = 0; i < num_results; ++i) {
    int output = 0;
    for_each_tensor(results[i], [&](const TensorBase& t) {
      record_view(op, args, num_args, t, output++);
    });
  }
}

// ---- writes

const char* short_name(const OperatorEntry& op) {
  const std::string_view name = op.name();
  const size_t at = name.find("::");
  return name.data() + (at == std::string_view::npos ? 0 : at + 2);
}

// The argument `t` of an out= form is resized: from now on no view of its
// storage is what it was made as.
void resize_out(const TensorBase& t, const TensorBase& like) {
  TensorImpl& outer = *t.impl();
  outer.resize(like.sizes());
  if (outer.strides() != like.strides()) {
    outer.set_sizes_and_strides(like.sizes(), like.strides(),
                                outer.storage_offset());
  }
  outer.set_backend_meta(nullptr);
  SharedValue::of(*outer.storage())->forget_views();
}

// The value that `t` has once `result` is stored in it: what a kernel of the
// form would have done, its checks included. Out= arguments are resized.
Tensor stored(const OperatorEntry& op, const Tensor& result,
              const TensorBase& t) {
  const bool out = op.has_flag(OperatorDef::kOut);
  const bool same_sizes = result.sizes() == t.sizes();
  const bool recorded = is_recorded(result);
  const bool same = same_sizes && result.scalar_type() == t.scalar_type() &&
                    result.device() == t.device();
  if (same && (recorded || result.strides() == t.strides())) return result;
  if (!recorded) {
    Tensor fresh = empty_strided(t.sizes(), t.strides(), t.options());
    if (!out) {
      store_inplace(op, result, fresh);
      return fresh;
    }
    store_result(op, result, fresh);
    if (!same_sizes) resize_out(t, fresh);
    return fresh;
  }
  const char* const argument = out ? "out" : "self";
  check_can_cast(short_name(op), argument, result.scalar_type(),
                 t.scalar_type());
  SY_CHECK(out || same_sizes, Value, "[", short_name(op), "] self: expected ",
           result.sizes(), ", the sizes of the result, got ", t.sizes());
  if (!same_sizes) resize_out(t, result);
  return result.to(t.device(), t.scalar_type());
}

void store(const OperatorEntry& op, const Tensor& result, const TensorBase& t) {
  if (is_functional(t)) return write_value(t, stored(op, result, t));
  Tensor plain{TensorBase(t)};
  if (op.has_flag(OperatorDef::kOut)) {
    store_result(op, result, plain);
  } else {
    store_inplace(op, result, plain);
  }
}

void bump_written(const OperatorEntry& op, const WritePlan& plan,
                  const Value* args) {
  for (const int8_t i : plan.written) {
    for_each_tensor(args[i], [&](const TensorBase& t) {
      if (is_functional(t)) t.impl()->bump_version(&op);
    });
  }
}

void write_functional(const OperatorEntry& op, const WritePlan& plan,
                      Value* args, size_t num_args, Value* results,
                      size_t num_results) {
  CallOnValues on_values(args, num_args);
  std::vector<Value> inner =
      functional_arguments(plan, on_values.args().data());
  std::vector<Value> out(static_cast<size_t>(plan.functional->num_results()));
  call(*plan.functional, inner, out.data(), out.size());
  bump_written(op, plan, args);
  size_t own = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (plan.stored[i] < 0) {
      while (own < num_results && plan.returned[own] >= 0) ++own;
      if (own < num_results) results[own++] = on_values.result(out[i]);
      continue;
    }
    const Value& written = args[plan.stored[i]];
    if (written.is_tensor()) {
      store(op, Tensor(out[i].to_tensor()), written.to_tensor());
      continue;
    }
    if (written.is_none()) continue;
    const ArrayRef<TensorBase> to = written.to_tensor_list();
    const ArrayRef<TensorBase> from = out[i].to_tensor_list();
    SY_CHECK(to.size() == from.size(), Value, "[", op.name(), "] expected ",
             from.size(), " tensors to write, got ", to.size());
    for (size_t j = 0; j < to.size(); ++j) {
      store(op, Tensor(from[j]), to[j]);
    }
  }
  for (size_t k = 0; k < num_results; ++k) {
    if (plan.returned[k] >= 0) results[k] = args[plan.returned[k]];
  }
}

// Fresh copies of storages, over which tensors lie as they did.
class Copies {
 public:
  // `written`: functional tensors whose storages are copied.
  void add(const TensorBase& t) {
    if (find(*t.storage()) != nullptr) return;
    SharedValue& shared = *SharedValue::of(*t.storage());
    const Tensor whole = shared.whole(*t.storage());
    copies_.push_back({t, whole.clone()});
  }

  // What stands for `t` in the call.
  Tensor of(const TensorBase& t) {
    const Copy* const copy = find(*t.storage());
    if (copy == nullptr) return value_of(t);
    for (const Pair& p : pairs_) {
      if (p.outer.is_same(t)) return p.inner;
    }
    Tensor inner;
    if (is_recorded(copy->value)) {
      inner = value_of(t).clone();
    } else {
      inner =
          alias_without_view(copy->value, t.sizes(), t.strides(),
                             copy->value.storage_offset() + t.storage_offset());
      inner.impl()->set_dtype(t.scalar_type());
    }
    pairs_.push_back({t, inner});
    return inner;
  }

  // What the call has written is the storages' value from now on.
  void keep() {
    for (const Copy& c : copies_) {
      if (!is_recorded(c.value)) keep_storage(c);
    }
    for (const Pair& p : pairs_) {
      if (is_recorded(p.inner)) write_value(p.outer, p.inner);
    }
  }

  TensorBase outer_of(const TensorBase& inner) const {
    for (const Pair& p : pairs_) {
      if (p.inner.is_same(inner)) return p.outer;
    }
    return {};
  }

 private:
  struct Copy {
    TensorBase owner;  // one of the tensors over it
    Tensor value;
  };
  struct Pair {
    TensorBase outer;
    Tensor inner;
  };

  const Copy* find(const StorageImpl& s) const {
    for (const Copy& c : copies_) {
      if (c.owner.storage().get() == &s) return &c;
    }
    return nullptr;
  }

  void keep_storage(const Copy& c) {
    StorageImpl& storage = *c.owner.storage();
    SharedValue& shared = *SharedValue::of(storage);
    Tensor value = c.value;
    bool resized = false;
    for (const Pair& p : pairs_) {
      if (p.outer.storage().get() != &storage) continue;
      TensorImpl& outer = *p.outer.impl();
      if (p.inner.sizes() == outer.sizes() &&
          p.inner.strides() == outer.strides()) {
        continue;
      }
      outer.set_sizes_and_strides(p.inner.sizes(), p.inner.strides(),
                                  p.inner.storage_offset());
      outer.set_backend_meta(nullptr);
      resized = true;
    }
    if (resized) {
      shared.forget_views();
      storage.resize(value.storage()->nbytes());
      const auto n = static_cast<int64_t>(storage.nbytes() / value.itemsize());
      const int64_t one = 1;
      value = alias_without_view(value, {&n, 1}, {&one, 1}, 0);
    }
    shared.replace(storage, value, value.sizes(), value.strides());
  }

  std::vector<Copy> copies_;
  std::vector<Pair> pairs_;
};

// A form without a functional operator writes copies.
void write_copies(const OperatorEntry& op, const WritePlan& plan, Value* args,
                  size_t num_args, Value* results, size_t num_results) {
  Copies copies;
  for (const int8_t i : plan.written) {
    for_each_tensor(args[i], [&](const TensorBase& t) {
      if (is_functional(t)) copies.add(t);
    });
  }
  bump_written(op, plan, args);
  std::vector<Value> inner(args, args + num_args);
  for (Value& v : inner) {
    if (!has_functional(v)) continue;
    if (v.is_tensor()) {
      v = Value(copies.of(v.to_tensor()));
      continue;
    }
    std::vector<TensorBase> list;
    for (const TensorBase& t : v.to_tensor_list()) {
      list.push_back(is_functional(t) ? TensorBase(copies.of(t)) : t);
    }
    v = v.tag() == Value::Tag::TensorList
            ? Value::tensor_list(list.data(), list.size())
            : Value::optional_tensor_list(list.data(), list.size());
  }
  call(op, inner, results, num_results);
  copies.keep();
  CallOnValues fresh(nullptr, 0);
  for (size_t k = 0; k < num_results; ++k) {
    if (plan.returned[k] >= 0) {
      results[k] = args[plan.returned[k]];
      continue;
    }
    if (results[k].is_tensor()) {
      if (TensorBase t = copies.outer_of(results[k].to_tensor()); t.defined()) {
        results[k] = Value(std::move(t));
        continue;
      }
    }
    results[k] = fresh.result(results[k]);
  }
}

// Metadata alone: the kernel changes the functional tensor itself.
void write_geometry(const OperatorEntry& op, const WritePlan& plan,
                    DispatchKeySet keys, Value* args, size_t num_args,
                    Value* results, size_t num_results) {
  const Value& written = args[plan.written[0]];
  if (!written.is_tensor() || !is_functional(written.to_tensor())) {
    // An ordinary tensor that is to be like a functional one.
    const OnValues below;
    CallOnValues on_values(args, num_args);
    const Value self = written;
    on_values.args()[size_t(plan.written[0])] = self;
    call(op, on_values.args(), results, num_results);
    return;
  }
  const TensorBase t = written.to_tensor();
  TensorImpl& impl = *t.impl();
  const Storage before = impl.storage();
  const Dims sizes(impl.sizes()), strides(impl.strides());
  const DispatchKeySet run = has_composite(op)
                                 ? DispatchKeySet()
                                 : DispatchKeySet::dense(t.device().type());
  (void)keys;
  OperatorHandle(&op).redispatch_boxed(run, args, num_args, results,
                                       num_results);
  const bool moved = impl.storage() != before ||
                     impl.sizes() != IntArrayRef(sizes) ||
                     impl.strides() != IntArrayRef(strides);
  if (!moved) return;
  impl.set_backend_meta(nullptr);
  if (SharedValue* const shared = SharedValue::of(*impl.storage())) {
    shared->forget_views();
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
      write_geometry(op, plan, keys, args, num_args, results, num_results);
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
    if (t.requires_grad()) f.requires_grad_();
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
