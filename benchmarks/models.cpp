// Parts of known networks at their own sizes: one source for both libraries.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "benchmarks/both.h"

namespace {

using benchmark::State;
using lib::Tensor;

// `flops`: of one call.
template <class F>
void measure(State& s, double flops, const F& f) {
  for (auto _ : s) benchmark::DoNotOptimize(f());
  s.counters["GFLOPS"] = benchmark::Counter(
      flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

// The convolutions of ResNet-50 that differ, on four images: each kind of layer
// at each size once.
void resnet50_conv(State& s) {
  const Mode mode;
  constexpr int64_t kImages = 4;
  const int64_t in = s.range(0), out = s.range(1), size = s.range(2);
  const int64_t kernel = s.range(3), stride = s.range(4);
  const Tensor x = lib::randn({kImages, in, size, size});
  const Tensor w = lib::randn({out, in, kernel, kernel});
  const int64_t places = (size / stride) * (size / stride);
  measure(s, 2.0 * double(kImages * in * out * places * kernel * kernel),
          [&] { return lib::conv2d(x, w, {}, stride, kernel / 2); });
}
BENCHMARK(resnet50_conv)
    ->ArgNames({"in", "out", "size", "kernel", "stride"})
    ->Args({3, 64, 224, 7, 2})
    ->Args({64, 64, 56, 1, 1})
    ->Args({64, 64, 56, 3, 1})
    ->Args({64, 256, 56, 1, 1})
    ->Args({256, 512, 56, 1, 2})
    ->Args({128, 128, 56, 3, 2})
    ->Args({512, 128, 28, 1, 1})
    ->Args({128, 128, 28, 3, 1})
    ->Args({128, 512, 28, 1, 1})
    ->Args({1024, 256, 14, 1, 1})
    ->Args({256, 256, 14, 3, 1})
    ->Args({256, 1024, 14, 1, 1})
    ->Args({2048, 512, 7, 1, 1})
    ->Args({512, 512, 7, 3, 1})
    ->Args({512, 2048, 7, 1, 1})
    ->UseRealTime();

// The layers of BERT-base, on 512 tokens: of attention in and out, of the
// widening and of the narrowing half of what follows it.
void bert_linear(State& s, lib::ScalarType dtype) {
  const Mode mode;
  constexpr int64_t kTokens = 512;
  const int64_t in = s.range(0), out = s.range(1);
  const Tensor x = lib::randn({kTokens, in}).to(dtype);
  const Tensor w = lib::randn({out, in}).to(dtype);
  const Tensor b = lib::randn({out}).to(dtype);
  measure(s, 2.0 * double(kTokens * in * out),
          [&] { return lib::linear(x, w, b); });
}
// The products of its attention, twelve heads of four sequences of 128.
void bert_bmm(State& s, lib::ScalarType dtype) {
  const Mode mode;
  const Tensor q = lib::randn({48, 128, 64}).to(dtype);
  const Tensor k = lib::randn({48, 128, 64}).to(dtype).transpose(1, 2);
  measure(s, 2.0 * 48 * 128 * 128 * 64, [&] { return lib::bmm(q, k); });
}

// Twelve heads of 64 over so long a sequence, and the memory that takes.
void attention(State& s) {
  const Mode mode;
  const int64_t length = s.range(0);
  const Tensor q = lib::randn({1, 12, length, 64});
  const auto run = [&] { return lib::scaled_dot_product_attention(q, q, q); };
  const PeakMemory memory;
  run();
  s.counters["peak_MB"] = memory.megabytes();
  measure(s, 4.0 * 12 * 64 * double(length * length), run);
}
BENCHMARK(attention)->Arg(512)->Arg(4096)->UseRealTime();

[[maybe_unused]] const int registered = [] {
  const auto with = [](const char* name, auto f, lib::ScalarType dtype) {
    return benchmark::RegisterBenchmark(name, [=](State& s) { f(s, dtype); });
  };
  for (const lib::ScalarType dtype : {lib::kFloat, lib::kBFloat16}) {
    const std::string suffix = dtype == lib::kFloat ? "" : "_bf16";
    with(("bert_linear" + suffix).c_str(), bert_linear, dtype)
        ->Args({768, 768})
        ->Args({768, 2304})
        ->Args({768, 3072})
        ->Args({3072, 768})
        ->UseRealTime();
    with(("bert_bmm" + suffix).c_str(), bert_bmm, dtype)->UseRealTime();
  }
  return 0;
}();

}  // namespace
