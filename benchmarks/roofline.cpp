// What the machine can do at most, by plain loops over the library's threads:
// the other figures are held against these.

#include <benchmark/benchmark.h>
#include <sy/sy.h>

#include <cstring>
#include <vector>

#include "c10/parallel.h"

namespace {

using benchmark::State;

// Reads and writes n floats.
void roofline_copy(State& s) {
  const int64_t n = s.range(0);
  const std::vector<float> from(static_cast<size_t>(n), 1.0f);
  std::vector<float> to(static_cast<size_t>(n));
  for (auto _ : s) {
    sy::parallel_for(0, n, 1 << 15, [&](int64_t begin, int64_t end) {
      std::memcpy(&to[static_cast<size_t>(begin)],
                  &from[static_cast<size_t>(begin)],
                  static_cast<size_t>(end - begin) * sizeof(float));
    });
    benchmark::ClobberMemory();
  }
  s.SetBytesProcessed(s.iterations() * n * 8);
}
BENCHMARK(roofline_copy)
    ->Arg(1 << 12)
    ->Arg(1 << 16)
    ->Arg(1 << 20)
    ->Arg(1 << 25)
    ->UseRealTime();

using Vector [[gnu::vector_size(64)]] = float;
constexpr int kChains = 12;  // as many as hide the latency of one
constexpr int64_t kSteps = 1 << 16;

// Multiplies and adds in registers.
__attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default"),
               optimize("O3", "fp-contract=fast"))) float
multiply_add(float seed) {
  Vector sum[kChains], factor;
  for (int l = 0; l < 16; ++l) factor[l] = 1 - seed;
  for (auto& v : sum) v = factor;
  for (int64_t i = 0; i < kSteps; ++i) {
    for (auto& v : sum) v = v * factor + factor;
  }
  float total = 0;
  for (const auto& v : sum) total += v[0];
  return total;
}

void roofline_f32(State& s) {
  const int threads = sy::get_num_threads();
  for (auto _ : s) {
    sy::parallel_for(0, threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        benchmark::DoNotOptimize(multiply_add(0.5f));
      }
    });
  }
  s.counters["GFLOPS"] =
      benchmark::Counter(2e-9 * 16 * kChains * double(kSteps) * threads,
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(roofline_f32)->UseRealTime();

}  // namespace
