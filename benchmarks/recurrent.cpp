// Layers of recurrent networks over sequences, and steps of training them: one
// source for both libraries.

#include <benchmark/benchmark.h>

#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/both.h"

namespace {

using benchmark::State;
using lib::Tensor;

// Sequences of `rows` through layers of `width`, which is their input's too.
struct Sequences {
  Sequences(int64_t gates, int64_t steps, int64_t rows, int64_t width,
            int64_t layers = 1, int64_t directions = 1)
      : x(lib::randn({steps, rows, width})),
        h(lib::randn({layers * directions, rows, width})),
        c(lib::randn({layers * directions, rows, width})),
        layers(layers),
        bidirectional(directions == 2) {
    for (int64_t i = 0; i < layers * directions; ++i) {
      const int64_t from = i < directions ? width : width * directions;
      parameters.push_back(lib::randn({gates * width, from}) * 0.06);
      parameters.push_back(lib::randn({gates * width, width}) * 0.06);
      parameters.push_back(lib::randn({gates * width}));
      parameters.push_back(lib::randn({gates * width}));
    }
  }
  Tensor lstm(bool train = false) const {
    return std::get<0>(lib::lstm(x, {h, c}, parameters, true, layers, 0.0,
                                 train, bidirectional, false));
  }
  Tensor gru(bool train = false) const {
    return std::get<0>(lib::gru(x, h, parameters, true, layers, 0.0, train,
                                bidirectional, false));
  }
  Tensor rnn_tanh(bool train = false) const {
    return std::get<0>(lib::rnn_tanh(x, h, parameters, true, layers, 0.0, train,
                                     bidirectional, false));
  }
  Tensor x, h, c;
  std::vector<Tensor> parameters;
  int64_t layers;
  bool bidirectional;
};

using Layer = Tensor (Sequences::*)(bool) const;

template <class... A>
void infer(State& s, Layer layer, const A&... sizes) {
  const Mode mode;
  const Sequences q(sizes...);
  for (auto _ : s) benchmark::DoNotOptimize((q.*layer)(false));
}
template <class... A>
void train(State& s, Layer layer, const A&... sizes) {
  Sequences q(sizes...);
  for (Tensor& p : q.parameters) p = p.detach().requires_grad_(true);
  for (auto _ : s) {
    for (Tensor& p : q.parameters) p.mutable_grad().reset();
    (q.*layer)(true).sum().backward();
  }
}

void lstm_step(State& s) {
  const Mode mode;
  const Tensor x = lib::randn({32, 256});
  const std::vector<Tensor> hx = {lib::randn({32, 512}), lib::randn({32, 512})};
  const Tensor w = lib::randn({2048, 256}), u = lib::randn({2048, 512});
  const Tensor b = lib::randn({2048});
  for (auto _ : s) {
    benchmark::DoNotOptimize(lib::lstm_cell(x, hx, w, u, b, b));
  }
}
BENCHMARK(lstm_step)->UseRealTime();

[[maybe_unused]] const int registered = [] {
  struct Kind {
    const char* name;
    Layer layer;
    int64_t gates;
  };
  for (const Kind& k :
       {Kind{"lstm", &Sequences::lstm, 4}, Kind{"gru", &Sequences::gru, 3},
        Kind{"rnn_tanh", &Sequences::rnn_tanh, 1}}) {
    const auto add = [&](const char* what, auto f) {
      benchmark::RegisterBenchmark((std::string(k.name) + what).c_str(), f)
          ->UseRealTime();
    };
    add("_sequence",
        [=](State& s) { infer(s, k.layer, k.gates, 64, 16, 256); });
    add("_small", [=](State& s) { infer(s, k.layer, k.gates, 32, 8, 128); });
    add("_wide", [=](State& s) { infer(s, k.layer, k.gates, 32, 32, 512); });
    add("_one", [=](State& s) { infer(s, k.layer, k.gates, 32, 1, 256); });
    add("_two_ways",
        [=](State& s) { infer(s, k.layer, k.gates, 32, 16, 128, 2, 2); });
    add("_train", [=](State& s) { train(s, k.layer, k.gates, 64, 16, 256); });
    add("_train_small",
        [=](State& s) { train(s, k.layer, k.gates, 32, 8, 128); });
  }
  return 0;
}();

}  // namespace
