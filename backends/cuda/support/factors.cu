// Triangular factors of matrices, and solutions by them. SY_ELEMENT is the
// dtype, float or double.

#include "element.cuh"
#include "factor_params.cuh"

#ifndef SY_ELEMENT
#define SY_ELEMENT float
#endif

using Element = SY_ELEMENT;
constexpr int kFactorThreads = 256;
// The smallest number with a finite inverse.
constexpr Element kSmallest =
    static_cast<Element>(sizeof(Element) == 8 ? 0x1p-1022 : 0x1p-126);

__device__ __forceinline__ float minus_product(float s, float a, float b) {
  return fmaf(-a, b, s);
}
__device__ __forceinline__ double minus_product(double s, double a, double b) {
  return fma(-a, b, s);
}

struct Grid {
  Element* data;
  int64_t row, column;

  __device__ __forceinline__ Element& at(int64_t i, int64_t j) const {
    return data[i * row + j * column];
  }
};
__device__ __forceinline__ Grid grid_of(const FactorMatrix& m, int64_t i) {
  return {reinterpret_cast<Element*>(m.data) + i * m.batch, m.row, m.column};
}

// A(i, k) without the products of columns before k.
__device__ __forceinline__ Element rest_of(const Grid& a, int i, int k) {
  double sum = a.at(i, k);
  for (int j = 0; j < k; ++j) {
    const double x = a.at(i, j), y = a.at(k, j);
    sum = minus_product(sum, x, y);
  }
  return static_cast<Element>(sum);
}

// Writes L of A = L L^T into the lower triangle, column after column, and 0
// above it. Stops at a pivot that is not positive.
SY_KERNEL(cholesky, FactorParams, kFactorThreads) {
  const Grid a = grid_of(p.a, blockIdx.x);
  const int n = p.rows, t = static_cast<int>(threadIdx.x);
  int failed = 0;
  for (int k = 0; k < n && failed == 0; ++k) {
    const Element pivot = rest_of(a, k, k);  // in every thread
    __syncthreads();
    if (!(pivot > 0)) {
      failed = k + 1;
      if (t == 0) a.at(k, k) = pivot;
      continue;
    }
    const auto root = static_cast<Element>(sqrt(static_cast<double>(pivot)));
    if (t == 0) a.at(k, k) = root;
    for (int i = k + 1 + t; i < n; i += kFactorThreads) {
      a.at(i, k) = rest_of(a, i, k) / root;
    }
    __syncthreads();
  }
  for (int j = 1; j < n; ++j) {
    for (int i = t; i < j; i += kFactorThreads) a.at(i, j) = 0;
  }
  if (t == 0) p.info[blockIdx.x] = failed;
}

// The row of the largest element of column k from row k on: the first of equal
// ones, k if all are NaN.
__device__ __forceinline__ int largest_row(const Grid& a, int k, int rows) {
  __shared__ Element sizes[kFactorThreads];
  __shared__ int places[kFactorThreads];
  const int t = static_cast<int>(threadIdx.x);
  Element size = -1;
  int place = rows;
  for (int i = k + t; i < rows; i += kFactorThreads) {
    const Element x = a.at(i, k), y = x < 0 ? -x : x;
    if (!(y > size)) continue;
    size = y;
    place = i;
  }
  sizes[t] = size;
  places[t] = place;
  for (int step = kFactorThreads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (t >= step) continue;
    const Element x = sizes[t], y = sizes[t + step];
    if (x > y || (x == y && places[t] < places[t + step])) continue;
    sizes[t] = y;
    places[t] = places[t + step];
  }
  __syncthreads();
  const int found = places[0];
  __syncthreads();
  return found < rows ? found : k;
}

// Puts P L U of A in A's place. Notes a pivot of 0, and leaves its column.
SY_KERNEL(lu, FactorParams, kFactorThreads) {
  const Grid a = grid_of(p.a, blockIdx.x);
  const int least = p.rows < p.columns ? p.rows : p.columns;
  int* const pivots = p.pivots + static_cast<int64_t>(blockIdx.x) * least;
  const int t = static_cast<int>(threadIdx.x);
  int failed = 0;
  for (int k = 0; k < least; ++k) {
    const int best = p.pivot != 0 ? largest_row(a, k, p.rows) : k;
    if (t == 0) pivots[k] = best + 1;
    if (best != k) {
      for (int j = t; j < p.columns; j += kFactorThreads) {
        const Element x = a.at(k, j);
        a.at(k, j) = a.at(best, j);
        a.at(best, j) = x;
      }
    }
    __syncthreads();
    const Element d = a.at(k, k);
    if (d == 0) {
      if (failed == 0) failed = k + 1;
    } else {
      // LAPACK divides so too: equal rows then have the same results as there.
      const bool fits = (d < 0 ? -d : d) >= kSmallest;
      const Element inverse = 1 / d;
      for (int i = k + 1 + t; i < p.rows; i += kFactorThreads) {
        a.at(i, k) = fits ? a.at(i, k) * inverse : a.at(i, k) / d;
      }
    }
    __syncthreads();
    const int rows = p.rows - k - 1;
    const int64_t rest = static_cast<int64_t>(rows) * (p.columns - k - 1);
    for (int64_t e = t; e < rest; e += kFactorThreads) {
      const int64_t i = k + 1 + e % rows, j = k + 1 + e / rows;
      a.at(i, j) = minus_product(a.at(i, j), a.at(i, k), a.at(k, j));
    }
    __syncthreads();
  }
  if (t == 0) p.info[blockIdx.x] = failed;
}

// Puts X of A X = B in B's place.
SY_KERNEL(solve_triangle, TriangleParams, kFactorThreads) {
  const Grid a = grid_of(p.a, blockIdx.x / p.columns);
  const Grid x = grid_of(p.x, blockIdx.x / p.columns);
  const int64_t column = blockIdx.x % p.columns;
  const int n = p.rows, t = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  for (int step = 0; step < n; ++step) {
    const int k = p.upper != 0 ? n - 1 - step : step;
    if (p.unit == 0 && t == 0) x.at(k, column) = x.at(k, column) / a.at(k, k);
    __syncthreads();
    const Element value = x.at(k, column);
    const int first = p.upper != 0 ? 0 : k + 1, last = p.upper != 0 ? k : n;
    for (int i = first + t; i < last; i += threads) {
      x.at(i, column) = minus_product(x.at(i, column), a.at(i, k), value);
    }
    __syncthreads();
  }
}
