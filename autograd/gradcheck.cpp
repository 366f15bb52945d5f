#include "autograd/gradcheck.h"

#include <cmath>
#include <random>
#include <utility>

#include "aten/engine/guard.h"
#include "autograd/api.h"
#include "autograd/meta.h"
#include "autograd/runtime_ops.h"

namespace sy::autograd {

namespace {

using Values = std::vector<double>;
using Matrix = std::vector<Values>;

// Element i, in row-major order, of a float64 CPU tensor.
double& at(const Tensor& t, int64_t i) {
  auto* data = static_cast<double*>(t.raw_data());
  for (auto d = static_cast<size_t>(t.dim()); d-- > 0;) {
    data += i % t.sizes()[d] * t.strides()[d];
    i /= t.sizes()[d];
  }
  return *data;
}

Values values(const Tensor& t) {
  Values r(static_cast<size_t>(t.numel()));
  for (size_t i = 0; i < r.size(); ++i) r[i] = at(t, static_cast<int64_t>(i));
  return r;
}

bool same(const Values& a, const Values& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return a.size() == b.size();
}

bool is_readable(const Tensor& t) {
  return t.defined() && t.scalar_type() == kDouble && t.device().is_cpu();
}

Tensor filled(const Tensor& like, double value) {
  Tensor t(make_tensor(like.sizes(), kDouble, Device(kCPU)));
  for (int64_t i = 0; i < t.numel(); ++i) at(t, i) = value;
  return t;
}

class Checker {
 public:
  // `all_recorded`: a result without a gradient must not depend on the inputs.
  Checker(GradcheckFunction f, const std::vector<Tensor>& inputs,
          const GradcheckOptions& options, bool all_recorded)
      : f_(f), inputs_(inputs), options_(options), all_recorded_(all_recorded) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].defined() || !requires_grad(inputs[i])) continue;
      SY_CHECK(is_readable(inputs[i]), Value,
               "[gradcheck] inputs[{}]: expected a float64 CPU tensor, got {}",
               i, describe(inputs[i]));
      SY_CHECK(internal_overlap(inputs[i]) != Overlap::Yes, Value,
               "[gradcheck] inputs[{}]: expected a place of its own for each "
               "element, got {} with strides {}",
               i, describe(inputs[i]), inputs[i].strides());
      checked_.push_back(i);
      leaves_.push_back(inputs[i]);
    }
    SY_CHECK(!leaves_.empty(), Value,
             "[gradcheck] inputs: expected one that requires a gradient");
  }

  GradcheckResult run() {
    std::vector<Values> before;
    for (const Tensor& t : inputs_) {
      before.push_back(is_readable(t) ? values(t) : Values());
    }
    outputs_ = f_(inputs_);
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const Tensor& out = outputs_[o];
      if (!out.defined()) continue;
      if (!requires_grad(out)) {
        if (all_recorded_ && is_readable(out)) check_constant(o);
        continue;
      }
      SY_CHECK(is_readable(out), Value,
               "[gradcheck] result {}: expected a float64 CPU tensor, got {}",
               o, describe(out));
      check_output(o);
      if (!problem_.empty()) break;
    }
    for (size_t i = 0; i < inputs_.size() && problem_.empty(); ++i) {
      if (is_readable(inputs_[i]) && !same(before[i], values(inputs_[i]))) {
        problem_ = str("inputs[{}] was written to", i);
      }
    }
    return {problem_};
  }

 private:
  template <class... A>
  void report(FormatOf<A...> text, const A&... arguments) {
    if (problem_.empty()) problem_ = str(text, arguments...);
  }

  // The gradients of sum(outputs[o] * cotangent), as values; zeros if none.
  Matrix gradients(size_t o, const Tensor& cotangent) {
    const Values before = values(cotangent);
    const std::vector<Tensor> g = grad(outputs_[o], leaves_, cotangent,
                                       /*retain_graph=*/true,
                                       /*create_graph=*/false,
                                       /*allow_unused=*/true);
    if (!same(before, values(cotangent))) {
      report("backward wrote to the gradient of result {}", o);
    }
    Matrix r;
    for (size_t i = 0; i < g.size(); ++i) {
      if (!g[i].defined()) {
        r.emplace_back(static_cast<size_t>(leaves_[i].numel()), 0.0);
        continue;
      }
      if (!is_readable(g[i]) || g[i].sizes() != leaves_[i].sizes()) {
        report("the gradient of inputs[{}] is {}, the input {}", checked_[i],
               describe(g[i]), describe(leaves_[i]));
        r.emplace_back(static_cast<size_t>(leaves_[i].numel()), 0.0);
        continue;
      }
      r.push_back(values(g[i]));
    }
    return r;
  }

  // The derivatives of the elements of outputs[o] by one element of a leaf, by
  // central differences.
  Values differences(size_t o, size_t leaf, int64_t element) {
    double& x = at(leaves_[leaf], element);
    const double x0 = x;
    x = x0 + options_.eps;
    const Values above = values(f_(inputs_)[o]);
    x = x0 - options_.eps;
    const Values below = values(f_(inputs_)[o]);
    x = x0;
    Values r(above.size());
    for (size_t k = 0; k < r.size(); ++k) {
      r[k] = (above[k] - below[k]) / (2 * options_.eps);
    }
    return r;
  }

  void check_constant(size_t o) {
    for (size_t l = 0; l < leaves_.size(); ++l) {
      for (int64_t e = 0; e < leaves_[l].numel() && problem_.empty(); ++e) {
        for (const double d : differences(o, l, e)) {
          if (close(0, d)) continue;
          report(
              "result {} depends on inputs[{}], element {}, and records no "
              "gradient: finite differences {}",
              o, checked_[l], e, d);
        }
      }
    }
  }

  bool close(double a, double b) const {
    return std::abs(a - b) <= options_.atol + options_.rtol * std::abs(b);
  }

  void check_output(size_t o) {
    if (!options_.fast) return check_elements(o);
    check_directions(o);
    if (problem_.empty()) {
      return check_expanded(o, gradients(o, filled(outputs_[o], 1)));
    }
    const std::string direction = std::exchange(problem_, std::string());
    check_elements(o);
    report("{}", direction);
  }

  void check_elements(size_t o) {
    const Tensor& out = outputs_[o];
    const int64_t rows = out.numel();
    // jacobian[row][leaf][element]
    std::vector<Matrix> jacobian;
    for (int64_t k = 0; k < rows; ++k) {
      const Tensor cotangent = filled(out, 0);
      at(cotangent, k) = 1;
      jacobian.push_back(gradients(o, cotangent));
    }
    for (size_t l = 0; l < leaves_.size(); ++l) {
      for (int64_t e = 0; e < leaves_[l].numel() && problem_.empty(); ++e) {
        const Values expected = differences(o, l, e);
        for (size_t k = 0; k < expected.size(); ++k) {
          const double got = jacobian[k][l][static_cast<size_t>(e)];
          if (close(got, expected[k])) continue;
          report(
              "the derivative of result {}, element {}, by inputs[{}], element "
              "{}: backward {}, finite differences {}",
              o, k, checked_[l], e, got, expected[k]);
        }
      }
    }
    Matrix sums;
    for (size_t l = 0; l < leaves_.size(); ++l) {
      sums.emplace_back(static_cast<size_t>(leaves_[l].numel()), 0.0);
      for (size_t e = 0; e < sums[l].size(); ++e) {
        for (const Matrix& row : jacobian) sums[l][e] += row[l][e];
      }
    }
    check_expanded(o, sums);
  }

  // Compares the derivative along u for an input and v for the result: the sum
  // over all pairs of elements of v[k] * derivative * u[e], which many errors
  // cannot leave alike.
  void check_directions(size_t o) {
    const Tensor cotangent = filled(outputs_[o], 0);
    const Values v = random(cotangent.numel());
    for (size_t k = 0; k < v.size(); ++k) {
      at(cotangent, static_cast<int64_t>(k)) = v[k];
    }
    const Matrix g = gradients(o, cotangent);
    for (size_t l = 0; l < leaves_.size() && problem_.empty(); ++l) {
      const Values u = random(leaves_[l].numel());
      const double expected = dot(along(o, l, u), v);
      const double got = dot(g[l], u);
      const double tolerance =
          options_.atol * std::sqrt(dot(u, u) * dot(v, v)) +
          options_.rtol * std::abs(expected);
      if (std::abs(got - expected) <= tolerance) continue;
      report(
          "the derivative of result {} by inputs[{}] in a random direction: "
          "backward {}, finite differences {}",
          o, checked_[l], got, expected);
    }
  }

  // Numbers of either sign and away from 0, so that no element's error is lost.
  Values random(int64_t n) {
    Values r(static_cast<size_t>(n));
    std::uniform_real_distribution<double> size(0.75, 1.25);
    for (double& x : r)
      x = (random_() & 1) != 0 ? size(random_) : -size(random_);
    return r;
  }

  static double dot(const Values& a, const Values& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  // The derivative of outputs[o] in direction u of an input, by central
  // differences.
  Values along(size_t o, size_t leaf, const Values& u) {
    const Tensor& x = leaves_[leaf];
    const Values before = values(x);
    const auto outputs_at = [&](double step) {
      for (size_t e = 0; e < u.size(); ++e) {
        at(x, static_cast<int64_t>(e)) = before[e] + step * u[e];
      }
      return values(f_(inputs_)[o]);
    };
    const Values above = outputs_at(options_.eps);
    const Values below = outputs_at(-options_.eps);
    for (size_t e = 0; e < u.size(); ++e) {
      at(x, static_cast<int64_t>(e)) = before[e];
    }
    Values r(above.size());
    for (size_t k = 0; k < r.size(); ++k) {
      r[k] = (above[k] - below[k]) / (2 * options_.eps);
    }
    return r;
  }

  // Checks a cotangent all of whose elements are one in memory, as sum() gives.
  // `expected` holds the gradients for a contiguous one.
  void check_expanded(size_t o, const Matrix& expected) {
    const Tensor& out = outputs_[o];
    if (!problem_.empty() || out.numel() < 2) return;
    const Tensor one =
        filled(Tensor(make_tensor({}, kDouble, Device(kCPU))), 1);
    const std::vector<int64_t> strides(static_cast<size_t>(out.dim()), 0);
    const Tensor ones(one.impl()->alias(out.sizes(), strides, 0));
    const Matrix got = gradients(o, ones);
    for (size_t l = 0; l < leaves_.size(); ++l) {
      for (size_t e = 0; e < got[l].size(); ++e) {
        if (close(got[l][e], expected[l][e])) continue;
        report(
            "for an expanded gradient of result {}: inputs[{}], element {}: "
            "{}, for a contiguous one {}",
            o, checked_[l], e, got[l][e], expected[l][e]);
      }
    }
  }

  GradcheckFunction f_;
  const std::vector<Tensor>& inputs_;
  const GradcheckOptions& options_;
  bool all_recorded_;
  std::vector<size_t> checked_;
  std::vector<Tensor> leaves_, outputs_;
  std::string problem_;
  std::mt19937_64 random_;
};

}  // namespace

GradcheckResult gradcheck(GradcheckFunction f,
                          const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  const AutoGradMode on(true);
  GradcheckResult r = Checker(f, inputs, options, false).run();
  if (!r || !options.second_order) return r;
  GradcheckOptions first = options;
  first.second_order = false;
  r = gradgradcheck(f, inputs, first);
  if (!r) r.problem = "second order: " + r.problem;
  return r;
}

GradcheckResult gradgradcheck(GradcheckFunction f,
                              const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options) {
  const AutoGradMode on(true);
  std::vector<Tensor> all = inputs;
  std::vector<size_t> differentiable;
  {
    const std::vector<Tensor> outputs = f(inputs);
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (!outputs[o].defined() || !requires_grad(outputs[o])) continue;
      differentiable.push_back(o);
      Tensor v = filled(outputs[o], 0);
      for (int64_t i = 0; i < v.numel(); ++i) {
        at(v, i) = std::cos(static_cast<double>(i) + 0.5);
      }
      all.push_back(v.requires_grad_());
    }
  }
  const auto first_order = [&](TensorList both) {
    const TensorList xs = both.slice(0, inputs.size());
    const std::vector<Tensor> outputs = f(xs);
    std::vector<Tensor> ys, leaves;
    for (const size_t o : differentiable) ys.push_back(outputs[o]);
    for (const Tensor& x : xs) {
      if (x.defined() && requires_grad(x)) leaves.push_back(x);
    }
    std::vector<Tensor> g =
        grad(ys, leaves, both.slice(inputs.size(), ys.size()),
             /*retain_graph=*/true, /*create_graph=*/true,
             /*allow_unused=*/true);
    for (size_t i = 0; i < g.size(); ++i) {
      if (!g[i].defined()) g[i] = filled(leaves[i], 0);
    }
    return g;
  };
  return Checker(first_order, all, options, true).run();
}

}  // namespace sy::autograd
