#include "functors/math_double.cuh"
#include "functors/math_float.cuh"
#include "row.cuh"

// Softmax, its logarithm and their derivatives. The host defines SY_E, the type
// of elements, SY_T, the type to compute in, and SY_F, the namespace of its
// primitives. Sums are made in double.

namespace sy::cuda {

using E = SY_E;
using T = SY_T;

template <int kEach>
__device__ __forceinline__ void softmax(const SoftmaxParams& p) {
  using R = Row<E, T, kEach>;
  using Values = typename R::Values;
  __shared__ T most_room[kRowThreads / kWarpSize];
  __shared__ double sum_room[kRowThreads / kWarpSize];
  const R row(p);
  each_row(p, [&](int64_t r, bool own) {
    const RowSource<R, E, T> x{static_cast<const E*>(p.x) + r * p.length,
                               row_room<T>(p, 0, 1)};
    T most = -T(__builtin_inf());
    row.each([&](int64_t k) {
      const Values v = x.first(k);
#pragma unroll
      for (int j = 0; j < kEach; ++j) most = v.at[j] > most ? v.at[j] : most;
    });
    most = reduce_to_all(most, p.lanes, most_room, Largest<T>());
    double sum = 0;
    row.each([&](int64_t k) {
      Values v = x.again(k);
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        const T e = SY_F::exp(v.at[j] - most);
        sum += static_cast<double>(e);
        v.at[j] = e;
      }
      if (p.log == 0 && x.kept != nullptr) x.keep(k, v);
    });
    sum = reduce_to_all(sum, p.lanes, sum_room, Adding());
    E* const y = static_cast<E*>(p.y) + r * p.length;
    const T total = static_cast<T>(p.log != 0 ? f64::log(sum) : sum);
    row.each([&](int64_t k) {
      Values v = x.again(k);
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        if (p.log != 0) {
          v.at[j] = v.at[j] - most - total;
        } else if (x.kept != nullptr) {
          v.at[j] = v.at[j] / total;
        } else {
          v.at[j] = SY_F::exp(v.at[j] - most) / total;
        }
      }
      if (own) R::store(y + k, v);
    });
  });
}

template <int kEach>
__device__ __forceinline__ void softmax_grad(const SoftmaxParams& p) {
  using R = Row<E, T, kEach>;
  using Values = typename R::Values;
  __shared__ double room[kRowThreads / kWarpSize];
  const R row(p);
  each_row(p, [&](int64_t r, bool own) {
    const RowSource<R, E, T> y{static_cast<const E*>(p.x) + r * p.length,
                               row_room<T>(p, 0, 2)};
    const RowSource<R, E, T> dy{static_cast<const E*>(p.dy) + r * p.length,
                                row_room<T>(p, 1, 2)};
    double sum = 0;
    row.each([&](int64_t k) {
      const Values a = y.first(k), d = dy.first(k);
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        sum += static_cast<double>(p.log != 0 ? d.at[j] : d.at[j] * a.at[j]);
      }
    });
    const T total =
        static_cast<T>(reduce_to_all(sum, p.lanes, room, Adding()));
    E* const dx = static_cast<E*>(p.y) + r * p.length;
    row.each([&](int64_t k) {
      const Values a = y.again(k), d = dy.again(k);
      Values v;
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        v.at[j] = p.log != 0 ? d.at[j] - SY_F::exp(a.at[j]) * total
                             : (d.at[j] - total) * a.at[j];
      }
      if (own) R::store(dx + k, v);
    });
  });
}

// Columns: threadIdx.x % lanes is one of neighbours; the other threads share
// its elements. `f(k)` is a double for each of them, summed up in all.
template <class F>
__device__ __forceinline__ double column_sum(const RowHead& p, bool there,
                                             double* room, const F& f) {
  const int t = static_cast<int>(threadIdx.x);
  const int side = static_cast<int>(blockDim.x) / p.lanes;
  double sum = 0;
  if (there) {
    for (int64_t k = t / p.lanes; k < p.length; k += side) sum += f(k);
  }
  __syncthreads();
  room[t] = sum;
  __syncthreads();
  sum = 0;
  for (int i = t & (p.lanes - 1); i < static_cast<int>(blockDim.x);
       i += p.lanes) {
    sum += room[i];
  }
  return sum;
}

constexpr int kColumnThreads = 256;

// f(first element of the column, whether there is one).
template <class F>
__device__ __forceinline__ void each_column(const RowHead& p, const F& f) {
  const int64_t strips = (p.rows + p.lanes - 1) / p.lanes;
  for (int64_t b = blockIdx.x; b < strips; b += gridDim.x) {
    const int64_t c = b * p.lanes + (threadIdx.x & (p.lanes - 1));
    f(c / p.inner * p.length * p.inner + c % p.inner, c < p.rows);
  }
}

}  // namespace sy::cuda

SY_KERNEL(softmax_rows, SoftmaxParams, kRowThreads) {
  p.packs != 0 ? softmax<16 / sizeof(E)>(p) : softmax<1>(p);
}

SY_KERNEL(softmax_grad_rows, SoftmaxParams, kRowThreads) {
  p.packs != 0 ? softmax_grad<16 / sizeof(E)>(p) : softmax_grad<1>(p);
}

SY_KERNEL(softmax_columns, SoftmaxParams, kColumnThreads) {
  __shared__ double room[kColumnThreads];
  __shared__ T most_room[kColumnThreads];
  const int t = static_cast<int>(threadIdx.x);
  const int side = kColumnThreads / p.lanes;
  each_column(p, [&](int64_t first, bool there) {
    const E* const x = static_cast<const E*>(p.x) + first;
    E* const y = static_cast<E*>(p.y) + first;
    const auto at = [&](int64_t k) { return load_value<T>(x[k * p.inner]); };
    T most = -T(__builtin_inf());
    if (there) {
      for (int64_t k = t / p.lanes; k < p.length; k += side) {
        most = at(k) > most ? at(k) : most;
      }
    }
    __syncthreads();
    most_room[t] = most;
    __syncthreads();
    for (int i = t & (p.lanes - 1); i < kColumnThreads; i += p.lanes) {
      most = most_room[i] > most ? most_room[i] : most;
    }
    const double sum = column_sum(p, there, room, [&](int64_t k) {
      return static_cast<double>(SY_F::exp(at(k) - most));
    });
    if (!there) return;
    const T total = static_cast<T>(p.log != 0 ? f64::log(sum) : sum);
    for (int64_t k = t / p.lanes; k < p.length; k += side) {
      const T v = at(k) - most;
      y[k * p.inner] =
          store_value<E>(p.log != 0 ? v - total : SY_F::exp(v) / total);
    }
  });
}

SY_KERNEL(softmax_grad_columns, SoftmaxParams, kColumnThreads) {
  __shared__ double room[kColumnThreads];
  const int side = kColumnThreads / p.lanes;
  each_column(p, [&](int64_t first, bool there) {
    const E* const y = static_cast<const E*>(p.x) + first;
    const E* const dy = static_cast<const E*>(p.dy) + first;
    E* const dx = static_cast<E*>(p.y) + first;
    const auto out = [&](int64_t k) { return load_value<T>(y[k * p.inner]); };
    const auto grad = [&](int64_t k) { return load_value<T>(dy[k * p.inner]); };
    const double sum = column_sum(p, there, room, [&](int64_t k) {
      return static_cast<double>(p.log != 0 ? grad(k) : grad(k) * out(k));
    });
    if (!there) return;
    const T total = static_cast<T>(sum);
    for (int64_t k = static_cast<int>(threadIdx.x) / p.lanes; k < p.length;
         k += side) {
      dx[k * p.inner] = store_value<E>(
          p.log != 0 ? grad(k) - SY_F::exp(out(k)) * total
                     : (grad(k) - total) * out(k));
    }
  });
}
