// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#pragma once

#include "aten/engine/dims.h"
#include "aten/tensor.h"
#include "c10/macros.h"

// Checks of the arguments, made before a kernel of any backend sees them;
// `sizes` are those of the results.
namespace sy::contract {

SY_API void soften(const Tensor& self, const Tensor& weight,
                   const Scalar& slope, std::string_view mode);
SY_API void mm(const Tensor& self, const Tensor& mat2, Dims* sizes);
SY_API void mm_backward(const Tensor& grad_out, const Tensor& self,
                        const Tensor& mat2, ArrayRef<bool> output_mask);
SY_API void index_Tensor(const Tensor& self,
                         ArrayRef<std::optional<Tensor>> indices);
SY_API void index_put(const Tensor& self,
                      ArrayRef<std::optional<Tensor>> indices,
                      const Tensor& values, Dims* sizes);

}  // namespace sy::contract

// Kernels for every backend, written by hand in aten/.
namespace sy::composite {

// scalar_tensor  test/codegen/testdata/sample.yaml:86
Tensor scalar_tensor(const Scalar& s, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory);
// item  test/codegen/testdata/sample.yaml:91
Scalar item(const Tensor& self);
// can_cast  test/codegen/testdata/sample.yaml:119
bool can_cast_dtype(ScalarType from_, ScalarType to);

}  // namespace sy::composite
