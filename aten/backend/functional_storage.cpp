#include "aten/backend/functional_storage.h"

#include <algorithm>
#include <utility>

#include "aten/backend/view_inverse.h"
#include "aten/engine/copy.h"
#include "aten/engine/view.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/scatter.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "c10/dispatcher.h"

namespace sy::functional {

namespace {

constexpr int64_t kOne = 1;

constexpr DispatchKeySet kKeys = DispatchKeySet(DispatchKey::Functionalize) |
                                 DispatchKeySet(DispatchKey::Wrapped);

size_t bytes_of(const TensorBase& t) {
  return static_cast<size_t>(t.numel()) * t.itemsize();
}

// Whether these strides leave no gap and meet nowhere.
bool is_dense(const TensorImpl& t) { return t.is_non_overlapping_and_dense(); }

// Whether the elements are all that the storage has, from its start.
bool covers(const TensorImpl& t) {
  return t.storage_offset() == 0 && is_dense(t) &&
         static_cast<size_t>(t.numel()) * t.itemsize() == t.storage()->nbytes();
}

// All elements of an ordinary tensor's storage.
Tensor all_elements(const Tensor& t) {
  const auto n = static_cast<int64_t>(t.storage()->nbytes() / t.itemsize());
  return alias_without_view(t, {&n, 1}, {&kOne, 1}, 0);
}

const TensorImpl* parent_of(const TensorImpl& t, const ViewRecord* record) {
  if (record != nullptr && record->parent.defined()) {
    return record->parent.impl();
  }
  return t.view_meta() ? t.view_meta()->parent().get() : nullptr;
}

ViewRecord* record_of(const TensorImpl& t) {
  return dynamic_cast<ViewRecord*>(t.backend_meta().get());
}

// Whether the view is made by replaying its operator. A view of the storage
// itself is not, since values need not lie as their tensors.
bool replayed(const TensorImpl& t, const TensorImpl* parent,
              const OperatorEntry* op, SharedValue& shared) {
  return parent != nullptr && parent->storage() == t.storage() &&
         op->name() != "aten::as_strided" && shared.knows_views();
}

const OperatorEntry* operator_of(const TensorImpl& t,
                                 const ViewRecord* record) {
  if (record != nullptr && record->parent.defined()) return record->op;
  return t.view_meta() ? t.view_meta()->op() : nullptr;
}

// The view `t` of its base's value. One that is recorded is reshaped: it may
// have other strides than the base, which `view` looks at.
Tensor replay(const TensorImpl& t, const OperatorEntry& op, const Tensor& base,
              std::vector<Value> args, int output) {
  const bool by_strides =
      op.name() == "aten::view" || op.name() == "aten::_reshape_alias";
  if (by_strides && is_recorded(base)) return base.reshape(t.sizes());
  return apply_view(op, base, std::move(args), output);
}

struct HowMade {
  const OperatorEntry* op;
  std::vector<Value> args;
  int output;
};

HowMade how_made(const TensorImpl& t, const ViewRecord* record) {
  if (record != nullptr && record->parent.defined()) {
    return {record->op, record->args, record->output};
  }
  const ViewMeta& m = *t.view_meta();
  return {m.op(), view_arguments(m), m.output()};
}

TensorBase handle_of(const TensorImpl& t) {
  return TensorBase(
      intrusive_ptr<TensorImpl>::retain(const_cast<TensorImpl*>(&t)));
}

}  // namespace

OnValues::OnValues()
    : inference_(false),
      keys_(DispatchKeySet(DispatchKey::Autograd) |
            DispatchKeySet(DispatchKey::Functionalize)) {}

bool is_recorded(const TensorBase& value) {
  return value.raw_data() == nullptr && !value.is_meta() &&
         bytes_of(value) != 0 && value.storage()->payload() != nullptr;
}

Tensor with_layout(const Tensor& value, IntArrayRef sizes,
                   IntArrayRef strides) {
  if (is_recorded(value)) return value;
  if (value.strides() == strides && covers(*value.impl())) return value;
  Tensor out = empty_strided(sizes, strides, value.options());
  copy_between(out, value);
  return out;
}

ResizedStorage::ResizedStorage(StorageImpl& storage)
    : storage_(storage),
      payload_(intrusive_ptr<StoragePayload>::retain(storage.payload())) {
  if (storage.data_acquire() != nullptr && !storage.is_handed_out()) {
    storage.give_memory();
  }
  storage.set_payload(nullptr);
}

ResizedStorage::~ResizedStorage() { storage_.set_payload(std::move(payload_)); }

// ---- SharedValue

SharedValue::SharedValue(Tensor value, IntArrayRef sizes, IntArrayRef strides)
    : StoragePayload(value.device().type()),
      value_(std::move(value)),
      sizes_(sizes),
      strides_(strides) {}

SharedValue* SharedValue::of(const StorageImpl& storage) noexcept {
  return dynamic_cast<SharedValue*>(storage.payload());
}

bool SharedValue::same_geometry(const TensorImpl& t) const {
  return t.storage_offset() == 0 && t.dtype() == value_.scalar_type() &&
         t.sizes() == IntArrayRef(sizes_) &&
         (t.strides() == IntArrayRef(strides_) || t.numel() == 0);
}

void SharedValue::set(StorageImpl& storage, Tensor value, IntArrayRef sizes,
                      IntArrayRef strides) {
  const Dims new_sizes(sizes), new_strides(strides);
  sizes_ = new_sizes;
  strides_ = new_strides;
  value_ = std::move(value);
  ++generation_;
  if (storage.data_acquire() == nullptr) return;
  // Memory that somebody asked for is his as soon as he may write to it.
  if (!storage.is_handed_out()) {
    storage.give_memory();
    return;
  }
  const TensorBase memory(TensorImpl::make(
      intrusive_ptr<StorageImpl>::retain(&storage), value_.scalar_type(),
      value_.device(), DispatchKeySet::dense(value_.device().type()), sizes_,
      strides_, 0));
  copy_between(memory, value_);
}

// Reads back what was written to the memory by its pointer.
void SharedValue::follow(StorageImpl& storage) {
  if (!storage.is_handed_out() || storage.data_acquire() == nullptr) return;
  const TensorBase memory(TensorImpl::make(
      intrusive_ptr<StorageImpl>::retain(&storage), value_.scalar_type(),
      value_.device(), DispatchKeySet::dense(value_.device().type()), sizes_,
      strides_, 0));
  Tensor now = empty_strided(sizes_, strides_, value_.options());
  copy_between(now, memory);
  value_ = std::move(now);
}

// The value in one dim, in the order of the storage.
Tensor SharedValue::flat() const {
  const int64_t n = value_.numel();
  if (!is_recorded(value_)) {
    return alias_without_view(value_, {&n, 1}, {&kOne, 1},
                              value_.storage_offset());
  }
  return value_.permute(order()).reshape({n});
}

// The inverse of flat().
Tensor SharedValue::unflat(const Tensor& flat) const {
  if (!is_recorded(flat)) return flat.as_strided(sizes_, strides_, 0);
  const Dims order = this->order();
  Dims sizes, inverse;
  inverse.resize(order.size());
  for (int i = 0; i < order.size(); ++i) {
    sizes.push_back(sizes_[order[i]]);
    inverse[order[i]] = i;
  }
  return flat.reshape(sizes).permute(inverse);
}

// The dims of the storage, slowest first.
Dims SharedValue::order() const {
  Dims out;
  for (int d = 0; d < sizes_.size(); ++d) out.push_back(d);
  std::stable_sort(out.begin(), out.end(), [&](int64_t x, int64_t y) {
    return strides_[x] > strides_[y];
  });
  return out;
}

// All elements that the storage has now; new ones are zero.
Tensor SharedValue::whole(StorageImpl& storage) {
  const std::lock_guard lock(mutex_);
  follow(storage);
  const auto n = static_cast<int64_t>(storage.nbytes() / value_.itemsize());
  const int64_t had = value_.numel();
  if (n == had) return value_;
  Tensor all = flat();
  if (n < had) all = all.slice(0, 0, n);
  if (n > had) all = cat({all, all.new_zeros({n - had})});
  value_ = with_layout(all, {&n, 1}, {&kOne, 1});
  sizes_ = Dims(IntArrayRef(&n, 1));
  strides_ = Dims(IntArrayRef(&kOne, 1));
  return value_;
}

void SharedValue::replace(StorageImpl& storage, Tensor value, IntArrayRef sizes,
                          IntArrayRef strides) {
  const std::lock_guard lock(mutex_);
  set(storage, std::move(value), sizes, strides);
}

Tensor SharedValue::see(const TensorImpl& t) {
  const std::lock_guard lock(mutex_);
  const Tensor all = whole(*t.storage());
  if (same_geometry(t)) return all;
  Tensor v = flat();
  if (t.dtype() != v.scalar_type()) v = v.view(t.dtype());
  return v.as_strided(t.sizes(), t.strides(),
                      v.storage_offset() + t.storage_offset());
}

void SharedValue::write(const TensorImpl& t, const Tensor& v) {
  const std::lock_guard lock(mutex_);
  StorageImpl& storage = *t.storage();
  if (covers(t) && t.dtype() == value_.scalar_type()) {
    set(storage, with_layout(v, t.sizes(), t.strides()), t.sizes(),
        t.strides());
    return;
  }
  whole(storage);
  const ScalarType dtype = value_.scalar_type();
  Tensor all = flat();
  if (t.dtype() != dtype) all = all.view(t.dtype());
  all = as_strided_scatter(all, v, t.sizes(), t.strides(),
                           all.storage_offset() + t.storage_offset());
  if (t.dtype() != dtype) all = all.view(dtype);
  const Dims sizes(sizes_), strides(strides_);
  set(storage, with_layout(unflat(all), sizes, strides), sizes, strides);
}

uint64_t SharedValue::generation() {
  const std::lock_guard lock(mutex_);
  return generation_;
}

void SharedValue::forget_views() {
  const std::lock_guard lock(mutex_);
  by_geometry_ = true;
  ++generation_;
}

bool SharedValue::knows_views() {
  const std::lock_guard lock(mutex_);
  return !by_geometry_;
}

void SharedValue::materialize(StorageImpl& storage) {
  const std::lock_guard lock(mutex_);
  if (storage.data_acquire() != nullptr) return;
  const OnValues below;
  const Tensor v = whole(storage);
  const Device device = v.device();
  auto memory = StorageImpl::allocate(storage.nbytes(), device);
  const TensorBase to(TensorImpl::make(memory, v.scalar_type(), device,
                                       DispatchKeySet::dense(device.type()),
                                       sizes_, strides_, 0));
  copy_between(to, v);
  storage.take_memory(std::move(memory));
}

// ---- functional tensors

Tensor wrap(const Tensor& value) {
  Tensor v = value;
  size_t bytes = bytes_of(v);
  Dims sizes(v.sizes()), strides(v.strides());
  int64_t offset = 0;
  if (!is_recorded(v) && !covers(*v.impl())) {
    offset = v.storage_offset();
    bytes = v.storage()->nbytes();
    v = all_elements(v);
  }
  auto shared = make_intrusive<SharedValue>(v, v.sizes(), v.strides());
  Storage storage = StorageImpl::without_data(bytes, v.device());
  storage->set_payload(std::move(shared));
  auto impl =
      TensorImpl::make(std::move(storage), v.scalar_type(), v.device(),
                       kKeys | DispatchKeySet::backend(v.device().type()),
                       sizes, strides, offset);
  impl->set_wrapped_number(value.impl()->is_wrapped_number());
  return Tensor(std::move(impl));
}

Tensor value_of(const TensorBase& t) {
  const TensorImpl& impl = *t.impl();
  SharedValue& shared = *SharedValue::of(*impl.storage());
  ViewRecord* const record = record_of(impl);
  const TensorImpl* const parent = parent_of(impl, record);
  Tensor v;
  if (!replayed(impl, parent, operator_of(impl, record), shared)) {
    v = shared.see(impl);
  } else {
    const uint64_t now = shared.generation();
    if (record != nullptr) {
      const std::lock_guard lock(record->mutex);
      if (record->cached.defined() && record->generation == now) {
        return record->cached;
      }
    }
    HowMade how = how_made(impl, record);
    v = replay(impl, *how.op, value_of(handle_of(*parent)), std::move(how.args),
               how.output);
    if (record != nullptr && is_recorded(v)) {
      const std::lock_guard lock(record->mutex);
      record->cached = v;
      record->generation = now;
    }
  }
  if (impl.is_wrapped_number() && !v.impl()->is_wrapped_number()) {
    v = alias_without_view(v, v.sizes(), v.strides(), v.storage_offset());
    v.impl()->set_wrapped_number(true);
  }
  return v;
}

void write_value(const TensorBase& t, const Tensor& v) {
  const TensorImpl& impl = *t.impl();
  SharedValue& shared = *SharedValue::of(*impl.storage());
  ViewRecord* const record = record_of(impl);
  const TensorImpl* const parent = parent_of(impl, record);
  if (!replayed(impl, parent, operator_of(impl, record), shared)) {
    shared.write(impl, v);
    return;
  }
  HowMade how = how_made(impl, record);
  const TensorBase base = handle_of(*parent);
  write_value(base, view_inverse(*how.op, value_of(base), v,
                                 std::move(how.args), how.output));
}

}  // namespace sy::functional
