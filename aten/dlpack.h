#pragma once

#include <cstdint>

#include "aten/tensor.h"

// Shares tensors with other libraries without a copy. The structures have the
// layout of DLPack 1.0. Convert them to the structures of another library's
// dlpack.h by reinterpret_cast.

namespace sy {

namespace dlpack {

struct Device {
  int32_t type;
  int32_t id;
};
constexpr int32_t kDeviceCpu = 1;

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
enum TypeCode : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBfloat = 4,
  kBool = 6
};

// Strides are in elements; nullptr means row-major.
struct TensorView {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

// DLManagedTensor. Its last owner calls deleter(self), if there is one.
struct Managed {
  TensorView tensor;
  void* context;
  void (*deleter)(Managed* self);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};
constexpr Version kVersion = {1, 0};
constexpr uint64_t kReadOnly = 1;
constexpr uint64_t kIsCopied = 2;

// DLManagedTensorVersioned.
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned* self);
  uint64_t flags;
  TensorView tensor;
};

}  // namespace dlpack

// Shares the memory of a CPU tensor, which lives until the deleter is called.
// Gradients are not passed on. Throws ValueError for another device.
SY_API dlpack::Managed* to_dlpack(const Tensor& t);
SY_API dlpack::ManagedVersioned* to_dlpack_versioned(const Tensor& t);

// A tensor over the memory of `managed`. The deleter is called when no tensor
// over that memory is left. Memory that is marked as read-only is copied.
// Throws ValueError or TypeError if `managed` is malformed, is not on the CPU,
// or has a dtype that Switchyard does not have; it then still belongs to the
// caller.
SY_API Tensor from_dlpack(dlpack::Managed* managed);
SY_API Tensor from_dlpack(dlpack::ManagedVersioned* managed);

}  // namespace sy
