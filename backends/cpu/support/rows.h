#pragma once

#include <cstdint>

#include "aten/tensor.h"

// The elements along one dim as rows, for kernels that work on whole rows.
// `dim` is a dim of t, counted from the start. A tensor without dims is one row
// of one element.

namespace sy::cpu {

// A view of t with `dim` last and the other dims in their order.
Tensor with_dim_last(const Tensor& t, int64_t dim);
// The same in contiguous memory: row after row.
Tensor rows_of(const Tensor& t, int64_t dim);

struct RowCount {
  int64_t rows, length;
};
RowCount count_rows(const Tensor& t, int64_t dim);

// Room for the rows of `out` along dim or, without dim, for one element per
// row. It is the memory of `out` itself if that lies so. store() copies the
// rows to out.
class RowsOut {
 public:
  RowsOut(const Tensor& out, std::optional<int64_t> dim);
  void* data() const { return room_.raw_data(); }
  void store() const;

 private:
  Tensor target_, room_;
};

}  // namespace sy::cpu
