// The most that the machine can do, by plain loops over the library's threads:
// the other figures are held against these.

#include <benchmark/benchmark.h>
#include <sy/sy.h>

#include <cstring>
#include <vector>

#include "c10/process/parallel.h"

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

constexpr int64_t kSteps = 1 << 16;
constexpr int kChains = 12;  // as many as hide the latency of one

typedef float Float4 __attribute__((vector_size(16)));
typedef float Float8 __attribute__((vector_size(32)));
typedef float Float16 __attribute__((vector_size(64)));

// Multiplies and adds in registers. The function that inlines it decides the
// instruction set.
template <class Vector>
[[gnu::always_inline]] inline float multiply_add(float seed) {
  Vector sum[kChains], factor;
  for (size_t l = 0; l < sizeof factor / sizeof seed; ++l) factor[l] = 1 - seed;
    // The chains differ: equal ones would be computed once.
#pragma GCC unroll 12
  for (int k = 0; k < kChains; ++k) sum[k] = factor * static_cast<float>(k);
  for (int64_t i = 0; i < kSteps; ++i) {
#pragma GCC unroll 12
    for (Vector& v : sum) v = v * factor + factor;
  }
  float total = 0;
#pragma GCC unroll 12
  for (const Vector& v : sum) total += v[0];
  return total;
}

__attribute__((target("avx512f"))) float wide(float seed) {
  return multiply_add<Float16>(seed);
}
__attribute__((target("avx2,fma"))) float middle(float seed) {
  return multiply_add<Float8>(seed);
}
float narrow(float seed) { return multiply_add<Float4>(seed); }

struct Loop {
  float (*run)(float);
  int lanes;
};
Loop widest() {
  if (__builtin_cpu_supports("avx512f")) return {&wide, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {&middle, 8};
  }
  return {&narrow, 4};
}

void roofline_f32(State& s) {
  const int threads = sy::get_num_threads();
  const Loop loop = widest();
  for (auto _ : s) {
    sy::parallel_for(0, threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        benchmark::DoNotOptimize(loop.run(0.5f));
      }
    });
  }
  s.counters["GFLOPS"] =
      benchmark::Counter(2e-9 * loop.lanes * kChains * double(kSteps) * threads,
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(roofline_f32)->UseRealTime();

}  // namespace
