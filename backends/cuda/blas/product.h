#pragma once

#include "backends/cuda/support/product.h"

namespace sy::cuda::blas {

// Makes the product by cuBLASLt: float32 (IEEE, or by TF32 if that is allowed),
// float64, float16 and bfloat16, which add in float32. Operands are read at
// their strides where rows or columns lie together; others are copied if the
// product is worth it. False, and nothing is done, where our own kernels must
// do, or do better: small products, integers, no library.
bool multiply(const Product& product, const Tensor& out);

// Whether float32 may be multiplied by TF32, with 10 bits of mantissa. One
// setting for the process; off at first.
void set_allow_tf32(bool allow);
bool allow_tf32();

// The least number of multiplications for which the library is asked: products
// of 64 x 64 by our own kernel take 8.4 us on an H100, by the library 13.6, and
// of 256 x 256 18.9 and 15.4. Tests change it.
int64_t& least_work() noexcept;

// How many products it made so far. For tests.
int64_t calls() noexcept;

}  // namespace sy::cuda::blas
