#pragma once

#include <memory>
#include <string>

#include "c10/macros.h"

namespace sy::autograd {

class Node;
struct Origin;

// Anomaly mode, for one thread. Operations that are recorded in it remember the
// calls that led to them, and errors of their gradients show these calls.
// Backward in this mode fails at the first node that makes a NaN, unless
// check_nan is off. Each recorded operation costs a stack walk: this is for
// debugging.
class SY_API AnomalyMode {
 public:
  static bool is_enabled() noexcept;
  static bool should_check_nan() noexcept;
  static void set_enabled(bool enabled, bool check_nan = true) noexcept;
};

// Turns anomaly mode on while it lives.
class SY_API DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true) noexcept;
  ~DetectAnomalyGuard();
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool enabled_, check_nan_;
};

// The calls on this thread's stack, and the node whose gradient is being
// computed, if any.
std::shared_ptr<const Origin> record_origin();
// "in the gradient of mul.Tensor", and where it was recorded if that is known.
SY_API std::string describe_origin(const Node& node);

}  // namespace sy::autograd
