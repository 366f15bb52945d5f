// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#include "aten/ops/sample.h"

#include "aten/engine/operator_steps.h"
#include "aten/ops/sample_ops.h"

namespace sy::ops {

using generated::handle;

const OperatorEntry& mul_Tensor::entry() {
  return handle<ops::mul_Tensor>().entry();
}

Tensor mul_Tensor::call(const Tensor& self, const Tensor& other) {
  return handle<ops::mul_Tensor>().call(self, other);
}

Tensor mul_Tensor::redispatch(DispatchKeySet keys, const Tensor& self,
                              const Tensor& other) {
  return handle<ops::mul_Tensor>().redispatch(keys, self, other);
}

const OperatorEntry& mul__Tensor::entry() {
  return handle<ops::mul__Tensor>().entry();
}

Tensor& mul__Tensor::call(Tensor& self, const Tensor& other) {
  return handle<ops::mul__Tensor>().call(self, other);
}

Tensor& mul__Tensor::redispatch(DispatchKeySet keys, Tensor& self,
                                const Tensor& other) {
  return handle<ops::mul__Tensor>().redispatch(keys, self, other);
}

const OperatorEntry& mul_out::entry() { return handle<ops::mul_out>().entry(); }

Tensor& mul_out::call(const Tensor& self, const Tensor& other, Tensor& out) {
  return handle<ops::mul_out>().call(self, other, out);
}

Tensor& mul_out::redispatch(DispatchKeySet keys, const Tensor& self,
                            const Tensor& other, Tensor& out) {
  return handle<ops::mul_out>().redispatch(keys, self, other, out);
}

const OperatorEntry& soften::entry() { return handle<ops::soften>().entry(); }

Tensor soften::call(const Tensor& self, const Tensor& weight,
                    const Scalar& slope, std::string_view mode) {
  return handle<ops::soften>().call(self, weight, slope, mode);
}

Tensor soften::redispatch(DispatchKeySet keys, const Tensor& self,
                          const Tensor& weight, const Scalar& slope,
                          std::string_view mode) {
  return handle<ops::soften>().redispatch(keys, self, weight, slope, mode);
}

const OperatorEntry& soften_out::entry() {
  return handle<ops::soften_out>().entry();
}

Tensor& soften_out::call(const Tensor& self, const Tensor& weight,
                         const Scalar& slope, std::string_view mode,
                         Tensor& out) {
  return handle<ops::soften_out>().call(self, weight, slope, mode, out);
}

Tensor& soften_out::redispatch(DispatchKeySet keys, const Tensor& self,
                               const Tensor& weight, const Scalar& slope,
                               std::string_view mode, Tensor& out) {
  return handle<ops::soften_out>().redispatch(keys, self, weight, slope, mode,
                                              out);
}

const OperatorEntry& mul_Scalar::entry() {
  return handle<ops::mul_Scalar>().entry();
}

Tensor mul_Scalar::call(const Tensor& self, const Scalar& other) {
  return handle<ops::mul_Scalar>().call(self, other);
}

Tensor mul_Scalar::redispatch(DispatchKeySet keys, const Tensor& self,
                              const Scalar& other) {
  return handle<ops::mul_Scalar>().redispatch(keys, self, other);
}

const OperatorEntry& _foreach_mul_List::entry() {
  return handle<ops::_foreach_mul_List>().entry();
}

std::vector<Tensor> _foreach_mul_List::call(TensorList self, TensorList other) {
  return handle<ops::_foreach_mul_List>().call(self, other);
}

std::vector<Tensor> _foreach_mul_List::redispatch(DispatchKeySet keys,
                                                  TensorList self,
                                                  TensorList other) {
  return handle<ops::_foreach_mul_List>().redispatch(keys, self, other);
}

const OperatorEntry& _foreach_mul__List::entry() {
  return handle<ops::_foreach_mul__List>().entry();
}

void _foreach_mul__List::call(TensorList self, TensorList other) {
  return handle<ops::_foreach_mul__List>().call(self, other);
}

void _foreach_mul__List::redispatch(DispatchKeySet keys, TensorList self,
                                    TensorList other) {
  return handle<ops::_foreach_mul__List>().redispatch(keys, self, other);
}

const OperatorEntry& _foreach_mul_List_out::entry() {
  return handle<ops::_foreach_mul_List_out>().entry();
}

void _foreach_mul_List_out::call(TensorList self, TensorList other,
                                 TensorList out) {
  return handle<ops::_foreach_mul_List_out>().call(self, other, out);
}

void _foreach_mul_List_out::redispatch(DispatchKeySet keys, TensorList self,
                                       TensorList other, TensorList out) {
  return handle<ops::_foreach_mul_List_out>().redispatch(keys, self, other,
                                                         out);
}

const OperatorEntry& sum_dim_IntList::entry() {
  return handle<ops::sum_dim_IntList>().entry();
}

Tensor sum_dim_IntList::call(const Tensor& self, OptionalIntArrayRef dim,
                             bool keepdim, std::optional<ScalarType> dtype) {
  return handle<ops::sum_dim_IntList>().call(self, dim, keepdim, dtype);
}

Tensor sum_dim_IntList::redispatch(DispatchKeySet keys, const Tensor& self,
                                   OptionalIntArrayRef dim, bool keepdim,
                                   std::optional<ScalarType> dtype) {
  return handle<ops::sum_dim_IntList>().redispatch(keys, self, dim, keepdim,
                                                   dtype);
}

const OperatorEntry& sum_IntList_out::entry() {
  return handle<ops::sum_IntList_out>().entry();
}

Tensor& sum_IntList_out::call(const Tensor& self, OptionalIntArrayRef dim,
                              bool keepdim, std::optional<ScalarType> dtype,
                              Tensor& out) {
  return handle<ops::sum_IntList_out>().call(self, dim, keepdim, dtype, out);
}

Tensor& sum_IntList_out::redispatch(DispatchKeySet keys, const Tensor& self,
                                    OptionalIntArrayRef dim, bool keepdim,
                                    std::optional<ScalarType> dtype,
                                    Tensor& out) {
  return handle<ops::sum_IntList_out>().redispatch(keys, self, dim, keepdim,
                                                   dtype, out);
}

const OperatorEntry& aminmax::entry() { return handle<ops::aminmax>().entry(); }

std::tuple<Tensor, Tensor> aminmax::call(const Tensor& self,
                                         OptionalIntArrayRef dim,
                                         bool keepdim) {
  return handle<ops::aminmax>().call(self, dim, keepdim);
}

std::tuple<Tensor, Tensor> aminmax::redispatch(DispatchKeySet keys,
                                               const Tensor& self,
                                               OptionalIntArrayRef dim,
                                               bool keepdim) {
  return handle<ops::aminmax>().redispatch(keys, self, dim, keepdim);
}

const OperatorEntry& aminmax_out::entry() {
  return handle<ops::aminmax_out>().entry();
}

std::tuple<Tensor&, Tensor&> aminmax_out::call(const Tensor& self,
                                               OptionalIntArrayRef dim,
                                               bool keepdim, Tensor& out0,
                                               Tensor& out1) {
  return handle<ops::aminmax_out>().call(self, dim, keepdim, out0, out1);
}

std::tuple<Tensor&, Tensor&> aminmax_out::redispatch(
    DispatchKeySet keys, const Tensor& self, OptionalIntArrayRef dim,
    bool keepdim, Tensor& out0, Tensor& out1) {
  return handle<ops::aminmax_out>().redispatch(keys, self, dim, keepdim, out0,
                                               out1);
}

const OperatorEntry& cumsum::entry() { return handle<ops::cumsum>().entry(); }

Tensor cumsum::call(const Tensor& self, int64_t dim,
                    std::optional<ScalarType> dtype) {
  return handle<ops::cumsum>().call(self, dim, dtype);
}

Tensor cumsum::redispatch(DispatchKeySet keys, const Tensor& self, int64_t dim,
                          std::optional<ScalarType> dtype) {
  return handle<ops::cumsum>().redispatch(keys, self, dim, dtype);
}

const OperatorEntry& cumsum_out::entry() {
  return handle<ops::cumsum_out>().entry();
}

Tensor& cumsum_out::call(const Tensor& self, int64_t dim,
                         std::optional<ScalarType> dtype, Tensor& out) {
  return handle<ops::cumsum_out>().call(self, dim, dtype, out);
}

Tensor& cumsum_out::redispatch(DispatchKeySet keys, const Tensor& self,
                               int64_t dim, std::optional<ScalarType> dtype,
                               Tensor& out) {
  return handle<ops::cumsum_out>().redispatch(keys, self, dim, dtype, out);
}

const OperatorEntry& cummax::entry() { return handle<ops::cummax>().entry(); }

std::tuple<Tensor, Tensor> cummax::call(const Tensor& self, int64_t dim) {
  return handle<ops::cummax>().call(self, dim);
}

std::tuple<Tensor, Tensor> cummax::redispatch(DispatchKeySet keys,
                                              const Tensor& self, int64_t dim) {
  return handle<ops::cummax>().redispatch(keys, self, dim);
}

const OperatorEntry& cummax_out::entry() {
  return handle<ops::cummax_out>().entry();
}

std::tuple<Tensor&, Tensor&> cummax_out::call(const Tensor& self, int64_t dim,
                                              Tensor& out0, Tensor& out1) {
  return handle<ops::cummax_out>().call(self, dim, out0, out1);
}

std::tuple<Tensor&, Tensor&> cummax_out::redispatch(DispatchKeySet keys,
                                                    const Tensor& self,
                                                    int64_t dim, Tensor& out0,
                                                    Tensor& out1) {
  return handle<ops::cummax_out>().redispatch(keys, self, dim, out0, out1);
}

const OperatorEntry& transpose_int::entry() {
  return handle<ops::transpose_int>().entry();
}

Tensor transpose_int::call(const Tensor& self, int64_t dim0, int64_t dim1) {
  return handle<ops::transpose_int>().call(self, dim0, dim1);
}

Tensor transpose_int::redispatch(DispatchKeySet keys, const Tensor& self,
                                 int64_t dim0, int64_t dim1) {
  return handle<ops::transpose_int>().redispatch(keys, self, dim0, dim1);
}

const OperatorEntry& mm::entry() { return handle<ops::mm>().entry(); }

Tensor mm::call(const Tensor& self, const Tensor& mat2) {
  return handle<ops::mm>().call(self, mat2);
}

Tensor mm::redispatch(DispatchKeySet keys, const Tensor& self,
                      const Tensor& mat2) {
  return handle<ops::mm>().redispatch(keys, self, mat2);
}

const OperatorEntry& mm_out::entry() { return handle<ops::mm_out>().entry(); }

Tensor& mm_out::call(const Tensor& self, const Tensor& mat2, Tensor& out) {
  return handle<ops::mm_out>().call(self, mat2, out);
}

Tensor& mm_out::redispatch(DispatchKeySet keys, const Tensor& self,
                           const Tensor& mat2, Tensor& out) {
  return handle<ops::mm_out>().redispatch(keys, self, mat2, out);
}

const OperatorEntry& scalar_tensor::entry() {
  return handle<ops::scalar_tensor>().entry();
}

Tensor scalar_tensor::call(const Scalar& s, std::optional<ScalarType> dtype,
                           std::optional<Layout> layout,
                           std::optional<Device> device,
                           std::optional<bool> pin_memory) {
  return handle<ops::scalar_tensor>().call(s, dtype, layout, device,
                                           pin_memory);
}

Tensor scalar_tensor::redispatch(DispatchKeySet keys, const Scalar& s,
                                 std::optional<ScalarType> dtype,
                                 std::optional<Layout> layout,
                                 std::optional<Device> device,
                                 std::optional<bool> pin_memory) {
  return handle<ops::scalar_tensor>().redispatch(keys, s, dtype, layout, device,
                                                 pin_memory);
}

const OperatorEntry& item::entry() { return handle<ops::item>().entry(); }

Scalar item::call(const Tensor& self) { return handle<ops::item>().call(self); }

Scalar item::redispatch(DispatchKeySet keys, const Tensor& self) {
  return handle<ops::item>().redispatch(keys, self);
}

const OperatorEntry& mm_backward::entry() {
  return handle<ops::mm_backward>().entry();
}

std::tuple<Tensor, Tensor> mm_backward::call(const Tensor& grad_out,
                                             const Tensor& self,
                                             const Tensor& mat2,
                                             ArrayRef<bool> output_mask) {
  return handle<ops::mm_backward>().call(grad_out, self, mat2, output_mask);
}

std::tuple<Tensor, Tensor> mm_backward::redispatch(
    DispatchKeySet keys, const Tensor& grad_out, const Tensor& self,
    const Tensor& mat2, ArrayRef<bool> output_mask) {
  return handle<ops::mm_backward>().redispatch(keys, grad_out, self, mat2,
                                               output_mask);
}

const OperatorEntry& mm_backward_out::entry() {
  return handle<ops::mm_backward_out>().entry();
}

std::tuple<Tensor&, Tensor&> mm_backward_out::call(
    const Tensor& grad_out, const Tensor& self, const Tensor& mat2,
    ArrayRef<bool> output_mask, Tensor& out0, Tensor& out1) {
  return handle<ops::mm_backward_out>().call(grad_out, self, mat2, output_mask,
                                             out0, out1);
}

std::tuple<Tensor&, Tensor&> mm_backward_out::redispatch(
    DispatchKeySet keys, const Tensor& grad_out, const Tensor& self,
    const Tensor& mat2, ArrayRef<bool> output_mask, Tensor& out0,
    Tensor& out1) {
  return handle<ops::mm_backward_out>().redispatch(keys, grad_out, self, mat2,
                                                   output_mask, out0, out1);
}

const OperatorEntry& index_Tensor::entry() {
  return handle<ops::index_Tensor>().entry();
}

Tensor index_Tensor::call(const Tensor& self,
                          ArrayRef<std::optional<Tensor>> indices) {
  return handle<ops::index_Tensor>().call(self, indices);
}

Tensor index_Tensor::redispatch(DispatchKeySet keys, const Tensor& self,
                                ArrayRef<std::optional<Tensor>> indices) {
  return handle<ops::index_Tensor>().redispatch(keys, self, indices);
}

const OperatorEntry& index_Tensor_out::entry() {
  return handle<ops::index_Tensor_out>().entry();
}

Tensor& index_Tensor_out::call(const Tensor& self,
                               ArrayRef<std::optional<Tensor>> indices,
                               Tensor& out) {
  return handle<ops::index_Tensor_out>().call(self, indices, out);
}

Tensor& index_Tensor_out::redispatch(DispatchKeySet keys, const Tensor& self,
                                     ArrayRef<std::optional<Tensor>> indices,
                                     Tensor& out) {
  return handle<ops::index_Tensor_out>().redispatch(keys, self, indices, out);
}

const OperatorEntry& index_put::entry() {
  return handle<ops::index_put>().entry();
}

Tensor index_put::call(const Tensor& self,
                       ArrayRef<std::optional<Tensor>> indices,
                       const Tensor& values) {
  return handle<ops::index_put>().call(self, indices, values);
}

Tensor index_put::redispatch(DispatchKeySet keys, const Tensor& self,
                             ArrayRef<std::optional<Tensor>> indices,
                             const Tensor& values) {
  return handle<ops::index_put>().redispatch(keys, self, indices, values);
}

const OperatorEntry& index_put_::entry() {
  return handle<ops::index_put_>().entry();
}

Tensor& index_put_::call(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                         const Tensor& values) {
  return handle<ops::index_put_>().call(self, indices, values);
}

Tensor& index_put_::redispatch(DispatchKeySet keys, Tensor& self,
                               ArrayRef<std::optional<Tensor>> indices,
                               const Tensor& values) {
  return handle<ops::index_put_>().redispatch(keys, self, indices, values);
}

const OperatorEntry& index_put_out::entry() {
  return handle<ops::index_put_out>().entry();
}

Tensor& index_put_out::call(const Tensor& self,
                            ArrayRef<std::optional<Tensor>> indices,
                            const Tensor& values, Tensor& out) {
  return handle<ops::index_put_out>().call(self, indices, values, out);
}

Tensor& index_put_out::redispatch(DispatchKeySet keys, const Tensor& self,
                                  ArrayRef<std::optional<Tensor>> indices,
                                  const Tensor& values, Tensor& out) {
  return handle<ops::index_put_out>().redispatch(keys, self, indices, values,
                                                 out);
}

const OperatorEntry& can_cast::entry() {
  return handle<ops::can_cast>().entry();
}

bool can_cast::call(ScalarType from_, ScalarType to) {
  return handle<ops::can_cast>().call(from_, to);
}

bool can_cast::redispatch(DispatchKeySet keys, ScalarType from_,
                          ScalarType to) {
  return handle<ops::can_cast>().redispatch(keys, from_, to);
}

}  // namespace sy::ops

namespace sy {

Tensor mul(const Tensor& self, const Tensor& other) {
  return ops::mul_Tensor::call(self, other);
}

Tensor Tensor::mul(const Tensor& other) const {
  return ops::mul_Tensor::call(*this, other);
}

Tensor& Tensor::mul_(const Tensor& other) const {
  return ops::mul__Tensor::call(const_cast<Tensor&>(*this), other);
}

Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return ops::mul_out::call(self, other, out);
}

Tensor soften(const Tensor& self, const Tensor& weight, const Scalar& slope,
              std::string_view mode) {
  return ops::soften::call(self, weight, slope, mode);
}

Tensor& soften_out(Tensor& out, const Tensor& self, const Tensor& weight,
                   const Scalar& slope, std::string_view mode) {
  return ops::soften_out::call(self, weight, slope, mode, out);
}

Tensor mul(const Tensor& self, const Scalar& other) {
  return ops::mul_Scalar::call(self, other);
}

Tensor Tensor::mul(const Scalar& other) const {
  return ops::mul_Scalar::call(*this, other);
}

std::vector<Tensor> _foreach_mul(TensorList self, TensorList other) {
  return ops::_foreach_mul_List::call(self, other);
}

void _foreach_mul_(TensorList self, TensorList other) {
  return ops::_foreach_mul__List::call(self, other);
}

void _foreach_mul_out(TensorList out, TensorList self, TensorList other) {
  return ops::_foreach_mul_List_out::call(self, other, out);
}

Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
           std::optional<ScalarType> dtype) {
  return ops::sum_dim_IntList::call(self, dim, keepdim, dtype);
}

Tensor Tensor::sum(OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) const {
  return ops::sum_dim_IntList::call(*this, dim, keepdim, dtype);
}

Tensor& sum_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim,
                bool keepdim, std::optional<ScalarType> dtype) {
  return ops::sum_IntList_out::call(self, dim, keepdim, dtype, out);
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, OptionalIntArrayRef dim,
                                   bool keepdim) {
  return ops::aminmax::call(self, dim, keepdim);
}

std::tuple<Tensor&, Tensor&> aminmax_out(Tensor& out0, Tensor& out1,
                                         const Tensor& self,
                                         OptionalIntArrayRef dim,
                                         bool keepdim) {
  return ops::aminmax_out::call(self, dim, keepdim, out0, out1);
}

Tensor cumsum(const Tensor& self, int64_t dim,
              std::optional<ScalarType> dtype) {
  return ops::cumsum::call(self, dim, dtype);
}

Tensor& cumsum_out(Tensor& out, const Tensor& self, int64_t dim,
                   std::optional<ScalarType> dtype) {
  return ops::cumsum_out::call(self, dim, dtype, out);
}

std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
  return ops::cummax::call(self, dim);
}

std::tuple<Tensor&, Tensor&> cummax_out(Tensor& out0, Tensor& out1,
                                        const Tensor& self, int64_t dim) {
  return ops::cummax_out::call(self, dim, out0, out1);
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return ops::transpose_int::call(self, dim0, dim1);
}

Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  return ops::transpose_int::call(*this, dim0, dim1);
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  return ops::mm::call(self, mat2);
}

Tensor Tensor::mm(const Tensor& mat2) const {
  return ops::mm::call(*this, mat2);
}

Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  return ops::mm_out::call(self, mat2, out);
}

Tensor scalar_tensor(const Scalar& s, TensorOptions options) {
  return generated::with_options(ops::scalar_tensor::call(
      s, options.dtype_opt(), options.layout_opt(), options.device_opt(),
      options.pinned_memory_opt()),
                                 options);
}

Scalar item(const Tensor& self) { return ops::item::call(self); }

Scalar Tensor::item() const { return ops::item::call(*this); }

std::tuple<Tensor, Tensor> mm_backward(const Tensor& grad_out,
                                       const Tensor& self, const Tensor& mat2,
                                       ArrayRef<bool> output_mask) {
  return ops::mm_backward::call(grad_out, self, mat2, output_mask);
}

std::tuple<Tensor&, Tensor&> mm_backward_out(
    Tensor& out0, Tensor& out1, const Tensor& grad_out, const Tensor& self,
    const Tensor& mat2, ArrayRef<bool> output_mask) {
  return ops::mm_backward_out::call(grad_out, self, mat2, output_mask, out0,
                                    out1);
}

Tensor index(const Tensor& self, ArrayRef<std::optional<Tensor>> indices) {
  return ops::index_Tensor::call(self, indices);
}

Tensor& index_out(Tensor& out, const Tensor& self,
                  ArrayRef<std::optional<Tensor>> indices) {
  return ops::index_Tensor_out::call(self, indices, out);
}

Tensor index_put(const Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                 const Tensor& values) {
  return ops::index_put::call(self, indices, values);
}

Tensor& index_put_(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                   const Tensor& values) {
  return ops::index_put_::call(self, indices, values);
}

Tensor& index_put_out(Tensor& out, const Tensor& self,
                      ArrayRef<std::optional<Tensor>> indices,
                      const Tensor& values) {
  return ops::index_put_out::call(self, indices, values, out);
}

}  // namespace sy
