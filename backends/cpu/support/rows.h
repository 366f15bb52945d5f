#pragma once

#include <cstdint>

#include "aten/tensor.h"

// The elements along one dim as rows, for kernels that work on whole rows.
// `dim` is one of t's, counted from the start; a tensor without dims is one row
// of one element.

namespace sy::cpu {

// t with that dim last, and the others in their order: t's own memory.
Tensor with_dim_last(const Tensor& t, int64_t dim);
// The same in contiguous memory: row after row.
Tensor rows_of(const Tensor& t, int64_t dim);

struct RowCount {
  int64_t rows, length;
};
RowCount count_rows(const Tensor& t, int64_t dim);

// Room for rows that `out` is to hold along dim, or (without) one element a
// row: the memory of `out` itself if it lies so. store() puts them there.
class RowsOut {
 public:
  RowsOut(const Tensor& out, std::optional<int64_t> dim);
  void* data() const { return room_.raw_data(); }
  void store() const;

 private:
  Tensor target_, room_;
};

}  // namespace sy::cpu
