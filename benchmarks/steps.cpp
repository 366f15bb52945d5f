// Whole steps of training (forward, backward, update) through modules and
// optimizers, and the same written with functions: one source for both
// libraries.

#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "benchmarks/both.h"

#ifdef PEER
namespace nn = torch::nn;
namespace optim = torch::optim;
#else
#include <sy/nn.h>
#include <sy/optim.h>
namespace nn = sy::nn;
namespace optim = sy::optim;
#endif

namespace {

using lib::Tensor;
using Tensors = std::vector<Tensor>;

constexpr double kRate = 1e-4, kMomentum = 0.9;

// Momentum, all parameters by three calls.
class Momentum {
 public:
  explicit Momentum(Tensors parameters) : parameters_(std::move(parameters)) {
    for (const Tensor& p : parameters_) {
      velocity_.push_back(lib::zeros_like(p));
    }
  }
  void step(const Tensors& gradients) {
    lib::_foreach_mul_(velocity_, kMomentum);
    lib::_foreach_add_(velocity_, gradients);
    lib::_foreach_add_(parameters_, velocity_, -kRate);
  }

 private:
  Tensors parameters_, velocity_;
};

// Kingma and Ba, "Adam" (2014).
class Adam {
 public:
  explicit Adam(Tensors parameters) : parameters_(std::move(parameters)) {
    for (const Tensor& p : parameters_) {
      mean_.push_back(lib::zeros_like(p));
      square_.push_back(lib::zeros_like(p));
    }
  }
  void step(const Tensors& gradients) {
    ++steps_;
    const double part = 1 - std::pow(0.9, steps_);
    const double square_part = std::sqrt(1 - std::pow(0.999, steps_));
    lib::_foreach_lerp_(mean_, gradients, 1 - 0.9);
    lib::_foreach_mul_(square_, 0.999);
    lib::_foreach_addcmul_(square_, gradients, gradients, 1 - 0.999);
    Tensors below = lib::_foreach_sqrt(square_);
    lib::_foreach_div_(below, square_part);
    lib::_foreach_add_(below, 1e-8);
    lib::_foreach_addcdiv_(parameters_, mean_, below, -kRate / part);
  }

 private:
  Tensors parameters_, mean_, square_;
  double steps_ = 0;
};

// `loss` is a function of the parameters.
template <class Rule, class Loss>
void by_functions(benchmark::State& s, const Tensors& parameters, Loss loss) {
  Rule rule(parameters);
  Tensors gradients(parameters.size());
  for (auto _ : s) {
    for (const Tensor& p : parameters) p.mutable_grad().reset();
    loss().backward();
    const lib::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters.size(); ++i) {
      gradients[i] = parameters[i].grad();
    }
    rule.step(gradients);
  }
}

template <class Loss>
void by_modules(benchmark::State& s, optim::Optimizer& optimizer, Loss loss) {
  for (auto _ : s) {
    optimizer.zero_grad();
    loss().backward();
    optimizer.step();
  }
}

// A model has parameters(), forward(x), functions(p, x): the same by
// functions, and input() and target().
template <class Model>
void modules(benchmark::State& s) {
  const auto model = std::make_shared<Model>();
  const Tensor x = model->input(), y = model->target();
  const auto loss = [&] {
    return lib::cross_entropy_loss(model->forward(x), y);
  };
  if constexpr (std::is_same_v<typename Model::Rule, Adam>) {
    optim::Adam optimizer(model->parameters(), optim::AdamOptions(kRate));
    by_modules(s, optimizer, loss);
  } else {
    optim::SGD optimizer(model->parameters(),
                         optim::SGDOptions(kRate).momentum(kMomentum));
    by_modules(s, optimizer, loss);
  }
}

template <class Model>
void functions(benchmark::State& s) {
  const auto model = std::make_shared<Model>();
  const Tensor x = model->input(), y = model->target();
  const Tensors p = model->parameters();
  by_functions<typename Model::Rule>(
      s, p, [&] { return lib::cross_entropy_loss(model->functions(p, x), y); });
}

struct Mlp : nn::Module {
  using Rule = Momentum;
  static Tensor input() { return lib::randn({32, 64}); }
  static Tensor target() { return lib::randint(10, {32}, lib::kLong); }

  Mlp() {
    layers = register_module(
        "layers",
        nn::Sequential(nn::Linear(64, 128), nn::ReLU(), nn::Linear(128, 10)));
  }
  Tensor forward(const Tensor& x) { return layers->forward(x); }
  static Tensor functions(const Tensors& p, const Tensor& x) {
    return lib::linear(lib::relu(lib::linear(x, p[0], p[1])), p[2], p[3]);
  }
  nn::Sequential layers{nullptr};
};

struct Convnet : nn::Module {
  using Rule = Momentum;
  static Tensor input() { return lib::randn({32, 3, 32, 32}); }
  static Tensor target() { return lib::randint(10, {32}, lib::kLong); }

  Convnet() {
    const auto filter = [](int64_t in, int64_t out) {
      return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
    };
    layers = register_module(
        "layers",
        nn::Sequential(
            filter(3, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
            filter(32, 64), nn::BatchNorm2d(64), nn::ReLU(), nn::MaxPool2d(2),
            filter(64, 128), nn::BatchNorm2d(128), nn::ReLU(),
            nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(128, 10)));
    for (const int64_t n : {32, 64, 128}) {
      means.push_back(lib::zeros({n}));
      variances.push_back(lib::ones({n}));
      counts.push_back(lib::zeros({}, lib::kLong));
    }
  }
  Tensor forward(const Tensor& x) { return layers->forward(x); }
  Tensor block(const Tensors& p, size_t i, const Tensor& x) {
    counts[i].add_(1);
    const Tensor y = lib::conv2d(x, p[3 * i], {}, 1, 1);
    return lib::relu(lib::batch_norm(y, p[3 * i + 1], p[3 * i + 2], means[i],
                                     variances[i], true, 0.1, 1e-5, false));
  }
  Tensor functions(const Tensors& p, const Tensor& x) {
    const Tensor a = lib::max_pool2d(block(p, 0, x), {2, 2});
    const Tensor b = lib::max_pool2d(block(p, 1, a), {2, 2});
    const Tensor c = lib::adaptive_avg_pool2d(block(p, 2, b), {1, 1});
    return lib::linear(c.flatten(1), p[9], p[10]);
  }
  nn::Sequential layers{nullptr};
  Tensors means, variances, counts;
};

constexpr int64_t kWidth = 256, kHeads = 4, kLength = 128;

// Attention and two layers, each after a norm and added to what came in.
struct Block : nn::Module {
  Block() {
    const auto norm = [] { return nn::LayerNorm(nn::LayerNormOptions({256})); };
    before = register_module("before", norm());
    in = register_module("in", nn::Linear(kWidth, 3 * kWidth));
    out = register_module("out", nn::Linear(kWidth, kWidth));
    between = register_module("between", norm());
    up = register_module("up", nn::Linear(kWidth, 4 * kWidth));
    down = register_module("down", nn::Linear(4 * kWidth, kWidth));
  }
  static Tensor attend(const Tensor& in) {
    const int64_t n = in.size(0);
    const Tensor qkv = in.view({n, kLength, 3, kHeads, kWidth / kHeads})
                           .permute({2, 0, 3, 1, 4});
    return lib::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
        .transpose(1, 2)
        .reshape({n, kLength, kWidth});
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = x + out(attend(in(before(x))));
    return y + down(lib::gelu(up(between(y))));
  }
  static Tensor functions(const Tensor* p, const Tensor& x) {
    const Tensor a = lib::layer_norm(x, {kWidth}, p[0], p[1]);
    const Tensor b = attend(lib::linear(a, p[2], p[3]));
    const Tensor y = x + lib::linear(b, p[4], p[5]);
    const Tensor c = lib::layer_norm(y, {kWidth}, p[6], p[7]);
    const Tensor d = lib::gelu(lib::linear(c, p[8], p[9]));
    return y + lib::linear(d, p[10], p[11]);
  }
  nn::LayerNorm before{nullptr}, between{nullptr};
  nn::Linear in{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
};

struct Transformer : nn::Module {
  using Rule = Adam;
  static constexpr size_t kBlocks = 4, kOfBlock = 12;
  static Tensor input() { return lib::randn({8, kLength, kWidth}); }
  static Tensor target() { return lib::randint(64, {8 * kLength}, lib::kLong); }

  Transformer() {
    for (size_t i = 0; i < kBlocks; ++i) {
      blocks.push_back(register_module("block" + std::to_string(i),
                                       std::make_shared<Block>()));
    }
    norm =
        register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
    head = register_module("head", nn::Linear(kWidth, 64));
  }
  Tensor forward(const Tensor& x) {
    Tensor t = x;
    for (const std::shared_ptr<Block>& b : blocks) t = b->forward(t);
    return head(norm(t)).view({-1, 64});
  }
  static Tensor functions(const Tensors& p, const Tensor& x) {
    Tensor t = x;
    for (size_t i = 0; i < kBlocks; ++i) {
      t = Block::functions(&p[i * kOfBlock], t);
    }
    const Tensor* const last = &p[kBlocks * kOfBlock];
    const Tensor y = lib::layer_norm(t, {kWidth}, last[0], last[1]);
    return lib::linear(y, last[2], last[3]).view({-1, 64});
  }
  std::vector<std::shared_ptr<Block>> blocks;
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
};

// Scores from the last of 32 states.
struct Lstm : nn::Module {
  using Rule = Adam;
  static constexpr int64_t kBatch = 16, kHidden = 128;
  static Tensor input() { return lib::randn({32, kBatch, 64}); }
  static Tensor target() { return lib::randint(10, {kBatch}, lib::kLong); }

  Lstm() {
    lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(64, kHidden)));
    head = register_module("head", nn::Linear(kHidden, 10));
  }
  Tensor forward(const Tensor& x) {
    return head(std::get<0>(lstm->forward(x)).select(0, -1));
  }
  static Tensor functions(const Tensors& p, const Tensor& x) {
    const Tensor zero = lib::zeros({1, kBatch, kHidden});
    const Tensors weights(p.begin(), p.begin() + 4);
    const Tensor y = std::get<0>(
        lib::lstm(x, {zero, zero}, weights, true, 1, 0.0, true, false, false));
    return lib::linear(y.select(0, -1), p[4], p[5]);
  }
  nn::LSTM lstm{nullptr};
  nn::Linear head{nullptr};
};

// 200 parameters of mixed sizes, some 1.5 M elements.
void adam_200(benchmark::State& s) {
  Tensors parameters;
  for (int64_t i = 0; i < 200; ++i) {
    const int64_t n = int64_t{64} << (i % 10);
    parameters.push_back(lib::randn({n}).requires_grad_(true));
    parameters.back().mutable_grad() = lib::randn({n});
  }
  optim::Adam optimizer(parameters, optim::AdamOptions(kRate));
  for (auto _ : s) optimizer.step();
}
BENCHMARK(adam_200)->UseRealTime();

// One element: what a module adds to its function.
void call_module(benchmark::State& s) {
  const Mode mode;
  nn::ReLU relu;
  const Tensor x = lib::randn({1});
  for (auto _ : s) benchmark::DoNotOptimize(relu(x));
}
void call_function(benchmark::State& s) {
  const Mode mode;
  const Tensor x = lib::randn({1});
  for (auto _ : s) benchmark::DoNotOptimize(lib::relu(x));
}
BENCHMARK(call_module);
BENCHMARK(call_function);

BENCHMARK(modules<Mlp>)->Name("step_mlp/modules")->UseRealTime();
BENCHMARK(functions<Mlp>)->Name("step_mlp/functions")->UseRealTime();
BENCHMARK(modules<Lstm>)->Name("step_lstm/modules")->UseRealTime();
BENCHMARK(functions<Lstm>)->Name("step_lstm/functions")->UseRealTime();
BENCHMARK(modules<Convnet>)->Name("step_convnet/modules")->UseRealTime();
BENCHMARK(functions<Convnet>)->Name("step_convnet/functions")->UseRealTime();
BENCHMARK(modules<Transformer>)
    ->Name("step_transformer/modules")
    ->UseRealTime();
BENCHMARK(functions<Transformer>)
    ->Name("step_transformer/functions")
    ->UseRealTime();

}  // namespace
