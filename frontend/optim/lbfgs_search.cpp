#include "frontend/optim/lbfgs_search.h"

#include <algorithm>
#include <cmath>

namespace sy::optim {

namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;

// The minimum, within bounds, of the cubic through two points with slopes.
double interpolate(const LinePoint& a, const LinePoint& b, double least,
                   double most) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  // Also for NaN.
  if (!(square >= 0)) return (least + most) / 2;
  const double d2 = std::sqrt(square);
  const LinePoint &low = a.t <= b.t ? a : b, &high = a.t <= b.t ? b : a;
  const double t =
      high.t - (high.t - low.t) *
                   ((high.slope + d2 - d1) / (high.slope - low.slope + 2 * d2));
  return std::min(std::max(t, least), most);
}

}  // namespace

LineResult strong_wolfe(const std::function<LinePoint(double)>& at,
                        const LinePoint& start, double t, double size,
                        double tolerance_change, int64_t max_evaluations) {
  const auto too_high = [&](const LinePoint& p) {
    return p.loss > start.loss + kDecrease * p.t * start.slope;
  };
  const auto is_flat = [&](const LinePoint& p) {
    return std::abs(p.slope) <= -kCurvature * start.slope;
  };
  LinePoint before = start, now = at(t);
  int64_t evaluations = 1, tries = 0;
  // Goes on until a minimum lies between the last two points.
  LinePoint low, high;
  for (;; ++tries) {
    if (tries >= max_evaluations) {
      low = start;
      high = now;
      break;
    }
    if (too_high(now) || (tries > 1 && now.loss >= before.loss)) {
      low = before;
      high = now;
      break;
    }
    if (is_flat(now)) return {now, evaluations};
    if (now.slope >= 0) {
      low = before;
      high = now;
      break;
    }
    const double least = now.t + 0.01 * (now.t - before.t);
    t = interpolate(before, now, least, now.t * 10);
    before = std::move(now);
    now = at(t);
    ++evaluations;
  }
  // Narrows it. `low` is the point of less loss; of equal ones, the first.
  bool low_is_first = low.loss <= high.loss;
  if (!low_is_first) std::swap(low, high);
  bool slow = false;
  while (tries < max_evaluations &&
         !(std::abs(high.t - low.t) * size < tolerance_change)) {
    const double least = std::min(low.t, high.t);
    const double most = std::max(low.t, high.t);
    t = interpolate(low, high, least, most);
    const double margin = 0.1 * (most - least);
    if (std::min(most - t, t - least) < margin) {
      if (slow || t >= most || t <= least) {
        t = std::abs(t - most) < std::abs(t - least) ? most - margin
                                                     : least + margin;
        slow = false;
      } else {
        slow = true;
      }
    } else {
      slow = false;
    }
    now = at(t);
    ++evaluations;
    ++tries;
    if (too_high(now) || now.loss >= low.loss) {
      high = std::move(now);
      if (high.loss < low.loss || (!low_is_first && high.loss == low.loss)) {
        std::swap(low, high);
        low_is_first = !low_is_first;
      }
    } else {
      if (is_flat(now)) return {now, evaluations};
      if (now.slope * (high.t - low.t) >= 0) high = low;
      low = std::move(now);
    }
  }
  return {low, evaluations};
}

}  // namespace sy::optim
