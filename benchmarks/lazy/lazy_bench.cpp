// Programs on the lazy device beside the same on the CPU, as they are and
// compiled: lazy_NAME, eager_NAME and compiled_NAME. `./sy bench --lazy` runs
// them and prints the ratios. A PJRT plugin (SWITCHYARD_PJRT_PLUGIN) adds
// pjrt_NAME, compiled by XLA, and pjrtsync_NAME, on the lazy device whose
// graphs XLA runs.

#include <benchmark/benchmark.h>
#include <sy/compile.h>
#include <sy/lazy.h>
#include <sy/sy.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/lazy/networks.h"

namespace {

using benchmark::State;
using sy::Tensor;

void wait_for(sy::Device device) {
  if (device.is_lazy()) sy::lazy::sync(sy::lazy::kWait);
}

Tensor normal(sy::Device device, sy::IntArrayRef sizes) {
  return sy::randn(sizes).to(device);
}

// The backend that compiles the steps of the benchmark that runs; nullptr for
// none.
const char* backend = nullptr;

template <class F>
auto step_of(F f) -> std::function<decltype(f())()> {
  if (backend == nullptr) return f;
  return
      [compiled = sy::compile(std::move(f), {.backend = backend})]() mutable {
        return compiled();
      };
}

void add(const std::string& name, const char* device, const char* compiled,
         const std::function<void(State&, sy::Device)>& body,
         const char* engine = "jit") {
  benchmark::RegisterBenchmark(name.c_str(), [=](State& s) {
    backend = compiled;
    sy::lazy::set_engine(engine);
    body(s, sy::Device(device));
    sy::lazy::set_engine("jit");
  })->UseRealTime();
}

// Registers the body for both devices.
void both(const std::string& name,
          const std::function<void(State&, sy::Device)>& body) {
  add("lazy_" + name, "lazy", nullptr, body);
  add("eager_" + name, "cpu", nullptr, body);
}

// Registers it compiled as well: its steps are what step_of() gives.
void all(const std::string& name,
         const std::function<void(State&, sy::Device)>& body) {
  both(name, body);
  add("compiled_" + name, "cpu", "jit", body);
  if (std::getenv("SWITCHYARD_PJRT_PLUGIN") == nullptr) return;
  add("pjrt_" + name, "cpu", "pjrt", body);
  add("pjrtsync_" + name, "lazy", nullptr, body, "pjrt");
}

template <class F>
void without_grad(State& s, sy::Device device, F&& body) {
  const sy::NoGradGuard no_grad;
  const std::function<Tensor()> f = step_of(body);
  for (int i = 0; i < 2; ++i) {
    const Tensor kept = f();
    wait_for(device);
  }
  for (auto _ : s) {
    const Tensor kept = f();
    wait_for(device);
  }
}

// ---- what the device costs by itself

void record(State& s, sy::Device device) {
  const sy::NoGradGuard no_grad;
  const Tensor a = normal(device, {16}), b = normal(device, {16});
  wait_for(device);
  constexpr int kCalls = 1000;
  for (auto _ : s) {
    Tensor x = a;
    for (int i = 0; i < kCalls; ++i) x = sy::add(x, b);
    s.PauseTiming();
    x.reset();
    wait_for(device);
    s.ResumeTiming();
  }
  s.SetItemsProcessed(s.iterations() * kCalls);
}

// 100 calls that no region takes together: each reads another part.
void sync_100(State& s, sy::Device device) {
  const sy::NoGradGuard no_grad;
  const Tensor a = normal(device, {4, 4});
  wait_for(device);
  const auto program = [&] {
    Tensor x = a;
    for (int i = 0; i < 50; ++i) x = sy::mm(sy::add(x, a), a);
    return x;
  };
  for (auto _ : s) {
    s.PauseTiming();
    Tensor x;
    if (device.is_lazy()) x = program();
    s.ResumeTiming();
    if (device.is_lazy()) {
      sy::lazy::sync();
    } else {
      x = program();  // what the kernels take
    }
    s.PauseTiming();
    x.reset();
    s.ResumeTiming();
  }
}

// ---- chains

void chain_64k(State& s, sy::Device device) {
  const Tensor a = normal(device, {65536}), b = normal(device, {65536});
  without_grad(s, device, [&] {
    return sy::mul(sy::sigmoid(sy::add(a, b)), sy::tanh(a));
  });
}

void gelu_1m(State& s, sy::Device device) {
  const Tensor x = normal(device, {1024, 1024}), bias = normal(device, {1024});
  without_grad(s, device, [&] {
    const Tensor y = x + bias;
    const Tensor cube = y * y * y;
    const Tensor inner = (y + cube * 0.044715) * 0.7978845608;
    return (y * 0.5) * (inner.tanh() + 1);
  });
}

// ---- rows, beside our own fused kernels

bool is_fused(sy::Device device) {
  return device.is_lazy() || backend != nullptr;
}

void softmax_4096(State& s, sy::Device device) {
  const Tensor x = normal(device, {4096, 1024});
  without_grad(s, device, [&] {
    if (!is_fused(device)) return sy::softmax(x, 1);
    const Tensor e = (x - x.amax({1}, true)).exp();
    return e / e.sum({1}, true);
  });
}

void layer_norm_4096(State& s, sy::Device device) {
  const Tensor x = normal(device, {4096, 1024});
  const Tensor w = normal(device, {1024}), b = normal(device, {1024});
  without_grad(s, device, [&] {
    if (!is_fused(device)) return sy::layer_norm(x, {1024}, w, b);
    const Tensor centred = x - x.mean({1}, true);
    const Tensor variance = (centred * centred).mean({1}, true);
    return centred * (variance + 1e-5).rsqrt() * w + b;
  });
}

void cross_entropy_4096(State& s, sy::Device device) {
  const Tensor x = normal(device, {4096, 1024});
  const Tensor y = sy::randint(1024, {4096}, sy::kLong).to(device);
  without_grad(s, device, [&] {
    if (!is_fused(device)) return sy::cross_entropy_loss(x, y);
    const Tensor shifted = x - x.amax({1}, true);
    const Tensor log_sum = shifted.exp().sum({1}, true).log();
    const Tensor at_target = shifted.gather(1, y.unsqueeze(1));
    return (log_sum - at_target).mean();
  });
}

// ---- training

void adamw(State& s, sy::Device device, const std::vector<int64_t>& sizes) {
  const sy::NoGradGuard no_grad;
  std::vector<Tensor> p, g, m, v;
  for (const int64_t n : sizes) {
    p.push_back(normal(device, {n}));
    g.push_back(normal(device, {n}));
    m.push_back(normal(device, {n}).abs());
    v.push_back(normal(device, {n}).abs());
  }
  int64_t step = 1;
  const std::function<void()> update = step_of([&] {
    // A number is a constant of a compiled step.
    const double rate =
        1e-3 / static_cast<double>(backend != nullptr ? 2 : ++step);
    for (size_t i = 0; i < p.size(); ++i) {
      p[i].mul_(1 - rate * 0.01);
      m[i].mul_(0.9).add_(g[i], 0.1);
      v[i].mul_(0.999).addcmul_(g[i], g[i], 0.001);
      p[i].addcdiv_(m[i], v[i].sqrt().add_(1e-8), -rate);
    }
    wait_for(device);
  });
  update();
  for (auto _ : s) update();
}

// The parameters of a transformer of 16 layers, 256 wide, and its ends: 12.8
// million numbers.
void adamw_200(State& s, sy::Device device) {
  constexpr int64_t kWidth = 256;
  std::vector<int64_t> sizes;
  for (int layer = 0; layer < 16; ++layer) {
    for (const int64_t rows : {3, 1, 4, 4}) {  // qkv, projection, up, down
      sizes.push_back(rows * kWidth * kWidth);
      sizes.push_back(rows * kWidth);
    }
    sizes.insert(sizes.end(), 4, kWidth);  // two norms
  }
  sizes.insert(sizes.end(), 8, kWidth);
  adamw(s, device, sizes);
}

// As many parameters, all small: calls cost more than memory.
void adamw_200_small(State& s, sy::Device device) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < 200; ++i) sizes.push_back(int64_t{64} << (i % 8));
  adamw(s, device, sizes);
}

template <class Network>
void train(State& s, sy::Device device) {
  sy::manual_seed(1);
  Network network(device);
  const std::function<Tensor()> compute =
      step_of([&] { return network.step(); });
  const auto step = [&] {
    const Tensor kept = compute();
    wait_for(device);
  };
  for (int i = 0; i < 3; ++i) step();
  sy::reset_peak_memory_stats();
  for (auto _ : s) step();
  s.counters["peak_MB"] =
      static_cast<double>(sy::memory_stats().peak) / (1 << 20);
}

// Everything that a first step needs, planning included.
template <class Network>
void first_step(State& s, sy::Device device) {
  for (auto _ : s) {
    s.PauseTiming();
    if (device.is_lazy()) sy::lazy::clear_plans();
    sy::manual_seed(1);
    Network network(device);
    wait_for(device);
    s.ResumeTiming();
    network.step();
    wait_for(device);
  }
}

const bool registered = [] {
  both("record", record);
  both("sync_100", sync_100);
  all("chain_64k", chain_64k);
  all("gelu_1m", gelu_1m);
  all("softmax_4096", softmax_4096);
  all("layer_norm_4096", layer_norm_4096);
  all("cross_entropy_4096", cross_entropy_4096);
  all("adamw_200", adamw_200);
  all("adamw_200_small", adamw_200_small);
  all("transformer_train", train<sy::bench::Transformer>);
  all("convnet_train", train<sy::bench::Convnet>);
  all("mlp_train", train<sy::bench::Mlp>);
  both("first_step", first_step<sy::bench::Transformer>);
  return true;
}();

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const char* const path = std::getenv("SWITCHYARD_LAZY");
  sy::load_library(path == nullptr ? "lazy" : path).keep();
  benchmark::RunSpecifiedBenchmarks();
}
