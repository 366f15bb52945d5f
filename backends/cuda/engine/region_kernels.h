#pragma once

#include <optional>
#include <vector>

#include "backends/cuda/compile/hash.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/engine/region_plan.h"
#include "backends/cuda/engine/region_space.h"

// A region as it is prepared: its steps, and the kernels of each.

namespace sy {
class OperatorEntry;
}

namespace sy::cuda {

// How the operands of a walk lie: what its kernel is made for, and the elements
// before the first pack.
struct RegionWalkShape {
  print::RegionPacks packs;
  int64_t skipped = 0, n_packs = 0;
};

class PreparedStep {
 public:
  // Borrows the step.
  explicit PreparedStep(const RegionStep& step);

  const RegionStep& step() const { return step_; }
  bool reduces() const { return step_.text.reduction >= 0; }
  // Whether the interpreters can run it.
  bool interpretable() const { return interpretable_; }
  // The operator that errors of its kernels name; may be nullptr.
  const OperatorEntry* named() const { return named_; }

  // The operands' places, inputs first, as `walk` goes over them.
  RegionWalkShape shape_of(const std::vector<const RegionPlace*>& operands,
                           const RegionWalk& walk) const;

  // nullptr if it is not compiled yet; then it is asked for.
  const Function* find_walk(int device, const print::RegionPacks& packs) const;
  const Function* find_reduction(int device, print::ReduceShell shell) const;
  // Asks for the kernels that a run is likely to take.
  void ask(int device) const;
  // Whether to wait for a kernel that was not there, as the interpreters would
  // take the compiler longer, or cannot run the step.
  bool has_to_wait(int device) const;

 private:
  const RegionStep& step_;
  bool interpretable_;
  const OperatorEntry* named_;
  int cost_ = 0;
  Hash hash_;
};

// The kernel of a row step.
class PreparedRow {
 public:
  explicit PreparedRow(const RegionRowStep& step);
  const RegionRowStep& step() const { return step_; }
  const Function* find(int device) const;

 private:
  const RegionRowStep& step_;
  ProgramKey key_;
};

class PreparedOnCuda final : public PreparedRegion {
 public:
  explicit PreparedOnCuda(const Region& r);
  const RegionValues& values() const { return values_; }
  const std::vector<PreparedStep>& steps() const { return steps_; }
  // The steps as one kernel, if they can be that.
  const PreparedRow* row() const { return row_ ? &*row_ : nullptr; }
  // Asks for the kernels that a run is likely to take.
  void ask(int device) const;

 private:
  RegionValues values_;
  RegionPlan plan_;
  std::vector<PreparedStep> steps_;
  std::optional<PreparedRow> row_;
};

}  // namespace sy::cuda
