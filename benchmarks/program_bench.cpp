// Time of each primitive per element, over runs that stay in L1 (4096
// elements), and of what moves memory over large ones.
//
//   program_bench --benchmark_filter='f32/exp$'    SY_ISA=avx2 for the others

#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/tiles/runner.h"

namespace {

using namespace sy::cpu::tiles;
using sy::ScalarType;
using sy::lang::Prim;

constexpr int64_t kRun = 4096;

// Memory aligned and zeroed as that of tensors.
struct Block {
  explicit Block(size_t bytes) : data(bytes + 64) {}
  char* get() {
    return data.data() + (-reinterpret_cast<uintptr_t>(data.data()) & 63);
  }
  std::vector<char> data;
};

// Values between 0.5 and 1, or small integers that are not 0.
void set_values(char* at, ComputeType type, bool is_bool, int64_t n) {
  std::vector<double> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    values[static_cast<size_t>(i)] =
        type <= ComputeType::f64 && !is_bool
            ? 0.5 + static_cast<double>(i * 7919 % 1000) / 2000
            : static_cast<double>(1 + i * 7919 % 5);
  }
  const ScalarType to = is_bool ? ScalarType::Bool : storage_of(type);
  convert_fn(ScalarType::Double, to)(at, values.data(), n);
}

void per_element(benchmark::State& state, int64_t n) {
  state.counters["ns"] =
      benchmark::Counter(static_cast<double>(n) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}

void primitive(benchmark::State& state, Prim prim, ComputeType type,
               int64_t n) {
  using sy::lang::PrimType;
  const PrimType kind = sy::lang::kPrims[static_cast<int>(prim)].type;
  const bool bools =
      kind == PrimType::B_B || kind == PrimType::BB_B || kind == PrimType::B_T;
  Block a(kRun * 8), b(kRun * 8), c(kRun * 8), d(kRun * 8);
  set_values(a.get(), type, bools || kind == PrimType::BTT_T, kRun);
  set_values(b.get(), type, bools, kRun);
  set_values(c.get(), type, bools, kRun);
  const PrimFn fn = prim_fn(prim, type);
  for (auto _ : state) {
    fn(d.get(), a.get(), b.get(), c.get(), 0, n);
    benchmark::ClobberMemory();
  }
  per_element(state, n);
}

void conversion(benchmark::State& state, ScalarType from, ScalarType to) {
  Block a(kRun * 8), d(kRun * 8);
  convert_fn(ScalarType::Double, from);
  std::vector<double> values(kRun, 1.25);
  convert_fn(ScalarType::Double, from)(a.get(), values.data(), kRun);
  const ConvertFn fn = convert_fn(from, to);
  for (auto _ : state) {
    fn(d.get(), a.get(), kRun);
    benchmark::ClobberMemory();
  }
  per_element(state, kRun);
}

void reduction(benchmark::State& state, Reduction r, ComputeType type) {
  const int64_t n = state.range(0);
  Block a(static_cast<size_t>(n) * 8);
  set_values(a.get(), type, false, n);
  const ReduceFn fn = reduce_fn(r, type);
  for (auto _ : state) {
    Uniform acc{};
    fn(&acc, a.get(), n);
    benchmark::DoNotOptimize(acc);
  }
  per_element(state, n);
}

void sum_rows(benchmark::State& state) {
  constexpr int64_t kN = 4096;
  std::vector<float> x(kN * kN, 1.f);
  std::vector<double> acc(kN);
  const ReduceRowsFn fn = reduce_rows_fn(Reduction::sum, ComputeType::f32);
  for (auto _ : state) {
    std::memset(acc.data(), 0, kN * 8);
    fn(acc.data(), x.data(), kN * 4, kN, kN);
    benchmark::ClobberMemory();
  }
  per_element(state, kN * kN);
}
BENCHMARK(sum_rows)->Unit(benchmark::kMillisecond);

struct AddProgram {
  Step step{Prim::add, 2, 0, 1, 0};
  Result result{2, false};
  Program program;
  AddProgram() {
    program.steps = &step;
    program.results = &result;
    program.n_steps = 1;
    program.n_registers = 3;
    program.n_inputs = 2;
  }
};

void program_add(benchmark::State& state) {
  const int64_t n = state.range(0);
  Block a(n * 4), b(n * 4), d(n * 4);
  const AddProgram add;
  const Operand in[2] = {{a.get(), 4, ScalarType::Float},
                         {b.get(), 4, ScalarType::Float}};
  const Operand out{d.get(), 4, ScalarType::Float};
  for (auto _ : state) {
    run(add.program, ComputeType::f32, in, nullptr, &out, n);
    benchmark::ClobberMemory();
  }
  per_element(state, n);
}
BENCHMARK(program_add)->Arg(1)->Arg(7)->Arg(4096)->Arg(1 << 20)->Arg(1 << 24);

// sigmoid(a + b) * tanh(a), a and b of the dtype given.
void program_chain(benchmark::State& state, ScalarType dtype) {
  const int64_t n = state.range(0);
  std::vector<double> x(n, 0.75);
  std::vector<float> a(n), b(n), d(n);
  convert_fn(ScalarType::Double, dtype)(a.data(), x.data(), n);
  convert_fn(ScalarType::Double, dtype)(b.data(), x.data(), n);
  const Step steps[] = {{Prim::add, 2, 0, 1, 0},
                        {Prim::sigmoid, 2, 2, 0, 0},
                        {Prim::tanh, 3, 0, 0, 0},
                        {Prim::mul, 2, 2, 3, 0}};
  const Result result{2, false};
  Program p;
  p.steps = steps;
  p.results = &result;
  p.n_steps = 4;
  p.n_registers = 4;
  p.n_inputs = 2;
  const int64_t size = sy::kScalarTypeInfo[static_cast<int>(dtype)].size;
  const Operand in[2] = {{a.data(), size, dtype}, {b.data(), size, dtype}};
  const Operand out{d.data(), size, dtype};
  for (auto _ : state) {
    run(p, ComputeType::f32, in, nullptr, &out, n);
    benchmark::ClobberMemory();
  }
  per_element(state, n);
}
BENCHMARK_CAPTURE(program_chain, f32, ScalarType::Float)
    ->Arg(1)
    ->Arg(4096)
    ->Arg(1 << 20);
BENCHMARK_CAPTURE(program_chain, bf16, ScalarType::BFloat16)
    ->Arg(4096)
    ->Arg(1 << 20);

// d = a + b with b transposed.
void add_transposed(benchmark::State& state) {
  const int64_t n = state.range(0);
  Block a(n * n * 4), b(n * n * 4), d(n * n * 4);
  const AddProgram add;
  const Operand in[2] = {{nullptr, 4, ScalarType::Float},
                         {nullptr, 4, ScalarType::Float}};
  const Operand out{nullptr, 4, ScalarType::Float};
  char* const data[] = {a.get(), b.get(), d.get()};
  const int64_t inner[] = {4, 4 * n};
  const int64_t outer[] = {4 * n, 4, 4 * n};
  for (auto _ : state) {
    const Runner runner(add.program, ComputeType::f32, in, nullptr, &out);
    runner.run_2d_transposed(data, inner, outer, n, n, 2);
    benchmark::ClobberMemory();
  }
  per_element(state, n * n);
}
BENCHMARK(add_transposed)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);

void register_all() {
  constexpr const char* kNames[] = {"f32", "f64", "u8",  "i8",
                                    "i16", "i32", "i64", "b8"};
  for (int t = 0; t < kNumComputeTypes; ++t) {
    for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
      const Prim prim = static_cast<Prim>(p);
      const ComputeType type = static_cast<ComputeType>(t);
      if (prim_fn(prim, type) == nullptr) continue;
      const std::string name =
          std::string(kNames[t]) + "/" + std::string(sy::lang::kPrims[p].name);
      benchmark::RegisterBenchmark(name.c_str(), primitive, prim, type, kRun);
      benchmark::RegisterBenchmark((name + "/one").c_str(), primitive, prim,
                                   type, 1);
    }
  }
  for (int i = 0; i < sy::kNumScalarTypes; ++i) {
    for (int j = 0; j < sy::kNumScalarTypes; ++j) {
      const std::string name = std::string("convert/") +
                               sy::kScalarTypeInfo[i].name + "/" +
                               sy::kScalarTypeInfo[j].name;
      benchmark::RegisterBenchmark(name.c_str(), conversion,
                                   static_cast<ScalarType>(i),
                                   static_cast<ScalarType>(j));
    }
  }
  constexpr const char* kReductions[] = {"sum", "prod", "max",
                                         "min", "any",  "all"};
  for (int r = 0; r < kNumReductions; ++r) {
    for (int t = 0; t < kNumComputeTypes; ++t) {
      const std::string name =
          std::string("reduce/") + kReductions[r] + "/" + kNames[t];
      benchmark::RegisterBenchmark(name.c_str(), reduction,
                                   static_cast<Reduction>(r),
                                   static_cast<ComputeType>(t))
          ->Arg(16)
          ->Arg(4096)
          ->Arg(1 << 20);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
