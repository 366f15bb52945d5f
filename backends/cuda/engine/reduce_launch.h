#pragma once

#include <cstdint>

#include "aten/program/op_desc.h"
#include "aten/tensor.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/device/reduce_params.cuh"
#include "backends/cuda/engine/layout.h"
#include "backends/cuda/print/reduce.h"

// How kernels of device/reduce.cuh are started.

namespace sy::cuda {

// How a reduction is cut into blocks. A function of the layout and of addresses
// modulo 16 alone, so that results are the same on every machine.
struct ReduceCut {
  print::ReduceShell shell = print::ReduceShell::kRows;
  int lanes = 1;
  bool wide = false;
  int64_t piece = 1, pieces = 1;
  int64_t blocks = 0;   // of the first pass
  int piece_lanes = 1;  // of the second

  // `inner`: the elements of a result lie closer together than results do.
  ReduceCut(bool inner, int64_t kept, int64_t reduced);
  ReduceCut(const ReduceLayout& layout, const void* data, int64_t itemsize,
            int64_t kept, int64_t reduced);
  // Blocks of the second pass.
  int64_t piece_blocks(int64_t kept) const {
    return (kept + piece_lanes - 1) / piece_lanes;
  }

 private:
  // `each`: results of a thread.
  void split(int64_t kept, int64_t reduced, int64_t each);
};

// A layout that kernels have room for; if need be of a copy of `self`, which
// `self` then is.
ReduceLayout layout_of(Tensor* self, uint64_t reduced, bool keepdim);

// Results whose elements lie in the order of a layout: those that are asked
// for, or others that store() copies to them.
class OrderedResults {
 public:
  OrderedResults(const ReduceLayout& layout, Tensor* const* outs, int n);
  Tensor* const* tensors() const { return to_; }
  void store() const;

 private:
  Tensor* const* outs_;
  int n_;
  Tensor room_[ReduceOp::kMaxResults];
  Tensor* to_[ReduceOp::kMaxResults];
};

// The kernels of one reduction: kRows or kColumns, and kPieces.
class ReduceKernels {
 public:
  virtual ~ReduceKernels() = default;
  virtual const Function& of(print::ReduceShell shell) = 0;
};

// A run: what is read and written. Borrows everything.
struct ReduceRun {
  int device = 0;
  const ReduceCut* cut = nullptr;
  // The layout of one tensor; nullptr for kernels that find elements otherwise.
  const ReduceLayout* layout = nullptr;
  const TensorBase* self = nullptr;
  int64_t kept = 1, reduced = 1;
  ArrayRef<int64_t> accumulator_sizes;      // in bytes
  const TensorBase* const* outs = nullptr;  // and other tensors that are used
  int n_outs = 1;                           // at most 24
};

// Starts one pass, or two with a workspace between them. `params` begins with a
// ReduceHead, whose results are set.
void launch_reduce(const ReduceRun& run, ReduceKernels& kernels, void* params,
                   size_t params_bytes);

}  // namespace sy::cuda
