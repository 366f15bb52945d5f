#pragma once

#include <string>
#include <vector>

#include "backends/cuda/print/region.h"

// Reductions of rows, and what is computed of the rows and their results, as
// one kernel (device/region_row.cuh).

namespace sy::cuda::print {

struct RegionRowText {
  // The values in memory, and the outputs with the elements of rows.
  RegionText elements;
  // The reductions, in order, with the nodes that each needs.
  std::vector<RegionText> phases;
  // The outputs with an element for each row.
  RegionText rows;
  // Bit i: input i has the elements of rows, and is read again.
  uint64_t kept = 0;

  int operands() const {
    return static_cast<int>(elements.inputs.size() + elements.outputs.size() +
                            rows.outputs.size());
  }
};

// As region_numbers(): followed by the accumulators of no elements.
std::vector<int> region_row_numbers(const RegionRowText& text);
int region_row_accumulators(const RegionRowText& text);
// Bytes that an element of a row takes in shared memory.
int region_row_bytes(const RegionRowText& text);

std::string print_region_row(const std::string& name,
                             const RegionRowText& text);

}  // namespace sy::cuda::print
