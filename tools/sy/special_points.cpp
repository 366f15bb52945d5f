#include "tools/sy/special_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "autograd/api.h"
#include "c10/error.h"
#include "c10/generator.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls.h"

namespace sy::tools {

namespace {

constexpr int kOrders = 3;
constexpr double kStep = 1e-5;
constexpr size_t kShown = 3;

using Numbers = std::vector<double>;

// What is put in place of the n elements of an input.
struct Point {
  const char* name;
  double (*element)(double example, int64_t i, int64_t n);
};

constexpr Point kPoints[] = {
    {"zeros", [](double, int64_t, int64_t) { return 0.0; }},
    {"one zero", [](double e, int64_t i, int64_t) { return i == 0 ? 0.0 : e; }},
    {"two zeros", [](double e, int64_t i,
                     int64_t n) { return i == 0 || i == n - 1 ? 0.0 : e; }},
    {"ties", [](double, int64_t, int64_t) { return 0.5; }},
    {"ones", [](double, int64_t, int64_t) { return 1.0; }},
    {"minus ones", [](double, int64_t, int64_t) { return -1.0; }},
    {"tiny", [](double e, int64_t, int64_t) { return e * 1e-200; }},
    {"far", [](double e, int64_t, int64_t) { return e * 60; }},
    {"far below", [](double e, int64_t, int64_t) { return e * -60; }},
    {"huge", [](double e, int64_t, int64_t) { return e * 1e4; }},
};

// Numbers that differ and repeat in no pattern.
double direction(int64_t i) {
  const double x = std::sin(static_cast<double>(i) * 12.9898 + 1) * 43758.5453;
  return x - std::floor(x) - 0.4;
}

Numbers elements_of(const Tensor& t) {
  const Tensor flat = t.detach().to(kDouble).contiguous();
  const auto* p = static_cast<const double*>(flat.raw_data());
  return {p, p + flat.numel()};
}

Tensor of_elements(const Numbers& n, const Tensor& like) {
  const Tensor t = sy::empty(like.sizes(), TensorOptions(kDouble));
  std::copy(n.begin(), n.end(), static_cast<double*>(t.raw_data()));
  return t;
}

// The operator as a function of those arguments that require a gradient.
class Inputs {
 public:
  Inputs(OperatorHandle op, const std::vector<Value>& args)
      : op_(op),
        args_(args),
        generator_(default_generator()),
        seed_(generator_->seed()),
        offset_(generator_->offset()) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].is_tensor()) {
        add(i, -1, args[i].to_tensor());
      } else if (args[i].tag() == Value::Tag::TensorList ||
                 args[i].tag() == Value::Tag::OptionalTensorList) {
        int k = 0;
        for (const TensorBase& t : args[i].to_tensor_list()) add(i, k++, t);
      }
    }
  }
  size_t size() const { return examples_.size(); }
  const Tensor& example(size_t i) const { return examples_[i]; }

  // A number made of all results: the sum of their elements, each with its own
  // factor. Undefined if no result records a gradient.
  Tensor call(const std::vector<Tensor>& inputs) const {
    generator_->set_seed(seed_);
    generator_->set_offset(offset_);
    std::vector<Value> values = args_;
    for (size_t i = 0; i < inputs.size(); ++i) put(values, i, inputs[i]);
    for (size_t i = 0; i < values.size(); ++i) {
      if (op_.schema().arguments()[i].is_write() && values[i].is_tensor()) {
        values[i] = Value(TensorBase(Tensor(values[i].to_tensor()).clone()));
      }
    }
    std::vector<Value> results(op_.schema().returns().size());
    op_.call_boxed(values.data(), values.size(), results.data(),
                   results.size());
    Tensor sum;
    for (const Value& v : results) {
      for_each_tensor(v, [&](const TensorBase& r) {
        const Tensor t(r);
        if (!t.defined() || !t.requires_grad()) return;
        Numbers factors(static_cast<size_t>(t.numel()));
        for (size_t k = 0; k < factors.size(); ++k) {
          factors[k] = direction(static_cast<int64_t>(k) + 77) + 0.7;
        }
        const Tensor part =
            sy::sum(sy::mul(t.to(kDouble), of_elements(factors, t)));
        sum = sum.defined() ? sy::add(sum, part) : part;
      });
    }
    return sum;
  }

 private:
  void add(size_t argument, int element, const TensorBase& t) {
    if (!t.defined() || t.dtype() != kDouble) return;
    if (!Tensor(t).requires_grad()) return;
    places_.emplace_back(argument, element);
    examples_.emplace_back(Tensor(t).detach());
  }
  void put(std::vector<Value>& values, size_t i, const Tensor& t) const {
    const auto& [argument, element] = places_[i];
    Value& v = values[argument];
    if (element < 0) {
      v = Value(TensorBase(t));
      return;
    }
    const auto old = v.to_tensor_list();
    std::vector<TensorBase> list(old.begin(), old.end());
    list[static_cast<size_t>(element)] = t;
    v = v.tag() == Value::Tag::OptionalTensorList
            ? Value::optional_tensor_list(list.data(), list.size())
            : Value::tensor_list(list.data(), list.size());
  }

  OperatorHandle op_;
  std::vector<Value> args_;
  std::vector<std::pair<size_t, int>> places_;
  std::vector<Tensor> examples_;
  Generator generator_;
  uint64_t seed_, offset_;
};

// A place, and a way to go from it.
struct Line {
  std::vector<Tensor> at, step;
};

Line line_at(const Inputs& inputs, const Point& point, size_t only) {
  Line line;
  int64_t k = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Numbers at = elements_of(inputs.example(i)), step = at;
    const auto n = static_cast<int64_t>(at.size());
    for (int64_t e = 0; e < n; ++e) {
      double& x = at[static_cast<size_t>(e)];
      if (only == inputs.size() || only == i) x = point.element(x, e, n);
      step[static_cast<size_t>(e)] =
          direction(k++) * std::max(1.0, std::abs(x));
    }
    line.at.push_back(of_elements(at, inputs.example(i)));
    line.step.push_back(of_elements(step, inputs.example(i)));
  }
  return line;
}

// The derivatives by t of the number at `at + t step`, from order 0 on, as far
// as there are any.
Numbers derivatives(const Inputs& inputs, const Line& line, double t0,
                    int orders) {
  const AutoGradMode recording(true);
  const Tensor t = sy::full({}, t0, TensorOptions(kDouble)).requires_grad_();
  std::vector<Tensor> x;
  for (size_t i = 0; i < inputs.size(); ++i) {
    x.push_back(sy::add(line.at[i], sy::mul(line.step[i], t)));
  }
  Numbers all;
  Tensor y = inputs.call(x);
  for (int k = 0; k <= orders; ++k) {
    all.push_back(y.defined() ? y.item<double>() : 0);
    if (k == orders) break;
    if (!y.defined() || !y.requires_grad()) {
      y = Tensor();
      continue;
    }
    try {
      y = autograd::grad({y}, {t}, {}, true, true, true)[0];
    } catch (const NotImplementedError&) {
      break;
    }
  }
  return all;
}

// What order k is by the order below, to both sides: `a` should be that.
std::string order_problem(double a, double before, double at, double behind) {
  const double down = (at - before) / kStep, up = (behind - at) / kStep;
  const double size = 1 + std::max(std::abs(down), std::abs(up));
  // What is lost to rounding in a difference.
  const double noise = 1e-12 * (std::abs(at) + std::abs(behind)) / kStep;
  if (size > 1e-2 / kStep * (1 + std::abs(at))) return "";  // a jump
  const double slack = 1e-2 * size + noise;
  const bool smooth = std::abs(up - down) <= slack;
  const double low = std::min(down, up) - slack;
  const double high = std::max(down, up) + slack;
  if (a >= low && a <= high) return "";
  if (smooth) return str("expected {}, got {}", (up + down) / 2, a);
  return str("expected a number between {} and {}, got {}", down, up, a);
}

std::string line_problem(const Inputs& inputs, const Line& line) {
  const Numbers at = derivatives(inputs, line, 0, kOrders);
  const int orders = static_cast<int>(at.size()) - 1;
  if (orders < 1 || !std::isfinite(at[0])) return "";
  const Numbers before = derivatives(inputs, line, -kStep, orders - 1);
  const Numbers behind = derivatives(inputs, line, kStep, orders - 1);
  for (int k = 1; k <= orders; ++k) {
    const auto below = static_cast<size_t>(k - 1);
    if (below >= before.size() || below >= behind.size()) return "";
    if (!std::isfinite(before[below]) || !std::isfinite(at[below]) ||
        !std::isfinite(behind[below])) {
      return "";
    }
    const double a = at[static_cast<size_t>(k)];
    if (std::isinf(a)) return "";
    const std::string why =
        order_problem(a, before[below], at[below], behind[below]);
    if (!why.empty()) return str("order {}: {}", k, why);
  }
  return "";
}

std::vector<Tensor> gradients(const Inputs& inputs, const Line& line,
                              bool create_graph) {
  const AutoGradMode recording(true);
  std::vector<Tensor> x;
  for (const Tensor& t : line.at) x.push_back(t.clone().requires_grad_());
  const Tensor y = inputs.call(x);
  if (!y.defined()) return {};
  return autograd::grad({y}, x, {}, true, create_graph, true);
}

// The gradients with and without create_graph are the same.
std::string graph_problem(const Inputs& inputs, const Line& line) {
  const auto plain = gradients(inputs, line, false);
  std::vector<Tensor> graph;
  try {
    graph = gradients(inputs, line, true);
  } catch (const NotImplementedError&) {
    return "";
  }
  for (size_t i = 0; i < plain.size(); ++i) {
    if (!plain[i].defined() || !graph[i].defined()) continue;
    const Numbers a = elements_of(plain[i]), b = elements_of(graph[i]);
    double most = 0;
    for (const double v : a) {
      if (std::isfinite(v)) most = std::max(most, std::abs(v));
    }
    for (size_t k = 0; k < a.size(); ++k) {
      const bool same = a[k] == b[k] || (a[k] != a[k] && b[k] != b[k]) ||
                        std::abs(a[k] - b[k]) <= 1e-7 * most;
      if (same) continue;
      return str("gradient {}, element {}: {} without create_graph, {} with it",
                 i, k, a[k], b[k]);
    }
  }
  return "";
}

}  // namespace

PointsReport prove_points(OperatorHandle op, const std::vector<Value>& args) {
  const Inputs inputs(op, args);
  PointsReport report;
  size_t found = 0;
  // All inputs at the point, then each alone.
  const size_t alone = inputs.size() > 1 ? inputs.size() : 0;
  for (const Point& point : kPoints) {
    for (size_t i = 0; i <= alone; ++i) {
      const size_t only = alone == 0 || i == alone ? inputs.size() : i;
      const Line line = line_at(inputs, point, only);
      std::string why;
      try {
        why = graph_problem(inputs, line);
        if (why.empty()) why = line_problem(inputs, line);
      } catch (const InternalError&) {
        throw;
      } catch (const Error&) {
        continue;  // no arguments of the operator
      }
      ++report.tried;
      if (why.empty() || ++found > kShown) continue;
      report.problems +=
          only == inputs.size()
              ? str("  points, {}: {}\n", point.name, why)
              : str("  points, {} in input {}: {}\n", point.name, only, why);
    }
  }
  if (found > kShown) {
    report.problems += str("  points: and {} more\n", found - kShown);
  }
  return report;
}

}  // namespace sy::tools
