#pragma once

#include <compare>
#include <cstdint>

#include "backends/cuda/blas/library.h"
#include "c10/tensor/scalar_type.h"

// How cuBLASLt makes a product, chosen once for all products of the same shape,
// layout, dtype and alignment.

namespace sy::cuda::blas {

// A batch of matrices in memory: by rows or by columns. In elements.
struct Matrix {
  bool by_columns = false;
  int64_t line = 0;    // from one row (or column) to the next
  int64_t batch = 0;   // from one matrix to the next; 0: it is the same one
  int alignment = 16;  // of its first element, in bytes, up to 256

  auto operator<=>(const Matrix&) const = default;
};

// The kind of operand that is added to the product.
enum class Added : uint8_t { kNothing, kBias, kMatrix };

// c (m x n, by rows) = alpha a (m x k) b (k x n) + what is added.
struct Problem {
  ScalarType dtype = ScalarType::Float;
  bool tf32 = false;
  Added added = Added::kNothing;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  Matrix a, b, c;
  Matrix d;  // of Added::kMatrix

  auto operator<=>(const Problem&) const = default;
};

struct Plan {
  bool works = false;
  Description description;
  // The library's matrices are by columns, so that it makes the transpose:
  // its first operand is our b.
  MatrixLayout first, second, added, result;
  Algorithm algorithm;
  size_t workspace = 0;
};

// Lives as long as the process. Thread-safe.
const Plan& plan_of(int device, const Library& library, const Problem& problem);

}  // namespace sy::cuda::blas
