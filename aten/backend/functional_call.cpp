#include "aten/backend/functional_call.h"

#include <algorithm>

#include "aten/backend/functionalize.h"
#include "aten/engine/view.h"
#include "c10/dispatcher.h"

namespace sy::functional {

bool has_functional(const Value& v) {
  bool found = false;
  for_each_tensor(v, [&](const TensorBase& t) { found |= is_functional(t); });
  return found;
}

bool has_composite(const OperatorEntry& op) {
  return op.has_kernel(DispatchKey::Undefined, kCPU);
}

void call(const OperatorEntry& op, std::vector<Value>& args, Value* results,
          size_t n) {
  OperatorHandle(&op).call_boxed(args.data(), args.size(), results, n);
}

CallOnValues::CallOnValues(const Value* args, size_t n) {
  args_.reserve(n);
  for (size_t i = 0; i < n; ++i) args_.push_back(to_values(args[i]));
}

bool CallOnValues::recorded() const {
  return std::any_of(pairs_.begin(), pairs_.end(),
                     [](const Pair& p) { return is_recorded(p.value); });
}

Value CallOnValues::result(const Value& v) {
  if (v.is_tensor()) return Value(result_tensor(Tensor(v.to_tensor())));
  if (v.tag() != Value::Tag::TensorList) return v;
  std::vector<TensorBase> list;
  for (const TensorBase& t : v.to_tensor_list()) {
    list.push_back(t.defined() ? result_tensor(Tensor(t)) : t);
  }
  return Value::tensor_list(list.data(), list.size());
}

TensorBase CallOnValues::to_value(const TensorBase& t) {
  if (!is_functional(t)) return t;
  for (const Pair& p : pairs_) {
    if (p.outer.is_same(t)) return p.value;
  }
  pairs_.push_back({t, value_of(t)});
  // The value is an alias of its own, so that a result which is an argument is
  // recognized.
  Tensor& v = pairs_.back().value;
  const bool wrapped_number = v.impl()->is_wrapped_number();
  v = alias_without_view(v, v.sizes(), v.strides(), v.storage_offset());
  v.impl()->set_wrapped_number(wrapped_number);
  return v;
}

bool CallOnValues::is_of_plain(const TensorBase& t) const {
  return std::any_of(plain_.begin(), plain_.end(),
                     [&](const TensorBase& p) { return p.is_alias_of(t); });
}

Value CallOnValues::to_values(const Value& v) {
  for_each_tensor(v, [&](const TensorBase& t) {
    if (!is_functional(t)) plain_.push_back(t);
  });
  if (v.is_tensor()) return Value(to_value(v.to_tensor()));
  if (!has_functional(v)) return v;
  std::vector<TensorBase> list;
  for (const TensorBase& t : v.to_tensor_list()) list.push_back(to_value(t));
  return v.tag() == Value::Tag::TensorList
             ? Value::tensor_list(list.data(), list.size())
             : Value::optional_tensor_list(list.data(), list.size());
}

TensorBase CallOnValues::result_tensor(const Tensor& r) {
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
  if (is_of_plain(r)) return r;
  fresh_.push_back({wrap(r), r});
  return fresh_.back().outer;
}

}  // namespace sy::functional
