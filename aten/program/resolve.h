#pragma once

#include "aten/program/program.h"

namespace sy::program {

// Makes the choices that depend on numbers (clamp without a maximum, a loss
// whose beta is 0) once, not for every element. Values that are not chosen are
// not computed.
class SY_API Resolved {
 public:
  Resolved() {}
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;

  // A program with the same operands and results. It is `program` itself if no
  // number makes a choice or there are too many steps; else it lives as long as
  // this object.
  const Program* resolve(const Program& program, const Uniform* uniforms);

 private:
  static constexpr int kMaxSteps = 32;

  struct Made {
    Program program;
    Step steps[kMaxSteps];
    Result results[kMaxResults];
  };
  // Not initialised: few calls need it.
  union Room {
    Room() {}
    Made made;
  } room_;
};

}  // namespace sy::program
