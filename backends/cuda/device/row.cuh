#pragma once

#include "block.cuh"
#include "element.cuh"
#include "row_params.cuh"

// Some threads of a block compute a row. They read it from memory once and keep
// it in shared memory, where each thread has its own part, so that phases need
// no barriers. Rows that are too long for that are read again.

namespace sy::cuda {

// The threads of one row. E: elements in memory; T: the type to compute in;
// kEach: elements side by side that a thread takes.
template <class E, class T, int kEach>
struct Row {
  using Elements = Pack<E, kEach>;
  using Values = Pack<T, kEach>;

  int64_t n;
  int lane, lanes;

  __device__ __forceinline__ explicit Row(const RowHead& p)
      : n(p.length),
        lane(static_cast<int>(threadIdx.x) & (p.lanes - 1)),
        lanes(p.lanes) {}

  // Calls f(first of kEach elements) for the elements of this thread.
  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    for (int64_t k = lane * kEach; k < n; k += int64_t{lanes} * kEach) f(k);
  }
  template <class S>
  __device__ __forceinline__ static Values load(const S* from) {
    const Pack<S, kEach> raw = load_pack<S, kEach>(from);
    Values v;
#pragma unroll
    for (int j = 0; j < kEach; ++j) v.at[j] = load_value<T>(raw.at[j]);
    return v;
  }
  __device__ __forceinline__ static void store(E* to, const Values& v) {
    Elements raw;
#pragma unroll
    for (int j = 0; j < kEach; ++j) raw.at[j] = store_value<E>(v.at[j]);
    store_pack<E, kEach>(to, raw);
  }
};

// Elements of a row in memory, and its place in shared memory if it stays.
template <class R, class E, class T>
struct RowSource {
  const E* memory;
  T* kept;  // or nullptr

  // The first time, and again.
  __device__ __forceinline__ typename R::Values first(int64_t k) const {
    const typename R::Values v = R::load(memory + k);
    if (kept != nullptr) keep(k, v);
    return v;
  }
  __device__ __forceinline__ typename R::Values again(int64_t k) const {
    return kept != nullptr ? R::load(kept + k) : R::load(memory + k);
  }
  __device__ __forceinline__ void keep(int64_t k,
                                       const typename R::Values& v) const {
    keep_pack(kept + k, v);
  }
};

// The room of operand `i` of `n` in row `slot` of the block.
template <class T>
__device__ __forceinline__ T* row_room(const RowHead& p, int i, int n) {
  if (p.resident == 0) return nullptr;
  const int slot = static_cast<int>(threadIdx.x) / p.lanes;
  return reinterpret_cast<T*>(dynamic_shared()) +
         (int64_t{slot} * n + i) * p.length;
}

template <class T>
__device__ __forceinline__ T any_float(const AnyFloats& f, int64_t i) {
  switch (f.kind) {
    case 0: return load_value<T>(static_cast<const float*>(f.data)[i]);
    case 1: return load_value<T>(static_cast<const double*>(f.data)[i]);
    case 2: return load_value<T>(static_cast<const half16*>(f.data)[i]);
    default: return load_value<T>(static_cast<const bfloat16*>(f.data)[i]);
  }
}
template <class T>
__device__ __forceinline__ void store_any_float(const AnyFloats& f, int64_t i,
                                                T v) {
  void* const to = const_cast<void*>(f.data);
  switch (f.kind) {
    case 0: static_cast<float*>(to)[i] = store_value<float>(v); return;
    case 1: static_cast<double*>(to)[i] = store_value<double>(v); return;
    case 2: static_cast<half16*>(to)[i] = store_value<half16>(v); return;
    default: static_cast<bfloat16*>(to)[i] = store_value<bfloat16>(v);
  }
}

struct Adding {
  __device__ __forceinline__ double operator()(double a, double b) const {
    return a + b;
  }
};
template <class T>
struct Largest {
  __device__ __forceinline__ T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};

// Calls f(row, whether the row is the thread's) for the rows of this block:
// threads without a row take the last one, and store nothing.
template <class F>
__device__ __forceinline__ void each_row(const RowHead& p, const F& f) {
  const int64_t side = static_cast<int>(blockDim.x) / p.lanes;
  const int64_t blocks = (p.rows + side - 1) / side;
  for (int64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    const int64_t row = b * side + static_cast<int>(threadIdx.x) / p.lanes;
    f(row < p.rows ? row : p.rows - 1, row < p.rows);
  }
}

}  // namespace sy::cuda
