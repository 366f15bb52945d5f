#include <vector>

#include "aten/ops/tensor_info_kernels.h"
#include "aten/result_type.h"
#include "aten/scalar_tensor.h"
#include "aten/tensor_new.h"

namespace sy::composite {

int64_t size_of(const Tensor& self, int64_t dim) { return self.size(dim); }
int64_t stride_of(const Tensor& self, int64_t dim) { return self.stride(dim); }
int64_t dim_of(const Tensor& self) { return self.dim(); }
int64_t numel_of(const Tensor& self) { return self.numel(); }
Tensor shape_as_tensor(const Tensor& self) {
  const IntArrayRef sizes = self.sizes();
  const Tensor out =
      sy::tensor(std::vector<int64_t>(sizes.begin(), sizes.end()), kLong);
  return self.is_meta() ? out : out.to(self.device());
}
int64_t storage_offset_of(const Tensor& self) { return self.storage_offset(); }

bool is_contiguous(const Tensor& self) { return self.is_contiguous(); }
bool is_contiguous_format(const Tensor& self, MemoryFormat memory_format) {
  SY_CHECK(memory_format != MemoryFormat::Preserve, Value,
           "[is_contiguous] memory_format: expected a format, got preserve");
  return self.is_contiguous(memory_format);
}
bool is_same_size(const Tensor& self, const Tensor& other) {
  return self.sizes() == other.sizes();
}
bool is_signed(const Tensor& self) { return self.is_signed(); }
bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }
bool is_never(const Tensor& self) {
  SY_CHECK(self.defined(), Value,
           "[is_complex] self: expected a tensor, got an undefined one");
  return false;
}
bool is_inference(const Tensor& self) {
  return self.TensorBase::is_inference();  // Tensor's own calls this operator
}
bool is_set_to(const Tensor& self, const Tensor& tensor) {
  return self.storage() == tensor.storage() && self.dtype() == tensor.dtype() &&
         self.storage_offset() == tensor.storage_offset() &&
         self.sizes() == tensor.sizes() && self.strides() == tensor.strides();
}

bool can_cast_dtype(ScalarType from, ScalarType to) {
  return sy::can_cast(from, to);
}
ScalarType promote_dtypes(ScalarType type1, ScalarType type2) {
  return sy::promote_types(type1, type2);
}
ScalarType result_type_tensor(const Tensor& tensor, const Tensor& other) {
  const Tensor both[] = {tensor, other};
  return sy::result_type(TensorList(both));
}
ScalarType result_type_scalar(const Tensor& tensor, const Scalar& other) {
  return result_type_tensor(tensor, wrapped_scalar_tensor(other));
}
ScalarType result_type_scalar_tensor(const Scalar& scalar,
                                     const Tensor& tensor) {
  return result_type_scalar(tensor, scalar);
}
ScalarType result_type_scalars(const Scalar& scalar1, const Scalar& scalar2) {
  return result_type_scalar(wrapped_scalar_tensor(scalar1), scalar2);
}

Tensor lift(const Tensor& self) { return self; }

}  // namespace sy::composite
