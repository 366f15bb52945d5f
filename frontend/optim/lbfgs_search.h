#pragma once

#include <functional>

#include "aten/tensor.h"

namespace sy::optim {

// A point on the line x + t * d.
struct LinePoint {
  double t = 0, loss = 0, slope = 0;
  Tensor grad;
};

struct LineResult {
  LinePoint point;
  int64_t evaluations = 0;
};

// Looks for a t that satisfies the strong Wolfe conditions with c1 = 1e-4 and
// c2 = 0.9 (Nocedal and Wright, "Numerical Optimization", algorithms 3.5 and
// 3.6). `at` evaluates the loss and its gradient at t. `start` is the point at
// t = 0, `size` the greatest element of |d|.
LineResult strong_wolfe(const std::function<LinePoint(double)>& at,
                        const LinePoint& start, double t, double size,
                        double tolerance_change, int64_t max_evaluations);

}  // namespace sy::optim
