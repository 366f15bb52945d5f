#include "tools/sy/prove/slopes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "autograd/api.h"
#include "c10/process/error.h"
#include "tools/sy/calls/calls.h"

namespace sy::tools {

namespace {

constexpr double kStep = 1e-5;
constexpr int64_t kElements = 48;  // of an input that are tried alone
constexpr int kPlaces = 32;        // close to a kink
constexpr double kClose = 1e-4;    // how close

// The slopes of the order below an order, to both sides.
struct Slopes {
  double down, up, noise;  // what is lost to rounding
  double most() const { return std::max(std::abs(down), std::abs(up)); }
  double slack() const { return 1e-3 * (1 + most()) + noise; }
  bool smooth() const { return std::abs(up - down) <= slack(); }
  bool fit(double a) const {
    return a >= std::min(down, up) - slack() &&
           a <= std::max(down, up) + slack();
  }
};

// A derivative beside its slopes.
struct Look {
  double value;
  Slopes slopes;
  bool fits() const { return slopes.fit(value); }
};

// The longest way along one element. The rounding of a derivative grows with
// it.
double scale_of(const Line& line) {
  double most = 1;
  for (const Tensor& t : line.step) {
    for (const double x : elements_of(t)) most = std::max(most, std::abs(x));
  }
  return most;
}

// The derivative of order k beside its slopes, by the derivatives before, at
// and behind a place; nothing if one is not there or not finite.
std::optional<Look> look(const Numbers& before, const Numbers& at,
                         const Numbers& behind, int k, double step,
                         double scale) {
  const auto i = static_cast<size_t>(k - 1);
  if (i >= before.size() || i >= behind.size() || i + 1 >= at.size()) return {};
  if (!std::isfinite(before[i]) || !std::isfinite(at[i]) ||
      !std::isfinite(behind[i])) {
    return {};
  }
  const double size = std::abs(before[i]) + std::abs(behind[i]);
  const Slopes slopes{(at[i] - before[i]) / step, (behind[i] - at[i]) / step,
                      1e-12 * size / step + 1e-11 * std::pow(scale, k)};
  return Look{at[i + 1], slopes};
}

std::optional<Look> look(const Inputs& inputs, const Line& line, int k,
                         double step) {
  return look(derivatives(inputs, line, -step, k - 1),
              derivatives(inputs, line, 0, k),
              derivatives(inputs, line, step, k - 1), k, step, scale_of(line));
}

// A derivative that is not what its slopes say; order 0: there is none.
struct Mismatch {
  int order = 0;
  Look look = {};

  bool is_nan() const { return order != 0 && std::isnan(look.value); }
  Nan nan() const {
    if (!is_nan()) return Nan::kNone;
    return look.slopes.smooth() ? Nan::kSmooth : Nan::kKink;
  }
  std::string text() const {
    if (order == 0) return "";
    const double down = look.slopes.down, up = look.slopes.up;
    return look.slopes.smooth()
               ? str("order {}: expected {}, got {}", order, (up + down) / 2,
                     look.value)
               : str("order {}: expected a number between {} and {}, got {}",
                     order, down, up, look.value);
  }
};

// The lowest order that does not fit.
Mismatch mismatch(const Inputs& inputs, const Line& line, int most) {
  const Numbers at = derivatives(inputs, line, 0, most);
  const int orders = static_cast<int>(at.size()) - 1;
  if (orders < 1) return {};
  const Numbers before = derivatives(inputs, line, -kStep, orders - 1);
  const Numbers behind = derivatives(inputs, line, kStep, orders - 1);
  const double scale = scale_of(line);
  for (int k = 1; k <= orders; ++k) {
    const auto found = look(before, at, behind, k, kStep, scale);
    if (!found) return {};
    if (!found->fits()) return {k, *found};
  }
  return {};
}

// The smallest size of an element that is not 0.
double smallest(const Line& line) {
  double least = std::numeric_limits<double>::infinity();
  for (const Tensor& t : line.at) {
    for (const double x : elements_of(t)) {
      if (x != 0) least = std::min(least, std::abs(x));
    }
  }
  return least;
}

// Elements so small that a step leaps over more than one kink.
bool fits_in_small_steps(const Inputs& inputs, const Line& line, int order) {
  const double least = smallest(line);
  if (least > 10 * kStep) return false;
  const auto found = look(inputs, line, order, least * kStep);
  return found && found->slopes.noise <= 1 && found->fits();
}

// A place close by, another for each k.
Line moved(const Inputs& inputs, const Line& line, int k) {
  Line out = line;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor& at = out.at[i];
    at = at.clone();
    auto* const p = static_cast<double*>(at.raw_data());
    for (int64_t e = 0; e < at.numel(); ++e) {
      const double aside =
          direction(1000 * k + 100 * static_cast<int64_t>(i) + e) - 0.1;
      p[e] += kClose * aside * std::max(1.0, std::abs(p[e]));
    }
  }
  return out;
}

// Equal elements may be told apart in several ways. The derivative may be what
// it is for one of them, or between.
bool fits_close_by(const Inputs& inputs, const Line& line, const Mismatch& m) {
  Slopes all = m.look.slopes;
  for (int k = 0; k < kPlaces; ++k) {
    const auto found =
        look(inputs, moved(inputs, line, k), m.order, kStep / 16);
    if (!found) continue;
    const Slopes& s = found->slopes;
    all.noise = std::max(all.noise, s.noise);
    const double low = std::min({all.down, all.up, s.down, s.up});
    all.up = std::max({all.down, all.up, s.down, s.up});
    all.down = low;
    if (all.fit(m.look.value)) return true;
  }
  return false;
}

// A mismatch that a smaller step shows as well. Slopes at a jump grow with it.
Mismatch sure_mismatch(const Inputs& inputs, const Line& line, int most) {
  const Mismatch first = mismatch(inputs, line, most);
  if (first.order == 0) return {};
  const auto second = look(inputs, line, first.order, kStep / 16);
  if (!second || second->fits()) return {};
  const Slopes &wide = first.look.slopes, &narrow = second->slopes;
  const double grown = (1 + narrow.most()) / (1 + wide.most());
  if (grown > 2 || grown < 0.5) return {};
  if (first.is_nan()) return first;
  if (std::isinf(first.look.value)) {
    // Slopes without a limit grow slowly, as those of x log x.
    const bool limit = wide.smooth() && narrow.smooth() &&
                       std::abs(wide.up - narrow.up) <= wide.slack();
    return limit ? first : Mismatch{};
  }
  const bool fits = fits_in_small_steps(inputs, line, first.order) ||
                    fits_close_by(inputs, line, first);
  return fits ? Mismatch{} : first;
}

std::vector<Tensor> gradients(const Inputs& inputs, const Line& line,
                              bool create_graph) {
  const AutoGradMode recording(true);
  std::vector<Tensor> x;
  for (const Tensor& t : line.at) x.push_back(t.clone().requires_grad_());
  const Inputs::Result y = inputs.call(x);
  if (!y.recorded) return {};
  return autograd::grad({y.sum}, x, {}, true, create_graph, true);
}

// Whether two gradients of one input are the same; where not, at `element`.
bool same(const Numbers& a, const Numbers& b, size_t* element) {
  double most = 0;
  for (const double v : a) {
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  }
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k] == b[k] || (!std::isfinite(a[k]) && !std::isfinite(b[k])))
      continue;
    if (std::abs(a[k] - b[k]) <= 1e-7 * most + 1e-10) continue;
    *element = k;
    return false;
  }
  return true;
}

// "element 3 of self: ", the first whose gradient is NaN.
std::string nan_element(const Inputs& inputs, const Line& line) {
  const std::vector<Tensor> all = gradients(inputs, line, false);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined()) continue;
    const Numbers g = elements_of(all[i]);
    for (size_t e = 0; e < g.size(); ++e) {
      if (std::isnan(g[e])) {
        return str("element {} of {}: ", e, inputs.name(i));
      }
    }
  }
  return "";
}

}  // namespace

Called call_along(const Inputs& inputs, const Line& line) {
  const NoGradGuard quiet;
  Called out;
  for (const double t : {-kStep, 0.0, kStep}) {
    const Inputs::Result r = inputs.call(
        along(inputs, line, sy::full({}, t, TensorOptions(kDouble))));
    out.elements = r.elements;
    if (t == 0 && r.sum.defined()) {
      out.finite = std::isfinite(r.sum.item<double>());
    }
  }
  return out;
}

LineProblem line_problem(const Inputs& inputs, const Line& line, int orders) {
  const Mismatch all = sure_mismatch(inputs, line, orders);
  if (all.order == 0) return {};
  if (all.order == 1 && all.is_nan()) {
    // The others are NaN beside it.
    return {nan_element(inputs, line) + all.text(), all.nan()};
  }
  if (all.order > 1 && all.look.slopes.smooth()) {
    return {all.text(), all.nan()};
  }
  // Several elements may have kinks here: the slopes of each alone bound its
  // derivative.
  bool each = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t n = inputs.example(i).numel();
    const int64_t stride = (n + kElements - 1) / kElements;
    each &= stride <= 1;
    for (int64_t e = 0; e < n; e += stride) {
      const Mismatch alone =
          sure_mismatch(inputs, line_of_element(inputs, line, i, e), orders);
      if (alone.order == 0) continue;
      return {str("element {} of {}: {}", e, inputs.name(i), alone.text()),
              alone.nan()};
    }
  }
  if (each || !all.look.slopes.smooth()) return {};
  return {all.text(), all.nan()};
}

std::string constant_problem(const Inputs& inputs, const Line& line) {
  const NoGradGuard quiet;
  double y[3];
  for (int i = 0; i < 3; ++i) {
    const Tensor t = sy::full({}, (i - 1) * kStep, TensorOptions(kDouble));
    const Tensor sum = inputs.call(along(inputs, line, t)).sum;
    if (!sum.defined()) return "";
    y[i] = sum.item<double>();
    if (!std::isfinite(y[i])) return "";
  }
  // A result that jumps to one side only has no slope here.
  if (std::abs(y[2] - 2 * y[1] + y[0]) > 0.5 * std::abs(y[2] - y[0])) return "";
  const double slope = (y[2] - y[0]) / (2 * kStep);
  const double size = 1 + std::abs(y[1]);
  if (std::abs(slope) <= 1e-4 * size) return "";
  // A step, which has no slope.
  if (std::abs(slope) > 1e-2 / kStep * size) return "";
  return str("it is not constant, and records no gradient: its slope is {}",
             slope);
}

LineProblem graph_problem(const Inputs& inputs, const Line& line) {
  const auto plain = gradients(inputs, line, false);
  std::vector<Tensor> graph;
  try {
    graph = gradients(inputs, line, true);
  } catch (const NotImplementedError&) {
    return {};
  }
  for (size_t i = 0; i < plain.size(); ++i) {
    if (!plain[i].defined() || !graph[i].defined()) continue;
    const Numbers a = elements_of(plain[i]), b = elements_of(graph[i]);
    size_t k = 0;
    if (same(a, b, &k)) continue;
    return {str("the gradient by element {} of {} is {} without create_graph, "
                "{} with it",
                k, inputs.name(i), a[k], b[k]),
            std::isnan(a[k]) || std::isnan(b[k]) ? Nan::kSmooth : Nan::kNone};
  }
  return {};
}

}  // namespace sy::tools
