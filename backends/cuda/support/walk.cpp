#include "backends/cuda/support/walk.h"

#include <bit>

#include "aten/engine/iter.h"

namespace sy::cuda {

namespace {

// The stride of a dim of one element may be any number; nobody takes a step.
int64_t in_bytes(int64_t stride, int64_t itemsize) {
  return static_cast<int64_t>(static_cast<uint64_t>(stride) *
                              static_cast<uint64_t>(itemsize));
}

}  // namespace

void Walker::add(void* data, size_t itemsize, IntArrayRef strides) {
  SY_INTERNAL_ASSERT(operands_ < kMost);
  const int k = operands_++;
  data_[k] = static_cast<char*>(data);
  itemsize_[k] = static_cast<int64_t>(itemsize);
  strides_[k] = Dims(strides);
  for (int64_t& s : strides_[k]) s = in_bytes(s, itemsize_[k]);
}

void Walker::add(const TensorBase& t) {
  const int64_t shift = sizes_.size() - t.dim();
  Dims strides(sizes_);
  for (int64_t d = 0; d < sizes_.size(); ++d) {
    const auto own = static_cast<size_t>(d - shift);
    const bool broadcast = d < shift || (t.sizes()[own] == 1 && sizes_[d] != 1);
    strides[d] = broadcast ? 0 : t.strides()[own];
  }
  add(t.raw_data(), t.itemsize(), strides);
}

void Walker::finish(bool reorder) {
  const int n = sizes_.size();
  uint8_t order[TensorImpl::kMaxDims];
  for (int i = 0; i < n; ++i) order[i] = static_cast<uint8_t>(n - 1 - i);
  if (reorder && n > 1) {
    const int64_t* strides[kMost];
    for (int k = 0; k < operands_; ++k) strides[k] = strides_[k].data();
    sort_dims(strides, operands_, sizes_.data(), n, order);
  }
  const Dims sizes = sizes_;
  Dims strides[kMost];
  for (int k = 0; k < operands_; ++k) strides[k] = strides_[k];
  int last = -1;
  for (int i = 0; i < n; ++i) {
    const int d = order[i];
    numel_ *= sizes[d];
    if (sizes[d] == 1) continue;
    const auto take = [&](int to) {
      sizes_[to] = sizes[d];
      for (int k = 0; k < operands_; ++k) strides_[k][to] = strides[k][d];
    };
    bool one = last >= 0;
    for (int k = 0; one && k < operands_; ++k) {
      one = strides[k][d] == in_bytes(strides_[k][last], sizes_[last]);
    }
    if (one) {
      sizes_[last] *= sizes[d];
    } else {
      take(++last);
    }
  }
  if (last < 0) {  // one element
    sizes_.resize(1);
    sizes_[0] = 1;
    for (int k = 0; k < operands_; ++k) {
      strides_[k].resize(1);
      strides_[k][0] = itemsize_[k];
    }
    return;
  }
  sizes_.resize(last + 1);
  for (int k = 0; k < operands_; ++k) strides_[k].resize(last + 1);
}

Divisor make_divisor(uint32_t n) noexcept {
  const auto shift = static_cast<unsigned>(std::bit_width(n - 1));
  const uint64_t power = uint64_t{1} << shift;
  const uint64_t multiplier = ((power - n) << 32) / n + 1;
  return {n, static_cast<unsigned>(multiplier), shift};
}

int64_t widen(int64_t* numel, int dims, long long* sizes, long long* strides,
              int operands, int moved, const char* const* data, uint64_t also,
              int64_t item) noexcept {
  for (int k = 0; k < operands; ++k) {
    const int64_t stride = strides[k * kWalkDims];
    if (stride != (k < moved ? item : 0)) return item;
  }
  uint64_t all = also;
  for (int k = 0; k < moved; ++k) {
    all |= reinterpret_cast<uintptr_t>(data[k]);
    for (int d = 1; d < dims; ++d) {
      all |= static_cast<uint64_t>(strides[k * kWalkDims + d]);
    }
  }
  all |= static_cast<uint64_t>(sizes[0] * item);
  const int64_t size =
      std::min<int64_t>(int64_t{1} << std::countr_zero(all | uint64_t{16}), 16);
  if (size <= item) return item;
  sizes[0] = sizes[0] * item / size;
  *numel = *numel * item / size;
  for (int k = 0; k < moved; ++k) strides[k * kWalkDims] = size;
  return size;
}

}  // namespace sy::cuda
