#pragma once

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdint>
#include <fstream>
#include <string>

// Support for benchmarks of one source for both libraries, whose calls are the
// same: `lib` is the one, PEER builds it for libtorch.

#ifdef PEER
#include <torch/torch.h>
namespace lib = at;
using Mode = c10::InferenceMode;
inline void give_back_memory() {}
#else
#include <sy/sy.h>
namespace lib = sy;
using Mode = sy::InferenceMode;
inline void give_back_memory() { sy::trim_memory(); }
#endif

// How much more of the machine's memory a piece of work took at its peak than
// was in use before it.
class PeakMemory {
 public:
  PeakMemory() {
    give_back_memory();
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM begins anew
    before_ = kilobytes("VmRSS:");
  }
  double megabytes() const {
    return static_cast<double>(kilobytes("VmHWM:") - before_) / 1024;
  }

 private:
  static int64_t kilobytes(const std::string& key) {
    std::ifstream in("/proc/self/status");
    std::string word;
    int64_t n = 0;
    while (in >> word) {
      if (word == key && in >> n) return n;
    }
    return 0;
  }
  int64_t before_ = 0;
};

// The arguments of all names of a file: made by the first that is measured,
// kept.
template <class Tensors>
const Tensors& made_once() {
  static const Tensors& made = *new Tensors;
  return made;
}

// MEASURE(name, expression): an expression of the file's `Tensors x`.
template <class Tensors, class F>
void measure(const std::string& name, F f) {
  benchmark::RegisterBenchmark(name.c_str(), [f](benchmark::State& s) {
    const Tensors& x = made_once<Tensors>();  // outside of the mode
    [[maybe_unused]] const Mode mode;
    for (auto _ : s) benchmark::DoNotOptimize(f(x));
  })->UseRealTime();
}
#define MEASURE(name, expression) \
  measure<Tensors>(               \
      #name, []([[maybe_unused]] const Tensors& x) { return expression; })
