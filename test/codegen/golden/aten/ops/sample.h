// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#pragma once

#include "aten/tensor.h"

namespace sy {

// The product of two tensors, which broadcast.
SY_API Tensor mul(const Tensor& self, const Tensor& other);
SY_API Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other);

// A weight times something smooth.
SY_API Tensor soften(const Tensor& self, const Tensor& weight,
                     const Scalar& slope = 1, std::string_view mode = "none");
SY_API Tensor& soften_out(Tensor& out, const Tensor& self, const Tensor& weight,
                          const Scalar& slope = 1,
                          std::string_view mode = "none");

// The product with a number.
SY_API Tensor mul(const Tensor& self, const Scalar& other);

// The product of each two tensors.
SY_API std::vector<Tensor> _foreach_mul(TensorList self, TensorList other);
SY_API void _foreach_mul_(TensorList self, TensorList other);
SY_API void _foreach_mul_out(TensorList out, TensorList self, TensorList other);

// The sum along some dims.
SY_API Tensor sum(const Tensor& self, OptionalIntArrayRef dim,
                  bool keepdim = false,
                  std::optional<ScalarType> dtype = std::nullopt);
SY_API Tensor& sum_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim,
                       bool keepdim = false,
                       std::optional<ScalarType> dtype = std::nullopt);

// The smallest and the largest element along some dims.
SY_API std::tuple<Tensor, Tensor> aminmax(const Tensor& self,
                                          OptionalIntArrayRef dim,
                                          bool keepdim);
SY_API std::tuple<Tensor&, Tensor&> aminmax_out(Tensor& out0, Tensor& out1,
                                                const Tensor& self,
                                                OptionalIntArrayRef dim,
                                                bool keepdim);

// The sums up to each element along a dim.
SY_API Tensor cumsum(const Tensor& self, int64_t dim,
                     std::optional<ScalarType> dtype = std::nullopt);
SY_API Tensor& cumsum_out(Tensor& out, const Tensor& self, int64_t dim,
                          std::optional<ScalarType> dtype = std::nullopt);

// The largest element up to each along a dim, and where it is.
SY_API std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim);
SY_API std::tuple<Tensor&, Tensor&> cummax_out(Tensor& out0, Tensor& out1,
                                               const Tensor& self, int64_t dim);

// Two dims swapped.
SY_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);

// The product of two matrices.
SY_API Tensor mm(const Tensor& self, const Tensor& mat2);
SY_API Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2);

// A number as a tensor.
SY_API Tensor scalar_tensor(const Scalar& s, TensorOptions options = {});

// The only element as a number.
SY_API Scalar item(const Tensor& self);

// The derivatives of mm that output_mask names.
SY_API std::tuple<Tensor, Tensor> mm_backward(const Tensor& grad_out,
                                              const Tensor& self,
                                              const Tensor& mat2,
                                              ArrayRef<bool> output_mask);
SY_API std::tuple<Tensor&, Tensor&> mm_backward_out(
    Tensor& out0, Tensor& out1, const Tensor& grad_out, const Tensor& self,
    const Tensor& mat2, ArrayRef<bool> output_mask);

// The elements at indices.
SY_API Tensor index(const Tensor& self,
                    ArrayRef<std::optional<Tensor>> indices);
SY_API Tensor& index_out(Tensor& out, const Tensor& self,
                         ArrayRef<std::optional<Tensor>> indices);

// self with values at indices.
SY_API Tensor index_put(const Tensor& self,
                        ArrayRef<std::optional<Tensor>> indices,
                        const Tensor& values);
SY_API Tensor& index_put_(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                          const Tensor& values);
SY_API Tensor& index_put_out(Tensor& out, const Tensor& self,
                             ArrayRef<std::optional<Tensor>> indices,
                             const Tensor& values);

}  // namespace sy
