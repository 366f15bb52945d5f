#include "autograd/runtime_ops.h"

#include <algorithm>

#include "aten/scalar_tensor.h"
#include "c10/dispatch/dispatcher.h"

namespace sy::autograd::rt {

Tensor add(const Tensor& a, const Tensor& b) {
  static constinit KnownOperator<Tensor(const Tensor&, const Tensor&,
                                        const Scalar&)>
      op("aten::add.Tensor");
  return op.call(a, b, 1);
}

Tensor& add_(Tensor& a, const Tensor& b) {
  static constinit KnownOperator<Tensor&(Tensor&, const Tensor&, const Scalar&)>
      op("aten::add_.Tensor");
  return op.call(a, b, 1);
}

Tensor mul(const Tensor& a, const Scalar& b) {
  static constinit KnownOperator<Tensor(const Tensor&, const Tensor&)> op(
      "aten::mul.Tensor");
  return op.call(a, wrapped_scalar_tensor(b));
}

Tensor sum(const Tensor& t, IntArrayRef dims, bool keepdim) {
  static constinit KnownOperator<Tensor(const Tensor&, OptionalIntArrayRef,
                                        bool, std::optional<ScalarType>)>
      op("aten::sum.dim_IntList");
  return op.call(t, dims, keepdim, std::nullopt);
}

Tensor view(const Tensor& t, IntArrayRef sizes) {
  static constinit KnownOperator<Tensor(const Tensor&, IntArrayRef)> op(
      "aten::view");
  return op.call(t, sizes);
}

Tensor reshape(const Tensor& t, IntArrayRef sizes) {
  static constinit KnownOperator<Tensor(const Tensor&, IntArrayRef)> op(
      "aten::reshape");
  return op.call(t, sizes);
}

Tensor as_strided(const Tensor& t, IntArrayRef sizes, IntArrayRef strides,
                  int64_t offset) {
  static constinit KnownOperator<Tensor(const Tensor&, IntArrayRef, IntArrayRef,
                                        std::optional<int64_t>)>
      op("aten::as_strided");
  return op.call(t, sizes, strides, offset);
}

Tensor& copy_(Tensor& to, const Tensor& from) {
  static constinit KnownOperator<Tensor&(Tensor&, const Tensor&, bool)> op(
      "aten::copy_");
  return op.call(to, from, false);
}

Tensor& fill_(Tensor& t, const Scalar& value) {
  static constinit KnownOperator<Tensor&(Tensor&, const Scalar&)> op(
      "aten::fill_.Scalar");
  return op.call(t, value);
}

Tensor clone(const Tensor& t) {
  static constinit KnownOperator<Tensor(const Tensor&,
                                        std::optional<MemoryFormat>)>
      op("aten::clone");
  return op.call(t, std::nullopt);
}

Tensor to_dtype(const Tensor& t, ScalarType dtype) {
  static constinit KnownOperator<Tensor(const Tensor&, ScalarType, bool, bool,
                                        std::optional<MemoryFormat>)>
      op("aten::to.dtype");
  return op.call(t, dtype, false, false, std::nullopt);
}

Tensor to_device(const Tensor& t, Device device, ScalarType dtype) {
  static constinit KnownOperator<Tensor(const Tensor&, Device, ScalarType, bool,
                                        bool, std::optional<MemoryFormat>)>
      op("aten::to.device");
  return op.call(t, device, dtype, false, false, std::nullopt);
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype,
                     Device device) {
  return Tensor(make_tensor_strided(sizes, strides, dtype, device));
}

Tensor zeros(IntArrayRef sizes, ScalarType dtype, Device device) {
  Tensor t(make_tensor(sizes, dtype, device));
  fill_(t, 0);
  return t;
}

Tensor ones_like(const Tensor& t) {
  Tensor r(make_tensor(t.sizes(), t.scalar_type(), t.device()));
  fill_(r, 1);
  return r;
}

Tensor expanded_zeros(const SavedMeta& m) {
  const Tensor zero = zeros({}, m.dtype(), m.device());
  SavedInts strides(m.sizes());
  auto* s = const_cast<int64_t*>(strides.data());
  std::fill_n(s, strides.size(), 0);
  return Tensor(zero.impl()->alias(m.sizes(), strides, 0));
}

bool has_nan(const Tensor& t) {
  static constinit KnownOperator<Tensor(const Tensor&)> isnan("aten::isnan");
  static constinit KnownOperator<Tensor(const Tensor&)> any("aten::any");
  if (!t.is_floating_point() || t.is_meta()) return false;
  return read_scalar("isnan", any.call(isnan.call(t))).to_bool();
}

bool broadcasts_to(IntArrayRef sizes, IntArrayRef larger) {
  if (sizes.size() > larger.size()) return false;
  const size_t lead = larger.size() - sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != larger[lead + d] && sizes[d] != 1) return false;
  }
  return true;
}

Tensor sum_to(const Tensor& t, IntArrayRef sizes) {
  int64_t dims[TensorImpl::kMaxDims];
  size_t n = 0;
  const size_t lead = static_cast<size_t>(t.dim()) - sizes.size();
  for (size_t d = 0; d < lead; ++d) dims[n++] = static_cast<int64_t>(d);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1 && t.sizes()[lead + d] != 1) {
      dims[n++] = static_cast<int64_t>(lead + d);
    }
  }
  const Tensor r = n == 0 ? t : sum(t, {dims, n}, true);
  return lead == 0 ? r : view(r, sizes);
}

}  // namespace sy::autograd::rt
