#pragma once

#include "aten/engine/copy.h"
#include "aten/tensor.h"
#include "c10/process/error.h"
#include "c10/tensor/storage_payload.h"

namespace sy {

// Elements that are in a tensor on the host until somebody asks.
class LateValue final : public StoragePayload {
 public:
  LateValue(Tensor value, Device device)
      : StoragePayload(device.type()), value_(std::move(value)) {}
  void materialize(StorageImpl& s) override {
    ++runs;
    if (fails) throw OutOfMemoryError("no room");
    s.take_memory(s.device().is_cpu()
                      ? Tensor(value_).storage()
                      : to_device(value_, s.device()).storage());
  }
  const char* describe() const noexcept override { return "a late value"; }

  int runs = 0;
  bool fails = false;

 private:
  Tensor value_;
};

// A tensor without memory on `device`, whose elements will be those of `value`,
// which is contiguous and on the CPU.
struct LateTensor {
  LateTensor(const Tensor& value, Device device)
      : payload(make_intrusive<LateValue>(value, device)) {
    Storage s = StorageImpl::without_data(value.nbytes(), device);
    s->set_payload(payload);
    tensor = Tensor(TensorImpl::make(std::move(s), value.dtype(), device,
                                     DispatchKeySet::dense(device.type()),
                                     value.sizes()));
  }
  intrusive_ptr<LateValue> payload;
  Tensor tensor;
};

}  // namespace sy
