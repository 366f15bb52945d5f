#pragma once

#include <mutex>
#include <vector>

#include "aten/engine/dims.h"
#include "aten/tensor.h"
#include "c10/fork.h"
#include "c10/storage_payload.h"
#include "c10/thread_state.h"
#include "c10/value.h"

// The parts of functional tensors; functionalize.h says what they are. For the
// sources of aten/backend.

namespace sy::functional {

// The value that a base and its views share. It covers the whole storage. It is
// dense from the storage's first element on; if the tensors do not lie so, it
// is a vector of all elements. Tensors of another geometry see it through
// as_strided.
class SharedValue final : public StoragePayload {
 public:
  SharedValue(Tensor value, IntArrayRef sizes, IntArrayRef strides);
  // nullptr if the storage belongs to no functional tensor.
  static SharedValue* of(const StorageImpl& storage) noexcept;

  // The elements of `t`, a functional tensor over this value, by its geometry.
  Tensor see(const TensorImpl& t);
  // Writes `v` to the elements of `t`. `v` has the sizes and dtype of t.
  void write(const TensorImpl& t, const Tensor& v);

  // whole() returns all elements in the geometry of the storage; replace() puts
  // another value and geometry in their place.
  Tensor whole(StorageImpl& storage);
  void replace(StorageImpl& storage, Tensor value, IntArrayRef sizes,
               IntArrayRef strides);

  // Grows with each write.
  uint64_t generation();
  // Views are from now on computed from their geometry instead of replaying
  // their operators. Needed when the geometry of a tensor that has views
  // changes.
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

  RecursiveForkMutex mutex_;
  Tensor value_;
  Dims sizes_, strides_;
  uint64_t generation_ = 0;
  bool by_geometry_ = false;
};

// Data of a functional tensor. It says how the tensor was made if there is no
// ViewMeta. If the backend records, it also keeps the value, so that the value
// is recorded once.
class ViewRecord final : public BackendMeta {
 public:
  Tensor parent;  // undefined: see the ViewMeta
  const OperatorEntry* op = nullptr;
  std::vector<Value> args;
  int output = 0;

  ForkMutex mutex;
  Tensor cached;
  uint64_t generation = 0;
};

// Whether the elements of an ordinary tensor are computed later. Such a tensor
// has no memory, and its strides mean nothing.
bool is_recorded(const TensorBase& value);
// The elements of `value` in memory of their own with exactly these strides.
// Returns `value` itself if it lies so, or if it is recorded.
Tensor with_layout(const Tensor& value, IntArrayRef sizes, IntArrayRef strides);

// A functional tensor over fresh storage.
Tensor wrap(const Tensor& value);
// The elements of `t` now.
Tensor value_of(const TensorBase& t);
// Writes `v` to the elements of `t`. Its base and all views of the base follow.
void write_value(const TensorBase& t, const Tensor& v);

// While it lives, the storage of a functional tensor may change its size
// without taking memory first. No call may see the tensor meanwhile.
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

// While it lives, calls run on values: neither autograd nor functionalization
// sees them.
class OnValues {
 public:
  OnValues();

 private:
  InferenceMode inference_;
  NoGradGuard no_grad_;
  ExcludeDispatchKeyGuard keys_;
};

}  // namespace sy::functional
