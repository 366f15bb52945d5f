#pragma once

#include <algorithm>
#include <cstdint>

#include "aten/engine/dims.h"
#include "backends/cuda/device/walk.cuh"
#include "c10/tensor/tensor_base.h"

// Walks over several tensors, as kernels take them.

namespace sy::cuda {

// Several tensors of common sizes, before a kernel walks over them. Dims are
// sorted by the memory of the first ones, and merged where they lie as one in
// all. Borrows the memory.
class Walker {
 public:
  static constexpr int kMost = 10;  // operands

  explicit Walker(IntArrayRef sizes) : sizes_(sizes) {}

  // A tensor, which broadcasts to the sizes.
  void add(const TensorBase& t);
  // Memory. Strides are in elements, one for each size, of any sign.
  void add(void* data, size_t itemsize, IntArrayRef strides);
  // Call this after the last add(). At least one dim remains. Without `reorder`
  // dims stay in row-major order.
  void finish(bool reorder = true);

  // From here on, dims are sorted: the fastest is dim 0.
  int operands() const { return operands_; }
  int ndim() const { return sizes_.size(); }
  int64_t size(int dim) const { return sizes_[dim]; }
  int64_t stride(int operand, int dim) const {  // in bytes
    return strides_[operand][dim];
  }
  char* data(int operand) const { return data_[operand]; }
  int64_t numel() const { return numel_; }

 private:
  Dims sizes_;
  int operands_ = 0;
  int64_t numel_ = 1;
  char* data_[kMost];
  int64_t itemsize_[kMost];
  Dims strides_[kMost];
};

// The divisor for a number in [1, 2^31].
Divisor make_divisor(uint32_t n) noexcept;

// Makes the elements of a walk larger, up to 16 bytes, where the first `moved`
// operands allow it; the others must lie still along dim 0. `data` has their
// first elements; `also` is what else must be a multiple of the size (steps of
// indices, joined by |). Returns the size of elements, `item` if they stay.
// `strides` is [operands][kWalkDims].
int64_t widen(int64_t* numel, int dims, long long* sizes, long long* strides,
              int operands, int moved, const char* const* data, uint64_t also,
              int64_t item) noexcept;

template <int kOperands>
int64_t widen(Walk<kOperands>& w, int moved, const char* const* data,
              uint64_t also, int64_t item) noexcept {
  int64_t numel = w.numel;
  const int64_t size = widen(&numel, w.dims, w.sizes, &w.strides[0][0],
                             kOperands, moved, data, also, item);
  w.numel = numel;
  return size;
}

// Fills in what depends on the sizes.
template <int kOperands>
void finish_walk(Walk<kOperands>& w) noexcept {
  w.wide = w.numel >= (int64_t{1} << 31) ? 1 : 0;
  for (int d = 0; w.wide == 0 && d < w.dims; ++d) {
    w.divisors[d] = make_divisor(static_cast<uint32_t>(w.sizes[d]));
  }
}

// f(walk, data) for walks that together are `iter`, of which each has at most
// kWalkDims dims: several only where the dims of many do not merge. None if
// there are no elements. `data` are the first elements. Sizes may still be
// changed: f calls finish_walk().
template <int kOperands, class F>
void each_walk(const Walker& iter, const F& f) {
  if (iter.numel() == 0) return;
  const int dims = std::min(iter.ndim(), kWalkDims);
  Walk<kOperands> w;
  w.dims = dims;
  w.numel = 1;
  for (int d = 0; d < dims; ++d) {
    w.sizes[d] = iter.size(d);
    w.numel *= iter.size(d);
    for (int k = 0; k < kOperands && k < iter.operands(); ++k) {
      w.strides[k][d] = iter.stride(k, d);
    }
  }
  const int64_t pieces = iter.numel() / w.numel;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    char* data[kOperands] = {};
    for (int k = 0; k < kOperands && k < iter.operands(); ++k) {
      data[k] = iter.data(k);
      int64_t rest = piece;
      for (int d = dims; d < iter.ndim(); ++d) {
        data[k] += rest % iter.size(d) * iter.stride(k, d);
        rest /= iter.size(d);
      }
    }
    Walk<kOperands> own = w;
    f(own, data);
  }
}

// The same for one that is known to have few dims: those of one tensor made
// contiguous, for example.
template <int kOperands>
Walk<kOperands> only_walk(const Walker& iter) {
  Walk<kOperands> all;
  SY_INTERNAL_ASSERT(iter.ndim() <= kWalkDims);
  each_walk<kOperands>(iter, [&](Walk<kOperands>& w, char* const*) {
    finish_walk(w);
    all = w;
  });
  return all;
}

}  // namespace sy::cuda
