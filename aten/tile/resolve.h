#pragma once

#include "aten/tile/program.h"

namespace sy::tiles {

// Choices that numbers make (clamp without a maximum, a loss whose beta is 0)
// are made once, not at every element: what was not chosen is not computed.
class SY_API Resolved {
 public:
  Resolved() {}  // the arrays are written before they are read
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;

  // A program of the same operands and results: `program` itself if no number
  // chooses or it has many steps, else one that lives as long as this object.
  const Program* resolve(const Program& program, const Uniform* uniforms);

 private:
  static constexpr int kMaxSteps = 32;

  Program program_;
  Step steps_[kMaxSteps];
  Result results_[kMaxResults];
};

}  // namespace sy::tiles
