#include "row.cuh"

// layer_norm, rms_norm and their derivatives. The host defines SY_E, the type
// of elements, and SY_T, the type to compute in. Sums are made in double.

namespace sy::cuda {

using E = SY_E;
using T = SY_T;

template <int kEach>
__device__ __forceinline__ void norm(const NormParams& p) {
  using R = Row<E, T, kEach>;
  using Values = typename R::Values;
  __shared__ double room[kRowThreads / kWarpSize];
  const R row(p);
  const auto count = static_cast<double>(p.length);
  each_row(p, [&](int64_t r, bool own) {
    const RowSource<R, E, T> x{static_cast<const E*>(p.x) + r * p.length,
                               row_room<T>(p, 0, 1)};
    double sum = 0;
    row.each([&](int64_t k) {
      const Values v = x.first(k);
#pragma unroll
      for (int j = 0; j < kEach; ++j) sum += static_cast<double>(v.at[j]);
    });
    T mean = 0;
    if (p.mean.data != nullptr) {
      sum = reduce_to_all(sum, p.lanes, room, Adding());
      mean = p.length == 0 ? T(0) : static_cast<T>(sum / count);
    }
    double squares = 0;
    row.each([&](int64_t k) {
      const Values v = x.again(k);
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        const auto d = static_cast<double>(v.at[j] - mean);
        squares += d * d;
      }
    });
    squares = reduce_to_all(squares, p.lanes, room, Adding());
    const T rstd = static_cast<T>(1 / __builtin_sqrt(squares / count + p.eps));
    E* const y = static_cast<E*>(p.y) + r * p.length;
    row.each([&](int64_t k) {
      Values v = x.again(k);
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        T a = (v.at[j] - mean) * rstd;
        if (p.weight.data != nullptr) a = a * any_float<T>(p.weight, k + j);
        if (p.bias.data != nullptr) a = a + any_float<T>(p.bias, k + j);
        v.at[j] = a;
      }
      if (own) R::store(y + k, v);
    });
    if (own && row.lane == 0) {
      if (p.mean.data != nullptr) store_any_float(p.mean, r, mean);
      store_any_float(p.rstd, r, rstd);
    }
  });
}

template <int kEach>
__device__ __forceinline__ void norm_grad(const NormGradParams& p) {
  using R = Row<E, T, kEach>;
  using Values = typename R::Values;
  __shared__ double room[kRowThreads / kWarpSize];
  const R row(p);
  const auto count = static_cast<double>(p.length);
  const bool centers = p.mean.data != nullptr;
  each_row(p, [&](int64_t r, bool own) {
    const RowSource<R, E, T> x{static_cast<const E*>(p.x) + r * p.length,
                               row_room<T>(p, 0, 2)};
    // With the weight, once it is read.
    const RowSource<R, E, T> dy{static_cast<const E*>(p.dy) + r * p.length,
                                row_room<T>(p, 1, 2)};
    const T mean = centers ? any_float<T>(p.mean, r) : T(0);
    const T rstd = any_float<T>(p.rstd, r);
    const auto weighed = [&](Values g, int64_t k) {
      if (p.weight.data == nullptr) return g;
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        g.at[j] = g.at[j] * any_float<T>(p.weight, k + j);
      }
      return g;
    };
    double sum = 0, moment = 0;
    row.each([&](int64_t k) {
      const Values v = x.first(k);
      const Values g = weighed(R::load(dy.memory + k), k);
      if (dy.kept != nullptr) dy.keep(k, g);
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        const auto d = static_cast<double>(g.at[j]);
        sum += d;
        moment += d * static_cast<double>(v.at[j] - mean);
      }
    });
    sum = reduce_to_all(sum, p.lanes, room, Adding());
    moment = reduce_to_all(moment, p.lanes, room, Adding());
    const auto s = static_cast<double>(rstd);
    double b = -moment * s * s * s / count;
    double c = centers ? -sum * s / count : 0;
    if (p.grad_mean.data != nullptr) {
      c += any_float<double>(p.grad_mean, r) / count;
    }
    if (p.grad_rstd.data != nullptr) {
      b -= any_float<double>(p.grad_rstd, r) * s * s * s / count;
    }
    const T slope = static_cast<T>(b), shift = static_cast<T>(c);
    E* const dx = static_cast<E*>(p.dx) + r * p.length;
    row.each([&](int64_t k) {
      Values v = x.again(k);
      const Values g = dy.kept != nullptr ? dy.again(k)
                                          : weighed(R::load(dy.memory + k), k);
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        v.at[j] = g.at[j] * rstd + ((v.at[j] - mean) * slope + shift);
      }
      if (own) R::store(dx + k, v);
    });
  });
}

constexpr int kSumColumns = 32, kSumRows = 8;

// Returns the sum of each column's threads, in the first of them.
__device__ __forceinline__ double sum_down(double v, double* room) {
  const int t = static_cast<int>(threadIdx.x);
  __syncthreads();
  room[t] = v;
  __syncthreads();
  if (t >= kSumColumns) return v;
  for (int i = 1; i < kSumRows; ++i) v += room[t + i * kSumColumns];
  return v;
}

}  // namespace sy::cuda

SY_KERNEL(norm_rows, NormParams, kRowThreads) {
  p.packs != 0 ? norm<16 / sizeof(E)>(p) : norm<1>(p);
}

SY_KERNEL(norm_grad_rows, NormGradParams, kRowThreads) {
  p.packs != 0 ? norm_grad<16 / sizeof(E)>(p) : norm_grad<1>(p);
}

SY_KERNEL(norm_sums, NormSumParams, kSumColumns * kSumRows) {
  __shared__ double room[kSumColumns * kSumRows];
  const int x = static_cast<int>(threadIdx.x) % kSumColumns;
  const int y = static_cast<int>(threadIdx.x) / kSumColumns;
  const int64_t strips = (p.length + kSumColumns - 1) / kSumColumns;
  for (int64_t b = blockIdx.x; b < strips * p.pieces; b += gridDim.x) {
    const int64_t column = b % strips * kSumColumns + x;
    const int64_t piece = b / strips;
    const int64_t from = piece * p.piece;
    const int64_t upto = from + p.piece < p.rows ? from + p.piece : p.rows;
    double weight = 0, bias = 0;
    if (column < p.length) {
      for (int64_t r = from + y; r < upto; r += kSumRows) {
        const int64_t at = r * p.length + column;
        const T g = load_value<T>(static_cast<const E*>(p.dy)[at]);
        bias += static_cast<double>(g);
        if (p.weight_sums == nullptr) continue;
        const T v = load_value<T>(static_cast<const E*>(p.x)[at]);
        const T mean =
            p.mean.data != nullptr ? any_float<T>(p.mean, r) : T(0);
        const T rstd = any_float<T>(p.rstd, r);
        weight += static_cast<double>(g * ((v - mean) * rstd));
      }
    }
    weight = sum_down(weight, room);
    bias = sum_down(bias, room);
    if (y != 0 || column >= p.length) continue;
    const int64_t to = piece * p.length + column;
    if (p.weight_sums != nullptr) p.weight_sums[to] = weight;
    if (p.bias_sums != nullptr) p.bias_sums[to] = bias;
  }
}

SY_KERNEL(norm_sums_end, NormSumParams, 256) {
  for (int64_t c = first_index(); c < p.length; c += index_stride()) {
    double weight = 0, bias = 0;
    for (int64_t k = 0; k < p.pieces; ++k) {
      const int64_t at = k * p.length + c;
      if (p.weight_sums != nullptr) weight += p.weight_sums[at];
      if (p.bias_sums != nullptr) bias += p.bias_sums[at];
    }
    if (p.weight.data != nullptr) store_any_float(p.weight, c, weight);
    if (p.bias.data != nullptr) store_any_float(p.bias, c, bias);
  }
}
