#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/distributed/training/data_parallel.h"
#include "frontend/nn/module.h"
#include "frontend/nn/modules/conv.h"
#include "frontend/nn/modules/linear.h"
#include "frontend/optim/adam.h"
#include "frontend/optim/sgd.h"
#include "test/frontend/distributed/ranks.h"

// Small models and their training, alone and by ranks, for tests.

namespace sy::distributed {

using Numbers = std::vector<double>;

inline Numbers numbers(const Tensor& t) {
  if (!t.defined()) return {};
  const Tensor dense = t.detach().to(kDouble).contiguous();
  const auto* const p = static_cast<const double*>(dense.data_ptr());
  return {p, p + dense.numel()};
}

inline std::vector<Numbers> numbers(const std::vector<Tensor>& tensors) {
  std::vector<Numbers> all;
  for (const Tensor& t : tensors) all.push_back(numbers(t));
  return all;
}

inline std::vector<Numbers> gradients(const nn::Module& m) {
  std::vector<Numbers> all;
  for (const Tensor& t : m.parameters()) all.push_back(numbers(t.grad()));
  return all;
}

inline void expect_near(const std::vector<Numbers>& got,
                        const std::vector<Numbers>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), want[i].size()) << i;
    for (size_t k = 0; k < got[i].size(); ++k) {
      ASSERT_NEAR(got[i][k], want[i][k], tolerance) << i << ", " << k;
    }
  }
}

struct Mlp : nn::Module {
  explicit Mlp(int64_t hidden = 16) {
    first = register_module("first", nn::Linear(6, hidden));
    middle = register_module("middle", nn::Linear(hidden, 8));
    last = register_module("last", nn::Linear(8, 3));
  }
  Tensor forward(const Tensor& x) {
    return last(middle(first(x).tanh()).tanh());
  }
  nn::Linear first{nullptr}, middle{nullptr}, last{nullptr};
};

// Takes the rows of an Mlp as images of 2 x 3.
struct ConvNet : nn::Module {
  ConvNet() {
    conv = register_module("conv",
                           nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)));
    out = register_module("out", nn::Linear(24, 3));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = conv(x.view({x.size(0), 1, 2, 3})).relu();
    return out(y.view({x.size(0), 24}));
  }
  nn::Conv2d conv{nullptr};
  nn::Linear out{nullptr};
};

inline Tensor filled(std::vector<int64_t> sizes, double value) {
  return full(sizes, value, kFloat);
}

// Its parts are used as forward() is told; the result is their sum.
struct Parts : nn::Module {
  explicit Parts(int n) {
    for (int i = 0; i < n; ++i) {
      parts.push_back(register_module(str("part{}", i), nn::Linear(1, 1)));
    }
  }
  Tensor forward(const Tensor& x, const std::vector<bool>& uses) {
    Tensor sum;
    for (size_t i = 0; i < uses.size(); ++i) {
      if (!uses[i]) continue;
      const Tensor y = parts[i](x);
      sum = sum.defined() ? sum + y : y;
    }
    return sum.sum();
  }
  std::vector<nn::Linear> parts;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Numbers that are the same on all ranks, and others for each seed.
inline Tensor random(std::vector<int64_t> sizes, int64_t seed) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  const Tensor t = arange(n).to(kDouble);
  return (t * 12.9898 + static_cast<double>(seed) * 78.233)
      .sin()
      .mul(4375.85453)
      .frac()
      .view(sizes);
}

// The part of `rank` of all rows.
inline Tensor part(const Tensor& rows, int rank, int size) {
  const int64_t n = rows.size(0) / size;
  return rows.narrow(0, rank * n, n);
}

enum class Optimizer { kSgd, kAdam };

struct Training {
  int steps = 4;
  int64_t rows = 12;
  Optimizer optimizer = Optimizer::kSgd;
  bool set_to_none = true;
  // Batches whose gradients come together in one step.
  int batches = 1;
};

// The results of the steps: losses, and at last the parameters.
struct Trained {
  Numbers losses;
  std::vector<Numbers> parameters;
};

// One of `size` that train together, each with its part of the rows. `each` is
// called around the backward of each batch.
template <class M>
Trained train(
    M& model, const Training& how, int rank = 0, int size = 1,
    const std::function<void(int batch, const std::function<void()>&)>& each =
        [](int, const std::function<void()>& backward) { backward(); }) {
  std::unique_ptr<optim::Optimizer> optimizer;
  if (how.optimizer == Optimizer::kSgd) {
    optimizer = std::make_unique<optim::SGD>(
        model.parameters(), optim::SGDOptions(0.1).momentum(0.9));
  } else {
    optimizer = std::make_unique<optim::Adam>(model.parameters(),
                                              optim::AdamOptions(0.01));
  }
  Trained t;
  for (int step = 0; step < how.steps; ++step) {
    optimizer->zero_grad(how.set_to_none);
    double sum = 0;
    for (int b = 0; b < how.batches; ++b) {
      const int seed = step * how.batches + b;
      const Tensor x = part(random({how.rows, 6}, seed), rank, size);
      const Tensor y = part(random({how.rows, 3}, seed + 1000), rank, size);
      each(b, [&] {
        const Tensor loss = (nn::call_module(model, x) - y).square().mean();
        loss.backward();
        sum += loss.template item<double>();
      });
    }
    optimizer->step();
    t.losses.push_back(sum);
  }
  t.parameters = numbers(model.parameters());
  return t;
}

// A model in float64 whose parameters are the same in all programs.
template <class M>
std::shared_ptr<M> known(std::shared_ptr<M> model) {
  model->to(kDouble);
  const NoGradGuard no_grad;
  int64_t seed = 1;
  for (const Tensor& p : model->parameters()) {
    p.copy_(random(p.sizes().vec(), ++seed).mul(0.5));
  }
  return model;
}

// Losses are means over ranks, parameters the same on all of them.
inline void expect_equal_to_one(const std::vector<Trained>& ranks,
                                const Trained& alone,
                                double tolerance = 1e-11) {
  for (size_t s = 0; s < alone.losses.size(); ++s) {
    double mean = 0;
    for (const Trained& t : ranks) mean += t.losses[s];
    EXPECT_NEAR(mean / static_cast<double>(ranks.size()), alone.losses[s],
                tolerance)
        << "step " << s;
  }
  for (const Trained& t : ranks) {
    EXPECT_EQ(t.parameters, ranks[0].parameters);
    expect_near(t.parameters, alone.parameters, tolerance);
  }
}

}  // namespace sy::distributed
