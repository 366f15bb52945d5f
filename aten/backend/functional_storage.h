#pragma once

#include <mutex>
#include <vector>

#include "aten/engine/dims.h"
#include "aten/tensor.h"
#include "c10/storage_payload.h"
#include "c10/thread_state.h"
#include "c10/value.h"

// What functional tensors are made of; functionalize.h says what they are. For
// the sources of aten/backend.

namespace sy::functional {

// The value that a base and its views share. It covers the storage: dense from
// its first element on, or, where the tensors do not lie so, all its elements
// in one dim. Tensors of other geometry are seen by as_strided.
class SharedValue final : public StoragePayload {
 public:
  SharedValue(Tensor value, IntArrayRef sizes, IntArrayRef strides);
  // nullptr if the storage is of no functional tensor.
  static SharedValue* of(const StorageImpl& storage) noexcept;

  // The elements of `t`, a functional tensor over this, by its geometry.
  Tensor see(const TensorImpl& t);
  // They become those of `v`, of t's sizes and dtype.
  void write(const TensorImpl& t, const Tensor& v);

  // All of it, with the geometry of the storage; and what replaces it.
  Tensor whole(StorageImpl& storage);
  void replace(StorageImpl& storage, Tensor value, IntArrayRef sizes,
               IntArrayRef strides);

  // Grows with each write.
  uint64_t generation();
  // From now on views are what their geometry says: that of a tensor which
  // others were made of has changed.
  void forget_views();
  bool knows_views();

  void materialize(StorageImpl& storage) override;
  const char* describe() const noexcept override {
    return "a functional tensor";
  }

 private:
  bool same_geometry(const TensorImpl& t) const;
  void follow(StorageImpl& storage);
  Tensor flat() const;
  Tensor unflat(const Tensor& flat) const;
  Dims order() const;
  void set(StorageImpl& storage, Tensor value, IntArrayRef sizes,
           IntArrayRef strides);

  std::recursive_mutex mutex_;
  Tensor value_;
  Dims sizes_, strides_;
  uint64_t generation_ = 0;
  bool by_geometry_ = false;
};

// How a functional tensor was made that has no ViewMeta, and the value of one
// whose backend records, so that it is recorded once.
class ViewRecord final : public BackendMeta {
 public:
  Tensor parent;  // undefined: see the ViewMeta
  const OperatorEntry* op = nullptr;
  std::vector<Value> args;
  int output = 0;

  std::mutex mutex;
  Tensor cached;
  uint64_t generation = 0;
};

// Whether the elements of an ordinary tensor are computed later: it has no
// memory, and its strides are nobody's business.
bool is_recorded(const TensorBase& value);
// `value` over memory of its own with just these strides.
Tensor with_layout(const Tensor& value, IntArrayRef sizes, IntArrayRef strides);

// A functional tensor over fresh storage.
Tensor wrap(const Tensor& value);
// Its elements now.
Tensor value_of(const TensorBase& t);
// They become those of `v`; its base and all views of that follow.
void write_value(const TensorBase& t, const Tensor& v);

// While it lives, a functional tensor's storage may change its size: it would
// take memory first otherwise. No call must see the tensor meanwhile.
class ResizedStorage {
 public:
  explicit ResizedStorage(StorageImpl& storage);
  ~ResizedStorage();
  ResizedStorage(const ResizedStorage&) = delete;
  ResizedStorage& operator=(const ResizedStorage&) = delete;

 private:
  StorageImpl& storage_;
  intrusive_ptr<StoragePayload> payload_;
};

// Calls are made on values: neither autograd nor this sees them.
class OnValues {
 public:
  OnValues();

 private:
  InferenceMode inference_;
  NoGradGuard no_grad_;
  ExcludeDispatchKeyGuard keys_;
};

}  // namespace sy::functional
