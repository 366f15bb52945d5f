#pragma once

#include <string>

#include "aten/program/compute_type.h"
#include "aten/program/op_desc.h"

// Reductions as kernels: a struct of their programs for the shell in
// device/reduce.cuh.

namespace sy::cuda::print {

// The elements that a thread reads (device/reduce.cuh); kPieces is the second
// pass, over accumulators.
enum class ReduceShell : uint8_t { kRows, kColumns, kPieces };

// The computation of a reduction. Borrows the programs.
struct ReduceText {
  const program::Program* map = nullptr;
  const program::Program* combine = nullptr;
  const program::Program* finish = nullptr;  // or nullptr, as in ReduceOp
  int accumulators = 1, results = 1;
  program::ComputeType type{};         // of map and finish
  program::ComputeType accumulated{};  // of combine, and of accumulators
  ScalarType self = ScalarType::Undefined;
  ScalarType stored[ReduceOp::kMaxResults] = {};  // dtypes of the results

  bool is_bool(int accumulator) const {
    return map->results[accumulator].is_bool;
  }
  program::ComputeType accumulator_type(int i) const {
    return is_bool(i) ? program::ComputeType::b8 : accumulated;
  }
  int64_t accumulator_bytes(int i) const {
    return static_cast<int64_t>(compute_type_size(accumulator_type(i)));
  }
  // How many numbers the kernel takes: those of map, of combine and of finish,
  // then the accumulators of no elements, of type `accumulated`.
  int numbers() const;
};

// f64 for sums and products of floats, the compute type for all else.
program::ComputeType accumulated_in(const program::Program& combine,
                                    program::ComputeType type);

std::string print_reduce(const std::string& name, const ReduceText& r,
                         ReduceShell shell);

}  // namespace sy::cuda::print
