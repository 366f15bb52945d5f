// The cost of a call where the work is little: views, and products of small
// matrices. libtorch runs in InferenceMode, as in bench.cpp; ours does not.

#include <benchmark/benchmark.h>

#include <string>

#include "benchmarks/both.h"

namespace {

using benchmark::State;
using lib::Tensor;

struct Tensors {
  Tensor a = lib::ones({4, 4}), column = lib::ones({4, 1});
  Tensor volume = lib::ones({2, 3, 4, 5});
  Tensor batch = lib::ones({64, 8, 8}), heads = lib::ones({8, 16, 64});
};

struct Layer {
  Tensor x, weight = lib::ones({64, 64}), bias = lib::ones({64});
};

// `make` runs with the benchmark: operators are not there before main().
template <class Make, class F>
void measure(const std::string& name, Make make, F f) {
  benchmark::RegisterBenchmark(name.c_str(), [make, f](State& s) {
    const auto tensors = make();
#ifdef PEER
    const Mode mode;
#endif
    for (auto _ : s) benchmark::DoNotOptimize(f(tensors));
  });
}
#define MEASURE_CALL(name, expression) \
  measure(                             \
      #name, [] { return Tensors(); }, \
      [](const Tensors& x) { return expression; })

void views() {
  MEASURE_CALL(call_slice, x.a.slice(0, 1, 3));
  MEASURE_CALL(call_narrow, x.a.narrow(0, 1, 2));
  MEASURE_CALL(call_reshape, x.a.reshape({2, 8}));
  MEASURE_CALL(call_flatten, x.volume.flatten(1));
  MEASURE_CALL(call_unsqueeze, x.a.unsqueeze(1));
  MEASURE_CALL(call_squeeze, x.column.squeeze(1));
  MEASURE_CALL(call_expand, x.column.expand({4, 4}));
  MEASURE_CALL(call_permute, x.volume.permute({0, 2, 3, 1}));
  MEASURE_CALL(call_t, x.a.t());
  MEASURE_CALL(call_as_strided, x.a.as_strided({2, 2}, {4, 1}));
  MEASURE_CALL(call_detach, x.a.detach());
  MEASURE_CALL(call_alias, x.a.alias());
}

void products() {
  for (const int n : {2, 8, 16, 32}) {
    measure(
        "call_mm/" + std::to_string(n),
        [n] {
          return lib::ones({n, n});
        },
        [](const Tensor& a) { return lib::mm(a, a); });
  }
  for (const int rows : {1, 2, 4, 16, 32}) {
    measure(
        "call_linear/" + std::to_string(rows),
        [rows] {
          return Layer{lib::ones({rows, 64})};
        },
        [](const Layer& l) { return lib::linear(l.x, l.weight, l.bias); });
  }
  MEASURE_CALL(call_bmm_8x8, lib::bmm(x.batch, x.batch));
  MEASURE_CALL(call_bmm_scores, lib::bmm(x.heads, x.heads.transpose(1, 2)));
}

[[maybe_unused]] const bool registered = (views(), products(), true);

}  // namespace
