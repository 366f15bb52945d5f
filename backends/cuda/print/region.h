#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aten/backend/region.h"
#include "backends/cuda/print/reduce.h"

// Pieces of regions as kernels, for the shells in device/region.cuh.

namespace sy::cuda::print {

// One kernel of a region: some of its nodes, on elements of some values that
// are in memory. Borrows the region.
struct RegionText {
  const Region* region = nullptr;
  const RegionValues* values = nullptr;
  std::vector<int> inputs;  // values in memory, in the order of operands
  std::vector<int> nodes;   // pointwise ones, in order
  // The outputs that the kernel stores, or the reduction that it makes.
  std::vector<int> outputs;
  int reduction = -1;

  int first_value(int node) const;   // of a node's results
  int first_number(int node) const;  // of a node's numbers, in a call's
};

// The numbers of a kernel, in order, by their places among the call's. The
// numbers of a reduction are followed by the accumulators of no elements.
std::vector<int> region_numbers(const RegionText& text);
// The reduction of a text. `self`: the dtype of its first input.
ReduceText region_reduction(const RegionText& text);

// How a walk takes its elements: one by one, or `width` side by side, of which
// a thread has `unroll` packs on their way. Bit i of `fixed`: input i is the
// same for all elements of a pack.
struct RegionPacks {
  int width = 1, unroll = 1;
  uint64_t fixed = 0;
};
// About how many instructions an element of a walk takes.
int region_cost(const RegionText& text);
RegionPacks region_packs(const RegionText& text, int cost, uint64_t fixed);

std::string print_region_walk(const std::string& name, const RegionText& text,
                              const RegionPacks& packs = {});
std::string print_region_reduce(const std::string& name, const RegionText& text,
                                ReduceShell shell);

}  // namespace sy::cuda::print
