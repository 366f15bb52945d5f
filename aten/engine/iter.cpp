#include "aten/engine/iter.h"

#include <algorithm>
#include <utility>

namespace sy {

void sort_dims(const int64_t* const* strides, int operands,
               const int64_t* sizes, int n, uint8_t* order) {
  // Row-major first, then insertion: the sort must be stable where operands
  // say nothing, and the order of two dims need not be transitive.
  for (int i = 0; i < n; ++i) order[i] = static_cast<uint8_t>(n - 1 - i);
  const auto compare = [&](int a, int b) {  // < 0: a is faster
    for (int k = 0; k < operands; ++k) {
      const int64_t x = strides[k][a], y = strides[k][b];
      if (x == 0 || y == 0) continue;
      if (x != y) return x < y ? -1 : 1;
      if (sizes[a] != sizes[b]) return sizes[a] < sizes[b] ? -1 : 1;
    }
    return 0;
  };
  for (int i = 1; i < n; ++i) {
    int at = i;
    for (int j = i; j-- > 0;) {
      const int c = compare(order[at], order[j]);
      if (c > 0) break;
      if (c < 0) {
        std::swap(order[at], order[j]);
        at = j;
      }
    }
  }
}

Iter::Iter(IntArrayRef sizes) : ndim_(static_cast<int>(sizes.size())) {
  for (int d = 0; d < ndim_; ++d) {
    sizes_[d] = sizes[static_cast<size_t>(d)];
    numel_ *= sizes_[d];
  }
}

namespace {

// The stride of a dim of one element may be any number; nobody takes a step.
int64_t in_bytes(int64_t stride, int64_t itemsize) {
  return static_cast<int64_t>(static_cast<uint64_t>(stride) *
                              static_cast<uint64_t>(itemsize));
}

}  // namespace

void Iter::add(const TensorBase& t) {
  SY_INTERNAL_ASSERT(operands_ < kMaxOperands);
  const int k = operands_++;
  const int shift = ndim_ - static_cast<int>(t.dim());
  const IntArrayRef sizes = t.sizes(), strides = t.strides();
  const auto item = static_cast<int64_t>(t.itemsize());
  for (int d = 0; d < ndim_; ++d) {
    const bool broadcast =
        d < shift ||
        (sizes[static_cast<size_t>(d - shift)] == 1 && sizes_[d] != 1);
    strides_[k][d] =
        broadcast ? 0 : in_bytes(strides[static_cast<size_t>(d - shift)], item);
  }
  data_[k] = static_cast<char*>(t.raw_data());
  itemsize_[k] = item;
}

void Iter::add(void* data, size_t itemsize, IntArrayRef strides) {
  SY_INTERNAL_ASSERT(operands_ < kMaxOperands);
  const int k = operands_++;
  for (int d = 0; d < ndim_; ++d) {
    strides_[k][d] = in_bytes(strides[static_cast<size_t>(d)],
                              static_cast<int64_t>(itemsize));
  }
  data_[k] = static_cast<char*>(data);
  itemsize_[k] = static_cast<int64_t>(itemsize);
}

void Iter::finish(bool reorder) {
  if (reorder && ndim_ > 1) {
    const int64_t* strides[kMaxOperands];
    for (int k = 0; k < operands_; ++k) strides[k] = strides_[k];
    sort_dims(strides, operands_, sizes_, ndim_, order_);
  } else {
    for (int i = 0; i < ndim_; ++i) {
      order_[i] = static_cast<uint8_t>(ndim_ - 1 - i);
    }
  }
  const auto permute = [&](int64_t* list) {
    int64_t old[TensorImpl::kMaxDims];
    std::copy_n(list, ndim_, old);
    for (int i = 0; i < ndim_; ++i) list[i] = old[order_[i]];
  };
  permute(sizes_);
  for (int k = 0; k < operands_; ++k) permute(strides_[k]);

  int last = 0;  // the merged dim that takes more
  const auto merges = [&](int d) {
    if (sizes_[d] == 1 || sizes_[last] == 1) return true;
    for (int k = 0; k < operands_; ++k) {
      if (strides_[k][d] != strides_[k][last] * sizes_[last]) return false;
    }
    return true;
  };
  for (int d = 1; d < ndim_; ++d) {
    if (merges(d)) {
      if (sizes_[last] == 1) {
        for (int k = 0; k < operands_; ++k) strides_[k][last] = strides_[k][d];
      }
      sizes_[last] *= sizes_[d];
    } else if (++last != d) {
      sizes_[last] = sizes_[d];
      for (int k = 0; k < operands_; ++k) strides_[k][last] = strides_[k][d];
    }
  }
  if (ndim_ == 0) {
    sizes_[0] = 1;
    for (int k = 0; k < operands_; ++k) strides_[k][0] = itemsize_[k];
  } else if (last == 0 && sizes_[0] == 1) {
    for (int k = 0; k < operands_; ++k) strides_[k][0] = itemsize_[k];
  }
  ndim_ = last + 1;
}

void Iter::start(int64_t begin, Position* p, Block* block) const {
  for (int k = 0; k < operands_; ++k) block->data[k] = data_[k];
  for (int d = 0; d < ndim_; ++d) {
    if (begin == 0) {
      p->at[d] = 0;
      continue;
    }
    p->at[d] = begin % sizes_[d];
    begin /= sizes_[d];
    for (int k = 0; k < operands_; ++k) {
      block->data[k] += p->at[d] * strides_[k][d];
    }
  }
}

void Iter::measure(const Position& p, int64_t left, Block* block) const {
  block->columns = std::min(sizes_[0] - p.at[0], left);
  block->rows = 1;
  if (ndim_ > 1 && p.at[0] == 0 && block->columns == sizes_[0]) {
    block->rows = std::min(sizes_[1] - p.at[1], left / sizes_[0]);
  }
}

void Iter::advance(Position* p, Block* block) const {
  const auto move = [&](int d, int64_t by) {
    p->at[d] += by;
    for (int k = 0; k < operands_; ++k) {
      block->data[k] += by * strides_[k][d];
    }
  };
  // The block was part of a row, or whole rows.
  int d = 0;
  if (block->columns == sizes_[0] && ndim_ > 1) {
    move(1, block->rows);
    d = 1;
  } else {
    move(0, block->columns);
  }
  while (d + 1 < ndim_ && p->at[d] == sizes_[d]) {
    move(d, -sizes_[d]);
    move(d + 1, 1);
    ++d;
  }
}

int64_t Iter::split_unit() const {
  // Whole rows, unless there are too few of them to go round; pieces of a row
  // begin at a multiple of 1024 elements.
  constexpr int64_t kPiece = 1024;
  return ndim_ > 1 && numel_ / sizes_[0] >= 64 ? sizes_[0] : kPiece;
}

}  // namespace sy
