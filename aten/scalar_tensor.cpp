#include "aten/scalar_tensor.h"

#include "aten/engine/copy.h"

namespace sy {

namespace {

Tensor cpu_scalar(const Scalar& value, ScalarType dtype) {
  Tensor t(make_tensor({}, dtype, Device(kCPU)));
  void* data = t.raw_data();
  switch (dtype) {
#define SY_WRITE(T, Enum) \
  case ScalarType::Enum: *static_cast<T*>(data) = value.to<T>(); break;
    SY_FORALL_SCALAR_TYPES(SY_WRITE)
#undef SY_WRITE
    default: fail(ErrorKind::Type, "[scalar_tensor] dtype: expected a dtype");
  }
  return t;
}

}  // namespace

Tensor wrapped_scalar_tensor(const Scalar& value) {
  Tensor t = cpu_scalar(value, value.type());
  t.impl()->set_wrapped_number(true);
  return t;
}

Tensor scalar_to_tensor(const Scalar& value, ScalarType dtype, Device device) {
  Tensor t = cpu_scalar(value, dtype);
  return device.is_cpu() ? t : to_device(t, device);
}

Scalar read_scalar(const char* op, const TensorBase& t) {
  SY_CHECK(t.defined() && t.numel() == 1, Value,
           "[{}] self: expected a tensor of one element, got {}", op,
           describe(t));
  SY_CHECK(!t.is_meta(), NotImplemented,
           "[{}] self: expected a tensor with data, got {}", op, describe(t));
  if (!t.is_cpu()) {
    return read_scalar(op, to_device(Tensor(TensorBase(t)), Device(kCPU)));
  }
  const void* data = t.impl()->const_data(op);
  switch (t.dtype()) {
#define SY_READ(T, Enum) \
  case ScalarType::Enum: return Scalar(*static_cast<const T*>(data));
    SY_FORALL_SCALAR_TYPES(SY_READ)
#undef SY_READ
    default: fail(ErrorKind::Type, "[{}] self: expected a dtype", op);
  }
}

}  // namespace sy
