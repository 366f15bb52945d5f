#include "tools/sy/derivative_line.h"

#include <algorithm>
#include <cmath>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "autograd/api.h"
#include "c10/error.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls.h"

namespace sy::tools {

namespace {

constexpr double kStep = 1e-5;
constexpr int64_t kElements = 48;  // of an input that are tried alone

Tensor of_elements(const Numbers& n, const Tensor& like) {
  const Tensor t = sy::empty(like.sizes(), TensorOptions(kDouble));
  std::copy(n.begin(), n.end(), static_cast<double*>(t.raw_data()));
  return t;
}

// A result as a number. Elements beyond all numbers say nothing.
Tensor weighed(const Tensor& t) {
  Numbers factors(static_cast<size_t>(t.numel()));
  for (size_t k = 0; k < factors.size(); ++k) {
    factors[k] = direction(static_cast<int64_t>(k) + 77) + 0.7;
  }
  return sy::sum(sy::mul(t.to(kDouble), of_elements(factors, t)));
}

}  // namespace

double direction(int64_t i) {
  const double x = std::sin(static_cast<double>(i) * 12.9898 + 1) * 43758.5453;
  return x - std::floor(x) - 0.4;
}

Numbers elements_of(const Tensor& t) {
  const Tensor flat = t.detach().to(kDouble).contiguous();
  const auto* p = static_cast<const double*>(flat.raw_data());
  return {p, p + flat.numel()};
}

Inputs::Inputs(OperatorHandle op, const std::vector<Value>& args)
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

std::string Inputs::name(size_t i) const {
  const auto& [argument, element] = places_[i];
  const std::string name(op_.schema().arguments()[argument].name.view());
  return element < 0 ? name : str("{}.{}", name, element);
}

void Inputs::add(size_t argument, int element, const TensorBase& t) {
  if (!t.defined() || t.dtype() != kDouble) return;
  if (!Tensor(t).requires_grad()) return;
  places_.emplace_back(argument, element);
  examples_.emplace_back(Tensor(t).detach());
}

void Inputs::put(std::vector<Value>& values, size_t i, const Tensor& t) const {
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

std::vector<Value> Inputs::results(const std::vector<Tensor>& inputs) const {
  generator_->set_seed(seed_);
  generator_->set_offset(offset_);
  std::vector<Value> values = args_;
  for (size_t i = 0; i < inputs.size(); ++i) put(values, i, inputs[i]);
  for (size_t i = 0; i < values.size(); ++i) {
    if (op_.schema().arguments()[i].is_write() && values[i].is_tensor()) {
      values[i] = Value(TensorBase(Tensor(values[i].to_tensor()).clone()));
    }
  }
  std::vector<Value> out(op_.schema().returns().size());
  op_.call_boxed(values.data(), values.size(), out.data(), out.size());
  return out;
}

Inputs::Result Inputs::call(const std::vector<Tensor>& inputs) const {
  const std::vector<Value> all = results(inputs);
  Result result;
  for (const Value& v : all) {
    for_each_tensor(v, [&](const TensorBase& r) {
      result.recorded |= r.defined() && Tensor(r).requires_grad();
    });
  }
  for (const Value& v : all) {
    for_each_tensor(v, [&](const TensorBase& r) {
      if (!r.defined() || !is_floating_type(r.scalar_type())) return;
      const Tensor t(r);
      if (result.recorded && !t.requires_grad()) return;
      const Tensor part = weighed(t);
      result.sum = result.sum.defined() ? sy::add(result.sum, part) : part;
    });
  }
  return result;
}

Line line_through(const Inputs& inputs, const std::vector<Numbers>& elements) {
  Line line;
  int64_t k = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Numbers step = elements[i];
    for (double& x : step) x = direction(k++) * std::max(1.0, std::abs(x));
    line.at.push_back(of_elements(elements[i], inputs.example(i)));
    line.step.push_back(of_elements(step, inputs.example(i)));
  }
  return line;
}

Line line_of_element(const Inputs& inputs, const Line& line, size_t i,
                     int64_t element) {
  Line out;
  out.at = line.at;
  for (size_t k = 0; k < inputs.size(); ++k) {
    Numbers step(static_cast<size_t>(inputs.example(k).numel()), 0.0);
    if (k == i) {
      const auto e = static_cast<size_t>(element);
      step[e] = std::max(1.0, std::abs(elements_of(line.at[k])[e]));
    }
    out.step.push_back(of_elements(step, inputs.example(k)));
  }
  return out;
}

namespace {

std::vector<Tensor> along(const Inputs& inputs, const Line& line,
                          const Tensor& t) {
  std::vector<Tensor> x;
  for (size_t i = 0; i < inputs.size(); ++i) {
    x.push_back(sy::add(line.at[i], sy::mul(line.step[i], t)));
  }
  return x;
}

// The derivatives by t of the number at `at + t step`, from order 0 on, as far
// as there are any.
Numbers derivatives(const Inputs& inputs, const Line& line, double t0,
                    int orders) {
  const AutoGradMode recording(true);
  const Tensor t = sy::full({}, t0, TensorOptions(kDouble)).requires_grad_();
  Numbers all;
  Tensor y = inputs.call(along(inputs, line, t)).sum;
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

// What order k is by the order below, to both sides.
struct Slopes {
  double down, up, noise;  // what is lost to rounding
  double most() const { return std::max(std::abs(down), std::abs(up)); }
  double slack() const { return 1e-2 * (1 + most()) + noise; }
  bool smooth() const { return std::abs(up - down) <= slack(); }
  bool fits(double a) const {
    return a >= std::min(down, up) - slack() &&
           a <= std::max(down, up) + slack();
  }
};

// A derivative that is not what its slopes say; order 0: there is none.
struct Mismatch {
  int order = 0;
  double value = 0;
  Slopes slopes = {};

  std::string text() const {
    if (order == 0) return "";
    const double down = slopes.down, up = slopes.up;
    return slopes.smooth() ? str("order {}: expected {}, got {}", order,
                                 (up + down) / 2, value)
                           : str("order {}: expected a number between {} and "
                                 "{}, got {}",
                                 order, down, up, value);
  }
};

Mismatch mismatch(const Inputs& inputs, const Line& line, int most,
                  double step) {
  const Numbers at = derivatives(inputs, line, 0, most);
  const int orders = static_cast<int>(at.size()) - 1;
  if (orders < 1 || !std::isfinite(at[0])) return {};
  const Numbers before = derivatives(inputs, line, -step, orders - 1);
  const Numbers behind = derivatives(inputs, line, step, orders - 1);
  for (int k = 1; k <= orders; ++k) {
    const auto i = static_cast<size_t>(k - 1);
    if (i >= before.size() || i >= behind.size()) return {};
    if (!std::isfinite(before[i]) || !std::isfinite(at[i]) ||
        !std::isfinite(behind[i]) || std::isinf(at[i + 1])) {
      return {};
    }
    const Slopes slopes{
        (at[i] - before[i]) / step, (behind[i] - at[i]) / step,
        1e-12 * (std::abs(before[i]) + std::abs(behind[i])) / step};
    if (!slopes.fits(at[i + 1])) return {k, at[i + 1], slopes};
  }
  return {};
}

// One that a smaller step shows as well. At a jump slopes grow with it.
Mismatch sure_mismatch(const Inputs& inputs, const Line& line, int most) {
  const Mismatch first = mismatch(inputs, line, most, kStep);
  if (first.order == 0) return {};
  const Mismatch second = mismatch(inputs, line, most, kStep / 16);
  const double grown = (1 + second.slopes.most()) / (1 + first.slopes.most());
  if (second.order != first.order || grown > 2 || grown < 0.5) return {};
  return first;
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

}  // namespace

std::string line_problem(const Inputs& inputs, const Line& line, int orders) {
  const Mismatch all = sure_mismatch(inputs, line, orders);
  if (all.order == 0 || (all.order > 1 && all.slopes.smooth())) {
    return all.text();
  }
  // Several elements may have kinks here: the slopes of each alone bound its
  // derivative.
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t n = std::min(inputs.example(i).numel(), kElements);
    for (int64_t e = 0; e < n; ++e) {
      const std::string alone =
          sure_mismatch(inputs, line_of_element(inputs, line, i, e), orders)
              .text();
      if (!alone.empty()) {
        return str("element {} of {}: {}", e, inputs.name(i), alone);
      }
    }
  }
  return "";
}

void call_along(const Inputs& inputs, const Line& line) {
  const NoGradGuard quiet;
  for (const double t : {-kStep, 0.0, kStep}) {
    inputs.call(along(inputs, line, sy::full({}, t, TensorOptions(kDouble))));
  }
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
  // What jumps to one side only has no slope here.
  if (std::abs(y[2] - 2 * y[1] + y[0]) > 0.5 * std::abs(y[2] - y[0])) return "";
  const double slope = (y[2] - y[0]) / (2 * kStep);
  const double size = 1 + std::abs(y[1]);
  if (std::abs(slope) <= 1e-4 * size) return "";
  // A step, which has no slope.
  if (std::abs(slope) > 1e-2 / kStep * size) return "";
  return str("it is not constant, and records no gradient: its slope is {}",
             slope);
}

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
                        std::abs(a[k] - b[k]) <= 1e-7 * most + 1e-10;
      if (same) continue;
      return str("gradient {}, element {}: {} without create_graph, {} with it",
                 i, k, a[k], b[k]);
    }
  }
  return "";
}

}  // namespace sy::tools
