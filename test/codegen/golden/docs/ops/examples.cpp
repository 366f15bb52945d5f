// Generated from schemas/ops by sygen. Do not edit.
// Every call of the reference pages, to be compiled.
#include "aten/ops/sample.h"
#include "aten/tensor_new.h"

namespace sy_examples {

using namespace sy;

Tensor mul_Tensor(const Tensor& self, const Tensor& other) {
  return sy::mul(self, other);
}

Tensor mul_Tensor_method(const Tensor& self, const Tensor& other) {
  return self.mul(other);
}

Tensor& mul__Tensor_method(Tensor& self, const Tensor& other) {
  return self.mul_(other);
}

Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return sy::mul_out(out, self, other);
}

Tensor mul_Tensor_example() {
  return sy::mul(sy::rand({2, 3}), sy::rand({2, 3}));
}

Tensor soften(const Tensor& self, const Tensor& weight, const Scalar& slope,
              std::string_view mode) {
  return sy::soften(self, weight, slope, mode);
}

Tensor& soften_out(Tensor& out, const Tensor& self, const Tensor& weight,
                   const Scalar& slope, std::string_view mode) {
  return sy::soften_out(out, self, weight, slope, mode);
}

Tensor soften_example() {
  return sy::soften(sy::rand({2, 3}), sy::rand({2, 3}));
}

Tensor mul_Scalar(const Tensor& self, const Scalar& other) {
  return sy::mul(self, other);
}

Tensor mul_Scalar_method(const Tensor& self, const Scalar& other) {
  return self.mul(other);
}

Tensor mul_Scalar_example() {
  return sy::mul(sy::rand({2, 3}), sy::Scalar(0.7));
}

std::vector<Tensor> _foreach_mul_List(TensorList self, TensorList other) {
  return sy::_foreach_mul(self, other);
}

void _foreach_mul__List(TensorList self, TensorList other) {
  return sy::_foreach_mul_(self, other);
}

void _foreach_mul_List_out(TensorList out, TensorList self, TensorList other) {
  return sy::_foreach_mul_out(out, self, other);
}

std::vector<Tensor> _foreach_mul_List_example() {
  return sy::_foreach_mul(sy::TensorList({sy::rand({2, 3}), sy::rand({3})}),
                          sy::TensorList({sy::rand({2, 3}), sy::rand({3})}));
}

Tensor sum_dim_IntList(const Tensor& self, OptionalIntArrayRef dim,
                       bool keepdim, std::optional<ScalarType> dtype) {
  return sy::sum(self, dim, keepdim, dtype);
}

Tensor sum_dim_IntList_method(const Tensor& self, OptionalIntArrayRef dim,
                              bool keepdim, std::optional<ScalarType> dtype) {
  return self.sum(dim, keepdim, dtype);
}

Tensor& sum_IntList_out(Tensor& out, const Tensor& self,
                        OptionalIntArrayRef dim, bool keepdim,
                        std::optional<ScalarType> dtype) {
  return sy::sum_out(out, self, dim, keepdim, dtype);
}

Tensor sum_dim_IntList_example() {
  return sy::sum(sy::rand({2, 3}), std::nullopt);
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, OptionalIntArrayRef dim,
                                   bool keepdim) {
  return sy::aminmax(self, dim, keepdim);
}

std::tuple<Tensor&, Tensor&> aminmax_out(Tensor& out0, Tensor& out1,
                                         const Tensor& self,
                                         OptionalIntArrayRef dim,
                                         bool keepdim) {
  return sy::aminmax_out(out0, out1, self, dim, keepdim);
}

Tensor cumsum(const Tensor& self, int64_t dim,
              std::optional<ScalarType> dtype) {
  return sy::cumsum(self, dim, dtype);
}

Tensor& cumsum_out(Tensor& out, const Tensor& self, int64_t dim,
                   std::optional<ScalarType> dtype) {
  return sy::cumsum_out(out, self, dim, dtype);
}

std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
  return sy::cummax(self, dim);
}

std::tuple<Tensor&, Tensor&> cummax_out(Tensor& out0, Tensor& out1,
                                        const Tensor& self, int64_t dim) {
  return sy::cummax_out(out0, out1, self, dim);
}

Tensor transpose_int(const Tensor& self, int64_t dim0, int64_t dim1) {
  return sy::transpose(self, dim0, dim1);
}

Tensor transpose_int_method(const Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose(dim0, dim1);
}

Tensor transpose_int_example() { return sy::transpose(sy::rand({2, 3}), 0, 1); }

Tensor mm(const Tensor& self, const Tensor& mat2) { return sy::mm(self, mat2); }

Tensor mm_method(const Tensor& self, const Tensor& mat2) {
  return self.mm(mat2);
}

Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  return sy::mm_out(out, self, mat2);
}

Tensor mm_example() { return sy::mm(sy::rand({2, 3}), sy::rand({2, 3})); }

Tensor scalar_tensor(const Scalar& s, TensorOptions options) {
  return sy::scalar_tensor(s, options);
}

Tensor scalar_tensor_example() { return sy::scalar_tensor(sy::Scalar(0.7)); }

Scalar item(const Tensor& self) { return sy::item(self); }

Scalar item_method(const Tensor& self) { return self.item(); }

Scalar item_example() { return sy::item(sy::rand({2, 3})); }

std::tuple<Tensor, Tensor> mm_backward(const Tensor& grad_out,
                                       const Tensor& self, const Tensor& mat2,
                                       ArrayRef<bool> output_mask) {
  return sy::mm_backward(grad_out, self, mat2, output_mask);
}

std::tuple<Tensor&, Tensor&> mm_backward_out(
    Tensor& out0, Tensor& out1, const Tensor& grad_out, const Tensor& self,
    const Tensor& mat2, ArrayRef<bool> output_mask) {
  return sy::mm_backward_out(out0, out1, grad_out, self, mat2, output_mask);
}

std::tuple<Tensor, Tensor> mm_backward_example() {
  return sy::mm_backward(sy::rand({2, 4}), sy::rand({2, 3}), sy::rand({3, 4}),
                         sy::ArrayRef<bool>({true, false}));
}

Tensor index_Tensor(const Tensor& self,
                    ArrayRef<std::optional<Tensor>> indices) {
  return sy::index(self, indices);
}

Tensor& index_Tensor_out(Tensor& out, const Tensor& self,
                         ArrayRef<std::optional<Tensor>> indices) {
  return sy::index_out(out, self, indices);
}

Tensor index_Tensor_example() {
  return sy::index(sy::rand({2, 3}), sy::ArrayRef<std::optional<sy::Tensor>>(
      {sy::rand({2, 3}), sy::rand({3})}));
}

Tensor index_put(const Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                 const Tensor& values) {
  return sy::index_put(self, indices, values);
}

Tensor& index_put_(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                   const Tensor& values) {
  return sy::index_put_(self, indices, values);
}

Tensor& index_put_out(Tensor& out, const Tensor& self,
                      ArrayRef<std::optional<Tensor>> indices,
                      const Tensor& values) {
  return sy::index_put_out(out, self, indices, values);
}

Tensor index_put_example() {
  return sy::index_put(sy::rand({2, 3}),
                       sy::ArrayRef<std::optional<sy::Tensor>>(
                           {sy::rand({2, 3}), sy::rand({3})}),
                       sy::rand({2, 3}));
}

}  // namespace sy_examples
