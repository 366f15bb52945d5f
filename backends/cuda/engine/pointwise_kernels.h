#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/compile/module.h"
#include "backends/cuda/print/pointwise.h"

// The kernels of programs that this process has used, by what they are made
// for: a look-up for every call, so that it takes no lock and no allocation.

namespace sy::cuda {

// A kernel with its own copies of the program's arrays. Lives until the process
// ends.
class PointwiseEntry final : public ProgramSource {
 public:
  PointwiseEntry(const print::PointwiseKernel& k, int device, uint64_t hash,
                 const char* name);

  const print::PointwiseTile& tile() const { return tile_; }
  // The compiled kernel, or nullptr: then it is to be interpreted for now.
  const Function* function() const {
    const Function* const f = function_.load(std::memory_order_acquire);
    return SY_LIKELY(f != nullptr) ? f : ask();
  }

  std::string text(const std::string& name) const override;
  std::string label() const override;

 private:
  friend class PointwiseTable;
  bool is_for(const print::PointwiseKernel& k, int device) const noexcept;
  SY_NOINLINE const Function* ask() const;

  uint64_t hash_;
  ProgramKey key_;
  int device_;
  program::Program program_;
  std::vector<program::Step> steps_;
  std::vector<program::Result> results_;
  std::vector<ScalarType> dtypes_;
  print::PointwiseKernel kernel_;
  print::PointwiseTile tile_;
  bool special_;  // has special functions
  std::string label_;
  mutable std::atomic<const Function*> function_{nullptr};
};

// nullptr if the process has not used it.
const PointwiseEntry* find_pointwise_entry(const print::PointwiseKernel& k,
                                           int device) noexcept;
// Finds it, or makes it: the program must be within the domains of its
// primitives. `name` is the operator's, for messages.
const PointwiseEntry& pointwise_entry(const print::PointwiseKernel& k,
                                      int device, const char* name);

}  // namespace sy::cuda
