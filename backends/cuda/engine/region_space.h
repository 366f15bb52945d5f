#pragma once

#include <vector>

#include "aten/backend/region.h"
#include "backends/cuda/device/walk.cuh"
#include "c10/tensor/tensor_impl.h"

// The sizes of a run of a region, and where its values lie.

namespace sy::cuda {

constexpr int kMostRegionOperands = 16;  // of a kernel

// The place of a value or an output in a run. Strides are in bytes, one for
// each dim of the region.
struct RegionPlace {
  char* data = nullptr;
  int64_t strides[TensorImpl::kMaxDims] = {};
};

using RegionWalk = Walk<kMostRegionOperands>;

// Borrows the call.
class RegionSpace {
 public:
  explicit RegionSpace(const RegionCall& call) : call_(call) {}

  int dims() const { return static_cast<int>(call_.sizes.size()); }
  int64_t size(int d) const { return call_.sizes[static_cast<size_t>(d)]; }
  // The number of elements over the dims of `space`, as bits.
  int64_t numel(uint64_t space) const;
  RegionPlace place(const RegionOperand& said, const RegionMemory& m) const;
  // The place of new memory that is contiguous over the dims of `space` in
  // `order`, fastest first.
  RegionPlace contiguous(char* data, ScalarType dtype,
                         const std::vector<int>& order, uint64_t space) const;
  // Dims of `space` in the order in which the operands lie, fastest first.
  // Earlier operands decide.
  std::vector<int> order(const std::vector<const RegionPlace*>& operands,
                         uint64_t space) const;
  // Throws ValueError if there are too many dims that do not lie as one.
  RegionWalk walk(const std::vector<const RegionPlace*>& operands,
                  const std::vector<int>& order, uint64_t space) const;

 private:
  const RegionCall& call_;
};

}  // namespace sy::cuda
