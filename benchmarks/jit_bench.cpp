// The cost of compiling programs, and of keeping them.
//
//   jit_bench       SWITCHYARD_JIT_LIBRARY says where the compiler is

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backends/cpu/jit/kernels.h"
#include "backends/cpu/jit/store.h"
#include "backends/cpu/tiles/machine_code.h"
#include "backends/cpu/tiles/runner.h"
#include "c10/process/error.h"

namespace {

using namespace sy;
using lang::Prim;

// Ten steps on three inputs; another program for each number.
struct Sample {
  std::vector<program::Step> steps;
  program::Result result{3, false};
  program::Program program;

  explicit Sample(int number, bool costly = false) {
    constexpr Prim kCheap[] = {Prim::add, Prim::sub, Prim::mul, Prim::maximum,
                               Prim::minimum};
    steps = {{Prim::mul, 3, 0, 1, 0}};
    for (int i = 0; i < 8; ++i, number /= 5) {
      steps.push_back({kCheap[number % 5], 3, 3, uint8_t(i % 3), 0});
    }
    steps.push_back({costly ? Prim::tanh : Prim::abs, 3, 3, 0, 0});
    program.steps = steps.data();
    program.n_steps = static_cast<uint16_t>(steps.size());
    program.results = &result;
    program.n_inputs = 3;
    program.n_registers = 4;
  }

  cpu::tiles::MachineCode code() const {
    const cpu::tiles::Operand o{nullptr, 4, ScalarType::Float};
    const cpu::tiles::Operand inputs[] = {o, o, o};
    const auto found = cpu::tiles::MachineCode::find(
        program, program::ComputeType::f32, inputs, &o, 1 << 20);
    if (!found.exists()) {
      std::fprintf(stderr, "nothing is compiled: %s\n",
                   cpu::jit::why_no_compiler().c_str());
      std::exit(1);
    }
    return found;
  }
};

void compile(benchmark::State& s, bool costly) {
  cpu::jit::set_store("");
  Sample(0, costly).code();  // the first pays for LLVM
  for (auto _ : s) {
    cpu::jit::clear();
    Sample(1, costly).code();
  }
}
void jit_compile(benchmark::State& s) { compile(s, false); }
void jit_compile_tanh(benchmark::State& s) { compile(s, true); }

void jit_read_from_disk(benchmark::State& s) {
  const std::string folder =
      std::filesystem::temp_directory_path() / str("sy-jit-bench-{}", getpid());
  cpu::jit::set_store(folder);
  Sample(1).code();
  for (auto _ : s) {
    cpu::jit::clear();
    Sample(1).code();
  }
  cpu::jit::set_store("");
  std::filesystem::remove_all(folder);
}

void jit_find(benchmark::State& s) {
  const Sample sample(1);
  sample.code();
  for (auto _ : s) sample.code();
}

double resident_mb() {
  std::ifstream in("/proc/self/statm");
  double pages = 0;
  in >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

// The memory of the process: with LLVM and one program, with a thousand more,
// and with a thousand others in their place.
void jit_memory_1000(benchmark::State& s) {
  cpu::jit::set_store("");
  for (auto _ : s) {
    cpu::jit::clear();
    cpu::jit::set_capacity(1000);
    Sample(0).code();
    s.counters["MB_before"] = resident_mb();
    for (int i = 1; i <= 1000; ++i) Sample(i).code();
    s.counters["MB_1000"] = resident_mb();
    for (int i = 1001; i <= 3000; ++i) Sample(i).code();
    s.counters["MB_others"] = resident_mb();
    s.counters["KB_code"] =
        static_cast<double>(cpu::jit::counters().bytes) / 1e3;
  }
}

BENCHMARK(jit_compile)->Unit(benchmark::kMicrosecond);
BENCHMARK(jit_compile_tanh)->Unit(benchmark::kMicrosecond);
BENCHMARK(jit_read_from_disk)->Unit(benchmark::kMicrosecond);
BENCHMARK(jit_find);
BENCHMARK(jit_memory_1000)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace

int main(int argc, char** argv) {
  cpu::jit::set_mode(cpu::jit::Mode::kWait);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
