// How cost grows: the same work on more and more of something, and the time of
// one each. A curve that is flat is linear work. One source for both libraries;
// what only one has is beside it in this file.

#include <benchmark/benchmark.h>

#include <chrono>
#include <string>
#include <vector>

#include "benchmarks/both.h"
#ifndef PEER
#include "c10/plugin/library.h"
#include "runtime/load_schema.h"
#endif

namespace {

using benchmark::State;

// An iteration is of `n` things; `each` is the time of one, in seconds.
void per_item(State& s, int64_t n, double seconds) {
  s.SetIterationTime(seconds);
  s.counters["each"] = benchmark::Counter(
      static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate |
                                  benchmark::Counter::kInvert);
}

template <class F>
double seconds_of(const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

// A chain of products, forward and backward; for one product.
void depth(State& s) {
  const int64_t n = s.range(0);
  const lib::Tensor x = lib::ones({4}).requires_grad_(true);
  for (auto _ : s) {
    per_item(s, n, seconds_of([&] {
               lib::Tensor y = x;
               for (int64_t i = 0; i < n; ++i) y = y * 1.0001;
               y.sum().backward();
             }));
  }
}
BENCHMARK(depth)
    ->Name("grow_depth")
    ->RangeMultiplier(10)
    ->Range(100, 100000)
    ->UseManualTime();

// One result of so many leaves, each used twice; for one leaf.
void leaves(State& s) {
  const int64_t n = s.range(0);
  std::vector<lib::Tensor> all;
  for (int64_t i = 0; i < n; ++i) {
    all.push_back(lib::ones({4}).requires_grad_(true));
  }
  for (auto _ : s) {
    per_item(s, n, seconds_of([&] {
               lib::Tensor y = lib::zeros({4});
               for (const lib::Tensor& t : all) y = y + t * t;
               y.sum().backward();
             }));
  }
}
BENCHMARK(leaves)
    ->Name("grow_leaves")
    ->RangeMultiplier(10)
    ->Range(100, 100000)
    ->UseManualTime();

// A tensor more while so many live.
void live_tensors(State& s) {
  const Mode mode;
  std::vector<lib::Tensor> live;
  for (int64_t i = 0; i < s.range(0); ++i) live.push_back(lib::empty({16}));
  for (auto _ : s) benchmark::DoNotOptimize(lib::empty({16}));
}
BENCHMARK(live_tensors)
    ->Name("grow_live_tensors")
    ->RangeMultiplier(10)
    ->Range(100, 1000000);

// Views of one tensor; for one view.
void views(State& s) {
  const int64_t n = s.range(0);
  const lib::Tensor x = lib::ones({n, 4});
  for (auto _ : s) {
    std::vector<lib::Tensor> out;
    per_item(s, n, seconds_of([&] { out = x.unbind(0); }));
  }
}
BENCHMARK(views)
    ->Name("grow_views")
    ->RangeMultiplier(10)
    ->Range(100, 100000)
    ->UseManualTime();

// Tensors in one list; for one of them.
void lists(State& s) {
  const int64_t n = s.range(0);
  std::vector<lib::Tensor> all(static_cast<size_t>(n), lib::ones({4}));
  for (auto _ : s) {
    per_item(s, n,
             seconds_of([&] { benchmark::DoNotOptimize(lib::cat(all, 0)); }));
  }
}
BENCHMARK(lists)
    ->Name("grow_cat")
    ->RangeMultiplier(10)
    ->Range(100, 100000)
    ->UseManualTime();

// Small additions by so many threads at once: time of one on each.
void threads(State& s) {
  const Mode mode;
  const lib::Tensor a = lib::ones({4}), b = lib::ones({4});
  for (auto _ : s) benchmark::DoNotOptimize(lib::add(a, b));
}
BENCHMARK(threads)->Name("grow_threads")->ThreadRange(1, 8)->UseRealTime();

#ifndef PEER

std::string described(const std::string& ns, int64_t n) {
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    out += "- func: " + ns + "::p" + std::to_string(i) +
           "(Tensor self, Tensor other, Scalar alpha=1) -> Tensor\n"
           "  promote: int_to_float\n"
           "  pointwise: self * exp(other) + alpha\n"
           "  derivative: {self: auto, other: auto}\n\n";
  }
  return out;
}

double bytes_in_use() {
  const struct mallinfo2 m = mallinfo2();
  return static_cast<double>(m.uordblks + m.hblkhd);
}

// load_schema of a file of so many operators, and its bytes; for one.
void load_schema(State& s) {
  static int next = 0;
  const int64_t n = s.range(0);
  double bytes = 0;
  for (auto _ : s) {
    const std::string ns = "grow" + std::to_string(next++);
    const std::string text = described(ns, n);
    malloc_trim(0);
    const double before = bytes_in_use();
    sy::SchemaHandle handle;
    per_item(s, n,
             seconds_of([&] { handle = sy::load_schema_text(text, ns); }));
    bytes = (bytes_in_use() - before) / static_cast<double>(n);
    handle.unload();
  }
  s.counters["bytes"] = bytes;
}
BENCHMARK(load_schema)
    ->Name("grow_load_schema")
    ->RangeMultiplier(10)
    ->Range(10, 10000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

// The same operators in so many libraries of a hundred each; for one operator.
void libraries(State& s) {
  static int next = 0;
  const int64_t n = s.range(0);
  for (auto _ : s) {
    std::vector<std::string> texts;
    const int first = next;
    for (int64_t i = 0; i < n; ++i) {
      texts.push_back(described("lib" + std::to_string(next++), 100));
    }
    std::vector<sy::SchemaHandle> handles;
    per_item(s, 100 * n, seconds_of([&] {
               for (int64_t i = 0; i < n; ++i) {
                 handles.push_back(
                     sy::load_schema_text(texts[static_cast<size_t>(i)],
                                          "lib" + std::to_string(first + i)));
               }
             }));
    for (sy::SchemaHandle& h : handles) h.unload();
  }
}
BENCHMARK(libraries)
    ->Name("grow_libraries")
    ->RangeMultiplier(10)
    ->Range(1, 100)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

sy::Tensor first(const sy::Tensor& self, const sy::Tensor&) { return self; }

// So many operators with kernels in C++, of thirty libraries, and their bytes;
// for one. After the first time their entries are there, which stay for ever.
std::vector<sy::RegistrationHandle> thirty_libraries(int64_t n) {
  std::vector<sy::RegistrationHandle> handles;
  for (int64_t l = 0; l < 30; ++l) {
    handles.push_back(sy::register_library(
        sy::LibraryKind::Fragment, "thirty", "", [&](sy::Library& m) {
          for (int64_t i = l * n / 30; i < (l + 1) * n / 30; ++i) {
            m.def("p" + std::to_string(i) +
                      "(Tensor self, Tensor other) -> Tensor",
                  SY_FN(first));
          }
        }));
  }
  return handles;
}

void plugins(State& s) {
  const int64_t n = s.range(0);
  double bytes = 0;
  for (auto _ : s) {
    malloc_trim(0);
    const double before = bytes_in_use();
    std::vector<sy::RegistrationHandle> handles;
    per_item(s, n, seconds_of([&] { handles = thirty_libraries(n); }));
    bytes = (bytes_in_use() - before) / static_cast<double>(n);
  }
  s.counters["bytes"] = bytes;
}
BENCHMARK(plugins)
    ->Name("grow_plugins")
    ->RangeMultiplier(10)
    ->Range(100, 10000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

// Their names and schemas, as `sy ops` lists them; for one of all that there
// are.
void listing(State& s) {
  const auto handles = thirty_libraries(s.range(0));
  for (auto _ : s) {
    size_t n = 0;
    const double seconds = seconds_of([&] {
      for (const sy::OperatorHandle op :
           sy::Dispatcher::singleton().operators()) {
        benchmark::DoNotOptimize(op.entry().schema_text());
        ++n;
      }
    });
    per_item(s, static_cast<int64_t>(n), seconds);
  }
}
BENCHMARK(listing)
    ->Name("grow_listing")
    ->RangeMultiplier(10)
    ->Range(100, 10000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

#endif

}  // namespace
