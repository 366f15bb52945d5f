#pragma once

#include <cstdint>
#include <type_traits>

#include "aten/engine/dims.h"
#include "c10/process/parallel.h"
#include "c10/tensor/tensor_base.h"

namespace sy {

// Walks several operands of common sizes. Operands broadcast to these sizes.
// Dims are sorted so that the first operand's memory is walked in order, and
// neighbouring dims are merged if they lie as one. Borrows the operands'
// memory. One thread sets it up; run() is const.
class Iter {
 public:
  static constexpr int kMaxOperands = 10;

  explicit Iter(IntArrayRef sizes);

  // Adds a tensor, which broadcasts to the sizes. Add operands that are written
  // first.
  void add(const TensorBase& t);
  // Adds memory. Strides are in elements, one for each size.
  void add(void* data, size_t itemsize, IntArrayRef strides);
  // Call this after the last add(). It sorts and merges the dims; at least one
  // remains. Dims stay in row-major order without `reorder`.
  void finish(bool reorder = true);

  int operands() const { return operands_; }
  // Dims are sorted from here on: the fastest is dim 0.
  int ndim() const { return ndim_; }
  int64_t size(int dim) const { return sizes_[dim]; }
  int64_t stride(int operand, int dim) const {  // in bytes
    return strides_[operand][dim];
  }
  char* data(int operand) const { return data_[operand]; }
  int64_t itemsize(int operand) const { return itemsize_[operand]; }
  int64_t numel() const { return numel_; }
  // order()[i] is the original dim that became dim i by sorting, before
  // merging.
  const uint8_t* order() const { return order_; }
  // Whether the operand is one run of contiguous elements.
  bool is_linear(int operand) const {
    return ndim_ == 1 && strides_[operand][0] == itemsize_[operand];
  }

  // A piece of the two fastest dims: rows x columns elements from `data` on.
  // The stride of dim 0 leads to the next column, that of dim 1 to the next
  // row.
  struct Block {
    char* data[kMaxOperands];
    int64_t columns;
    int64_t rows;
  };
  // Calls f(block) for pieces that together are the elements [begin, end), in
  // the order of the walk.
  template <class F>
  void run(int64_t begin, int64_t end, const F& f) const {
    Block block;
    Position p;
    start(begin, &p, &block);
    while (begin < end) {
      measure(p, end - begin, &block);
      f(static_cast<const Block&>(block));
      begin += block.columns * block.rows;
      if (begin < end) advance(&p, &block);
    }
  }
  // Calls f(block) for all elements, in parallel if there are more than
  // `grain`. Threads split at whole rows if there are enough of them.
  template <class F>
  void for_each(int64_t grain, const F& f) const {
    for_each_range(grain, [&](int64_t b, int64_t e) { run(b, e, f); });
  }
  // The same by ranges: f(begin, end) calls run() itself.
  template <class F>
  void for_each_range(int64_t grain, const F& f) const {
    if (numel_ <= grain) {
      if (numel_ != 0) f(int64_t{0}, numel_);
      return;
    }
    const int64_t unit = split_unit();
    parallel_for(0, (numel_ + unit - 1) / unit, (grain + unit - 1) / unit,
                 [&](int64_t b, int64_t e) {
                   f(b * unit, e * unit < numel_ ? e * unit : numel_);
                 });
  }

 private:
  struct Position {
    int64_t at[TensorImpl::kMaxDims];
  };
  void start(int64_t begin, Position* p, Block* block) const;
  void measure(const Position& p, int64_t left, Block* block) const;
  void advance(Position* p, Block* block) const;
  int64_t split_unit() const;

  int ndim_;
  int operands_ = 0;
  int64_t numel_ = 1;
  char* data_[kMaxOperands];
  int64_t itemsize_[kMaxOperands];
  int64_t sizes_[TensorImpl::kMaxDims];
  int64_t strides_[kMaxOperands][TensorImpl::kMaxDims];
  uint8_t order_[TensorImpl::kMaxDims];
};

// Finds the best order to walk dims in, fastest first: `order` gets n dims.
// `strides[k]` are the strides of operand k, in any unit. Earlier operands
// decide; where their stride is 0, later ones do.
SY_API void sort_dims(const int64_t* const* strides, int operands,
                      const int64_t* sizes, int n, uint8_t* order);

}  // namespace sy
