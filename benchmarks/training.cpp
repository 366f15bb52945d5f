// Forward and backward of two small networks, of a graph as deep as they come
// and of writes in place: one source for both libraries.

#include <benchmark/benchmark.h>

#include <initializer_list>
#include <vector>

#include "benchmarks/both.h"

namespace {

class Parameters {
 public:
  lib::Tensor normal(std::initializer_list<int64_t> sizes, double scale) {
    return keep(lib::randn(sizes) * scale);
  }
  lib::Tensor full(std::initializer_list<int64_t> sizes, double value) {
    return keep(lib::full(sizes, value));
  }
  void clear_gradients() {
    for (lib::Tensor& t : all_) t.mutable_grad().reset();
  }

 private:
  lib::Tensor keep(lib::Tensor t) {
    t.requires_grad_(true);
    all_.push_back(t);
    return t;
  }
  std::vector<lib::Tensor> all_;
};

struct Linear {
  Linear(Parameters& p, int64_t in, int64_t out)
      : weight(p.normal({out, in}, 0.05)), bias(p.full({out}, 0)) {}
  lib::Tensor operator()(const lib::Tensor& x) const {
    return lib::linear(x, weight, bias);
  }
  lib::Tensor weight, bias;
};

struct LayerNorm {
  LayerNorm(Parameters& p, int64_t n)
      : size(n), weight(p.full({n}, 1)), bias(p.full({n}, 0)) {}
  lib::Tensor operator()(const lib::Tensor& x) const {
    return lib::layer_norm(x, {size}, weight, bias);
  }
  int64_t size;
  lib::Tensor weight, bias;
};

// Attention and two layers, each after a norm and added to what came in.
struct Block {
  Block(Parameters& p, int64_t width, int64_t heads)
      : heads(heads),
        before(p, width),
        between(p, width),
        in(p, width, 3 * width),
        out(p, width, width),
        up(p, width, 4 * width),
        down(p, 4 * width, width) {}

  lib::Tensor operator()(const lib::Tensor& x) const {
    const int64_t n = x.size(0), length = x.size(1), width = x.size(2);
    const lib::Tensor qkv = in(before(x))
                                .view({n, length, 3, heads, width / heads})
                                .permute({2, 0, 3, 1, 4});
    const lib::Tensor a =
        lib::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
            .transpose(1, 2)
            .reshape({n, length, width});
    const lib::Tensor y = x + out(a);
    return y + down(lib::gelu(up(between(y))));
  }

  int64_t heads;
  LayerNorm before, between;
  Linear in, out, up, down;
};

struct ConvNorm {
  ConvNorm(Parameters& p, int64_t in, int64_t out)
      : filter(p.normal({out, in, 3, 3}, 0.05)),
        weight(p.full({out}, 1)),
        bias(p.full({out}, 0)),
        mean(lib::zeros({out})),
        variance(lib::ones({out})) {}
  lib::Tensor operator()(const lib::Tensor& x) const {
    const lib::Tensor y = lib::conv2d(x, filter, {}, 1, 1);
    return lib::relu(lib::batch_norm(y, weight, bias, mean, variance, true, 0.1,
                                     1e-5, false));
  }
  lib::Tensor filter, weight, bias, mean, variance;
};

// Backward alone, and taking down.
void chain_deep(benchmark::State& s) {
  constexpr int kLength = 1000000;
  const lib::Tensor a = lib::ones({1}).requires_grad_(true);
  const lib::Tensor b = lib::ones({1});
  for (auto _ : s) {
    s.PauseTiming();
    lib::Tensor x = a;
    for (int i = 0; i < kLength; ++i) x = lib::mul(x, b);
    s.ResumeTiming();
    x.backward();
    x.reset();
    a.mutable_grad().reset();
  }
  s.SetItemsProcessed(s.iterations() * kLength);
}
BENCHMARK(chain_deep)->Unit(benchmark::kMillisecond);

// 100 writes to one recorded tensor, and backward.
template <class Write>
void chain_inplace(benchmark::State& s, Write&& write) {
  constexpr int kLength = 100;
  const lib::Tensor a = lib::ones({1}).requires_grad_(true);
  const lib::Tensor b = lib::ones({1});
  for (auto _ : s) {
    lib::Tensor x = a.clone();
    for (int i = 0; i < kLength; ++i) write(x, b);
    x.backward();
    a.mutable_grad().reset();
  }
  s.SetItemsProcessed(s.iterations() * kLength);
}
void add_inplace_grad(benchmark::State& s) {
  chain_inplace(s, [](lib::Tensor& x, const lib::Tensor& b) { x.add_(b); });
}
void mul_inplace_grad(benchmark::State& s) {
  chain_inplace(s, [](lib::Tensor& x, const lib::Tensor& b) { x.mul_(b); });
}
BENCHMARK(add_inplace_grad);
BENCHMARK(mul_inplace_grad);

template <class Step>
void run(benchmark::State& s, Parameters& p, Step&& loss) {
  const auto step = [&] {
    p.clear_gradients();
    loss().backward();
  };
  const PeakMemory memory;
  for (int i = 0; i < 3; ++i) step();
  s.counters["peak_MB"] = memory.megabytes();
  for (auto _ : s) step();
}

void transformer_train(benchmark::State& s) {
  constexpr int64_t kBatch = 8, kLength = 128, kWidth = 256, kHeads = 4;
  Parameters p;
  std::vector<Block> blocks;
  for (int i = 0; i < 4; ++i) blocks.emplace_back(p, kWidth, kHeads);
  const LayerNorm norm(p, kWidth);
  const Linear head(p, kWidth, 64);
  const lib::Tensor x = lib::randn({kBatch, kLength, kWidth});
  const lib::Tensor y = lib::randint(64, {kBatch * kLength}, lib::kLong);
  run(s, p, [&] {
    lib::Tensor t = x;
    for (const Block& b : blocks) t = b(t);
    return lib::cross_entropy_loss(head(norm(t)).view({-1, 64}), y);
  });
}
BENCHMARK(transformer_train)->UseRealTime()->Unit(benchmark::kMillisecond);

void convnet_train(benchmark::State& s) {
  constexpr int64_t kBatch = 32;
  Parameters p;
  const ConvNorm first(p, 3, 32), second(p, 32, 64), third(p, 64, 128);
  const Linear head(p, 128, 10);
  const lib::Tensor x = lib::randn({kBatch, 3, 32, 32});
  const lib::Tensor y = lib::randint(10, {kBatch}, lib::kLong);
  run(s, p, [&] {
    const lib::Tensor a = lib::max_pool2d(first(x), {2, 2});
    const lib::Tensor b = lib::max_pool2d(second(a), {2, 2});
    const lib::Tensor c = lib::adaptive_avg_pool2d(third(b), {1, 1});
    return lib::cross_entropy_loss(head(c.flatten(1)), y);
  });
}
BENCHMARK(convnet_train)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
