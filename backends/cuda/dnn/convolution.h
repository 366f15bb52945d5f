#pragma once

#include "aten/contract/convolution.h"

namespace sy::cuda::dnn {

// Makes one tensor of the convolution by cuDNN: float32 (IEEE, or by TF32 if
// blas::allow_tf32()), float64, float16 and bfloat16, which add in float32, the
// same bits each time. Tensors whose channels lie first or last are read as
// they are; others are copied. False, and nothing is said of the result, where
// our own kernels must do, or do better: small ones, integers, no library, no
// plan.
bool convolve(const Convolution& convolution, ConvolutionPart result);

// The least number of multiplications for which the library is asked. An
// estimate until a GPU says otherwise. Tests change it.
int64_t& least_work() noexcept;

// How many results it made so far. For tests.
int64_t calls() noexcept;

}  // namespace sy::cuda::dnn
