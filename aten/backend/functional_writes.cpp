#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "aten/backend/functional_call.h"
#include "aten/backend/functionalize.h"
#include "aten/engine/guard.h"
#include "aten/engine/operator_steps.h"
#include "aten/engine/structured.h"
#include "aten/engine/view.h"
#include "aten/ops/factory.h"
#include "c10/dispatcher.h"
#include "c10/schema/function_schema.h"

// Operators that write.

namespace sy::functional {

namespace {

const char* short_name(const OperatorEntry& op) {
  const std::string_view name = op.name();
  const size_t at = name.find("::");
  return name.data() + (at == std::string_view::npos ? 0 : at + 2);
}

// The argument `t` of an out= form is resized: from now on no view of its
// storage is what it was made as.
void resize_out(const TensorBase& t, const TensorBase& like) {
  TensorImpl& outer = *t.impl();
  {
    const ResizedStorage room(*outer.storage());
    outer.resize(like.sizes());
  }
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
  SY_CHECK(out || same_sizes, Value,
           "[{}] self: expected {}, the sizes of the result, got {}",
           short_name(op), result.sizes(), t.sizes());
  if (!same_sizes) resize_out(t, result);
  return result.to(t.device(), t.scalar_type());
}

void store(const OperatorEntry& op, const Tensor& result, const TensorBase& t) {
  if (op.has_flag(OperatorDef::kOut) && op.has_flag(OperatorDef::kExactOut)) {
    generated::check_out_dtype(op, t, result.scalar_type());
  }
  if (is_functional(t)) return write_value(t, stored(op, result, t));
  Tensor plain{TensorBase(t)};
  if (op.has_flag(OperatorDef::kOut)) {
    store_result(op, result, plain);
  } else {
    store_inplace(op, result, plain);
  }
}

template <class F>
bool any_written(const WritePlan& plan, const Value* args, F&& f) {
  bool found = false;
  for (const int8_t i : plan.written) {
    for_each_tensor(args[i], [&](const TensorBase& t) {
      found = found || (is_functional(t) && f(t));
    });
  }
  return found;
}

// Whether the form does more with its arguments than to store a result: where
// written tensors meet themselves or others in memory, kernels differ. And
// whether a second call would draw other numbers.
bool needs_the_form(const OperatorEntry& op, const WritePlan& plan,
                    const Value* args, size_t num_args) {
  const auto meets = [&](const TensorBase& t) {
    if (internal_overlap(t) != Overlap::No) return true;
    bool found = false;
    for (size_t i = 0; i < num_args; ++i) {
      for_each_tensor(args[i], [&](const TensorBase& other) {
        const Sharing s = sharing(t, other);
        found = found || s == Sharing::Partial || s == Sharing::TooHard;
      });
    }
    return found;
  };
  const bool redrawn =
      op.has_flag(OperatorDef::kRandom) && op.has_flag(OperatorDef::kOut);
  return redrawn || any_written(plan, args, meets);
}

// Whether what becomes of `t` is only known to the form: the layout of an out=
// argument that it may change, an in-place form that resizes.
bool unlike(const OperatorEntry& op, const TensorBase& result,
            const TensorBase& t) {
  if (!is_functional(t) || is_recorded(result)) return false;
  if (result.sizes() != t.sizes()) return true;
  return op.has_flag(OperatorDef::kOut) && result.strides() != t.strides();
}

bool unlike(const OperatorEntry& op, const WritePlan& plan, const Value* args,
            const std::vector<Value>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (plan.stored[i] < 0) continue;
    const Value& written = args[plan.stored[i]];
    if (written.is_tensor()) {
      if (unlike(op, results[i].to_tensor(), written.to_tensor())) return true;
      continue;
    }
    if (written.is_none()) continue;
    const ArrayRef<TensorBase> to = written.to_tensor_list();
    const ArrayRef<TensorBase> from = results[i].to_tensor_list();
    for (size_t j = 0; j < std::min(to.size(), from.size()); ++j) {
      if (unlike(op, from[j], to[j])) return true;
    }
  }
  return false;
}

void bump_written(const OperatorEntry& op, const WritePlan& plan,
                  const Value* args) {
  for (const int8_t i : plan.written) {
    for_each_tensor(args[i], [&](const TensorBase& t) {
      if (is_functional(t)) t.impl()->bump_version(&op);
    });
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
    const Tensor copy = whole.clone();
    copies_.push_back({t, copy, copy._version()});
  }

  // The tensor that stands for `t` in the call.
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

  // Makes the elements that the call has written the storages' value.
  void keep(const OperatorEntry& op) {
    for (const Copy& c : copies_) {
      // Not every operator counts all that it writes.
      const bool counted = is_recorded(c.value)
                               ? op.schema().is_mutable()
                               : c.value._version() != c.version;
      if (counted) c.owner.impl()->bump_version(&op);
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
    uint32_t version;
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
      {
        const ResizedStorage room(storage);
        storage.resize(value.storage()->nbytes());
      }
      const auto n = static_cast<int64_t>(storage.nbytes() / value.itemsize());
      const int64_t one = 1;
      value = alias_without_view(value, {&n, 1}, {&one, 1}, 0);
    }
    shared.replace(storage, value, value.sizes(), value.strides());
  }

  std::vector<Copy> copies_;
  std::vector<Pair> pairs_;
};

// The forms of a scan that write are asked for the dtype of what they write, or
// for none.
void check_scan_dtype(const OperatorEntry& op, const WritePlan& plan,
                      const Value* args, size_t num_args) {
  const OperatorInfo* const info = op.info();
  if (info == nullptr || info->kind != OperatorInfo::kScan) return;
  for (size_t i = 0; i < num_args; ++i) {
    if (args[i].tag() != Value::Tag::ScalarType) continue;
    const TensorBase written = args[plan.written[0]].to_tensor();
    generated::check_out_dtype(op, written, args[i].to_scalar_type());
  }
}

}  // namespace

void write_functional(const OperatorEntry& op, const WritePlan& plan,
                      Value* args, size_t num_args, Value* results,
                      size_t num_results) {
  CallOnValues on_values(args, num_args);
  const bool recorded = on_values.recorded();
  if (!recorded && needs_the_form(op, plan, args, num_args)) {
    return write_copies(op, plan, args, num_args, results, num_results);
  }
  check_scan_dtype(op, plan, args, num_args);
  std::vector<Value> inner =
      functional_arguments(plan, on_values.args().data());
  std::vector<Value> out(static_cast<size_t>(plan.functional->num_results()));
  call(*plan.functional, inner, out.data(), out.size());
  if (unlike(op, plan, args, out)) {
    return write_copies(op, plan, args, num_args, results, num_results);
  }
  bump_written(op, plan, args);
  // A tensor that others may write is no value.
  const auto fresh = [&](const TensorBase& t) {
    return on_values.is_of_plain(t) ? Tensor(t).clone() : Tensor(t);
  };
  size_t own = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (plan.stored[i] < 0) {
      while (own < num_results && plan.returned[own] >= 0) ++own;
      if (own < num_results) results[own++] = on_values.result(out[i]);
      continue;
    }
    const Value& written = args[plan.stored[i]];
    if (written.is_tensor()) {
      store(op, fresh(out[i].to_tensor()), written.to_tensor());
      continue;
    }
    if (written.is_none()) continue;
    const ArrayRef<TensorBase> to = written.to_tensor_list();
    const ArrayRef<TensorBase> from = out[i].to_tensor_list();
    SY_CHECK(to.size() == from.size(), Value,
             "[{}] expected {} tensors to write, got {}", op.name(),
             from.size(), to.size());
    for (size_t j = 0; j < to.size(); ++j) {
      store(op, fresh(from[j]), to[j]);
    }
  }
  for (size_t k = 0; k < num_results; ++k) {
    if (plan.returned[k] >= 0) results[k] = args[plan.returned[k]];
  }
}

void write_copies(const OperatorEntry& op, const WritePlan& plan, Value* args,
                  size_t num_args, Value* results, size_t num_results) {
  Copies copies;
  for (const int8_t i : plan.written) {
    for_each_tensor(args[i], [&](const TensorBase& t) {
      if (is_functional(t)) copies.add(t);
    });
  }
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
  copies.keep(op);
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

void write_geometry(const OperatorEntry& op, const WritePlan& plan, Value* args,
                    size_t num_args, Value* results, size_t num_results) {
  const Value& written = args[plan.written[0]];
  if (!written.is_tensor() || !is_functional(written.to_tensor())) {
    // An ordinary tensor that is to be like a functional one.
    const OnValues below;
    CallOnValues on_values(args, num_args);
    on_values.args()[size_t(plan.written[0])] = written;
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
  {
    // resize_ is the only one that calls nothing but TensorImpl::resize.
    std::optional<ResizedStorage> room;
    if (op.name() == "aten::resize_") room.emplace(*impl.storage());
    OperatorHandle(&op).redispatch_boxed(run, args, num_args, results,
                                         num_results);
  }
  const bool moved = impl.storage() != before ||
                     impl.sizes() != IntArrayRef(sizes) ||
                     impl.strides() != IntArrayRef(strides);
  if (!moved) return;
  impl.set_backend_meta(nullptr);
  if (SharedValue* const shared = SharedValue::of(*impl.storage())) {
    shared->forget_views();
  }
}

}  // namespace sy::functional
