#pragma once

#include "tools/sy/calls/claims.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

// Runs the trials of one operator and says which way its calls went.
class Witness {
 public:
  // `claims` may be nullptr.
  Witness(OperatorHandle op, Device device, const Claims* claims);
  CaseResult run(const Trials& trials, size_t i) const;

 private:
  void judge(const Trials& trials, size_t i, CaseResult& result) const;

  OperatorHandle op_;
  Device device_;
  const Claims* claims_;
  bool own_kernel_ = false;
};

}  // namespace sy::tools
