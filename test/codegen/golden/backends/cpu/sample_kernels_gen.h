// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#pragma once

#include "aten/tensor.h"

// Kernels written by hand. A kernel that ends in a `const Tensor& out` fills
// it; its arguments have been checked.
namespace sy::cpu {

// mm  test/codegen/testdata/sample.yaml:73
void mm_out(const Tensor& self, const Tensor& mat2, const Tensor& out);
// mm_backward  test/codegen/testdata/sample.yaml:96
std::tuple<Tensor, Tensor> mm_backward(const Tensor& grad_out,
                                       const Tensor& self, const Tensor& mat2,
                                       ArrayRef<bool> output_mask);
// index.Tensor  test/codegen/testdata/sample.yaml:102
Tensor index_tensor(const Tensor& self,
                    ArrayRef<std::optional<Tensor>> indices);
// index_put  test/codegen/testdata/sample.yaml:107
void index_put_out(const Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                   const Tensor& values, const Tensor& out);

}  // namespace sy::cpu
