#include "tools/sy/prove/derivative_line.h"

#include <algorithm>
#include <cmath>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "autograd/api.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls/calls.h"
#include "tools/sy/cases/arguments.h"

namespace sy::tools {

namespace {

Tensor of_elements(const Numbers& n, const Tensor& like) {
  const Tensor t = sy::empty(like.sizes(), TensorOptions(kDouble));
  std::copy(n.begin(), n.end(), static_cast<double*>(t.raw_data()));
  return t;
}

// A result as a number, with factors from `first` on.
Tensor weighed(const Tensor& t, int64_t first) {
  Numbers factors(static_cast<size_t>(t.numel()));
  for (size_t k = 0; k < factors.size(); ++k) {
    factors[k] = direction(first + static_cast<int64_t>(k)) + 0.7;
  }
  return sy::sum(sy::mul(t.to(kDouble), of_elements(factors, t)));
}

}  // namespace

double direction(int64_t i) {
  const double x = std::sin(static_cast<double>(i) * 12.9898 + 1) * 43758.5453;
  return x - std::floor(x) - 0.4;
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
  return call_with(op_, std::move(values));
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
      const Tensor part = weighed(t, 77 + result.elements);
      result.elements += t.numel();
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

std::vector<Tensor> along(const Inputs& inputs, const Line& line,
                          const Tensor& t) {
  std::vector<Tensor> x;
  for (size_t i = 0; i < inputs.size(); ++i) {
    x.push_back(sy::add(line.at[i], sy::mul(line.step[i], t)));
  }
  return x;
}

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

}  // namespace sy::tools
