#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/compile/variant.h"

// Calls whose code looks at elements: the run of a call shows which variant it
// is.

namespace sy::compiling {

using Variants = std::vector<std::shared_ptr<const Variant>>;

// One call. undo() can undo its changes until the last graph runs.
class Walk {
 public:
  explicit Walk(const Arguments& a);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  // Runs the steps of the first candidate, whose guards hold, and drops those
  // that saw something else; then those of the first one left that `fits`.
  // Returns the one that has no more steps: its `forward` is next. nullptr:
  // nobody has seen that before.
  std::shared_ptr<const Variant> along(
      Variants candidates, const std::function<bool(const Variant&)>& fits);
  // The number of steps that have run of the call that nobody knows, and a
  // variant that has these.
  size_t depth() const { return frame_.values.size(); }
  const std::shared_ptr<const Variant>& last() const { return last_; }
  // The values that the steps have left.
  const Frame& frame() const { return frame_; }
  // Makes all as it was before the call.
  void undo();

 private:
  class Undo;
  std::vector<capture::Memory> memory_of(const std::vector<BoundInput>& inputs,
                                         const Variant& v) const;
  std::vector<uint64_t> run_step(const Variant& v, size_t d);

  const Arguments& arguments_;
  const std::unique_ptr<Undo> undo_;
  Frame frame_;
  std::shared_ptr<const Variant> last_;
};

// The relation of a recorded call to a variant whose guards held.
enum class Kinship : uint8_t {
  kSame,
  kBranch,  // a look has seen something else; up to there they are the same
  kOther
};
// `how` says what differs.
Kinship kinship(const Variant& recorded, const Variant& known,
                std::string* how);

// Uses the first steps of `like`, as far as those of `v` are equal: calls can
// walk along both then.
void share_steps(const Variant& like, Variant* v);

}  // namespace sy::compiling
