// Pooling of images of three sizes by three windows, in both orders of memory,
// and points of a grid: one source for both libraries.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "benchmarks/both.h"

namespace {

using lib::IntArrayRef;
using lib::Tensor;
using Sizes = std::vector<int64_t>;

struct Window {
  const char* name;
  int64_t size, stride, padding;
};
constexpr Window kWindows[] = {
    {"2", 2, 2, 0}, {"3s2", 3, 2, 1}, {"3", 3, 1, 1}};

// f(tensor) of a tensor that make() returns, made once.
template <class Make, class F>
void measure(const std::string& name, Make make, F f) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& s) {
    [[maybe_unused]] const Mode mode;
    const auto x = make();
    for (auto _ : s) benchmark::DoNotOptimize(f(x));
  })->UseRealTime();
}

void pools(const std::string& of, const Sizes& sizes, bool last,
           lib::ScalarType dtype = lib::kFloat) {
  const auto make = [=] {
    const Tensor x = lib::randn(sizes).to(dtype);
    return last ? x.contiguous(lib::MemoryFormat::ChannelsLast) : x;
  };
  const auto name = [=](const std::string& what) {
    return "pool_" + what + "/" + of + (last ? "_last" : "");
  };
  for (const Window& w : kWindows) {
    const Sizes k{w.size, w.size}, s{w.stride, w.stride},
        p{w.padding, w.padding};
    const Sizes one{1, 1};
    const auto named = [=](const std::string& what) {
      return name(what + w.name);
    };
    measure(named("max"), make,
            [=](const Tensor& x) { return lib::max_pool2d(x, k, s, p); });
    measure(named("max_at"), make, [=](const Tensor& x) {
      return lib::max_pool2d_with_indices(x, k, s, p);
    });
    measure(named("avg"), make,
            [=](const Tensor& x) { return lib::avg_pool2d(x, k, s, p); });
    using Three = std::vector<Tensor>;
    const auto with_result = [=] {
      const Tensor x = make();
      const auto [v, at] = lib::max_pool2d_with_indices(x, k, s, p);
      return Three{v, x, at};
    };
    measure(named("max_back"), with_result, [=](const Three& x) {
      return lib::max_pool2d_with_indices_backward(x[0], x[1], k, s, p, one,
                                                   false, x[2]);
    });
    measure(named("avg_back"), with_result, [=](const Three& x) {
      return lib::avg_pool2d_backward(x[0], x[1], k, s, p, false, true, {});
    });
  }
  for (const int64_t n : {1, 7}) {
    const Sizes to{n, n};
    const std::string count = std::to_string(n);
    measure(name("adaptive_avg" + count), make,
            [=](const Tensor& x) { return lib::_adaptive_avg_pool2d(x, to); });
    measure(name("adaptive_max" + count), make,
            [=](const Tensor& x) { return lib::adaptive_max_pool2d(x, to); });
    using Two = std::vector<Tensor>;
    measure(
        name("adaptive_avg_back" + count),
        [=] {
          const Tensor x = make();
          return Two{lib::_adaptive_avg_pool2d(x, to), x};
        },
        [](const Two& x) {
          return lib::_adaptive_avg_pool2d_backward(x[0], x[1]);
        });
  }
}

void other_dims() {
  const auto rows = [] { return lib::randn({32, 64, 1024}); };
  const auto volumes = [] { return lib::randn({2, 16, 16, 56, 56}); };
  measure("pool_max1d_2", rows,
          [](const Tensor& x) { return lib::max_pool1d(x, {2}); });
  measure("pool_max1d_3", rows,
          [](const Tensor& x) { return lib::max_pool1d(x, {3}, {1}, {1}); });
  measure("pool_avg1d_3", rows,
          [](const Tensor& x) { return lib::avg_pool1d(x, {3}, {1}, {1}); });
  measure("pool_max3d_2", volumes, [](const Tensor& x) {
    return lib::max_pool3d(x, {2, 2, 2});
  });
  measure("pool_max3d_3", volumes, [](const Tensor& x) {
    return lib::max_pool3d(x, {3, 3, 3}, {2, 2, 2}, {1, 1, 1});
  });
  measure("pool_avg3d_2", volumes, [](const Tensor& x) {
    return lib::avg_pool3d(x, {2, 2, 2});
  });
  measure("pool_avg3d_3", volumes, [](const Tensor& x) {
    return lib::avg_pool3d(x, {3, 3, 3}, {2, 2, 2}, {1, 1, 1});
  });
}

// Ways to sample: 0 linear, 1 nearest, 2 cubic; beyond: 0, border, reflection.
void grids() {
  const char* const modes[] = {"linear", "nearest", "cubic"};
  const char* const ends[] = {"zeros", "border", "reflection"};
  using Two = std::vector<Tensor>;
  const auto images = [] {
    return Two{lib::randn({8, 64, 56, 56}),
               lib::rand({8, 56, 56, 2}) * 2.2 - 1.1};
  };
  const auto few = [] {
    return Two{lib::randn({8, 3, 224, 224}),
               lib::rand({8, 224, 224, 2}) * 2.2 - 1.1};
  };
  const auto volumes = [] {
    return Two{lib::randn({2, 16, 16, 56, 56}),
               lib::rand({2, 16, 56, 56, 3}) * 2.2 - 1.1};
  };
  for (const int64_t mode : {0, 1, 2}) {
    for (const int64_t beyond : {0, 1, 2}) {
      for (const bool align : {false, true}) {
        const std::string name = std::string(modes[mode]) + "_" + ends[beyond] +
                                 (align ? "_align" : "");
        measure("grid_" + name, images, [=](const Two& x) {
          return lib::grid_sampler_2d(x[0], x[1], mode, beyond, align);
        });
        measure("grid_few_" + name, few, [=](const Two& x) {
          return lib::grid_sampler_2d(x[0], x[1], mode, beyond, align);
        });
        measure("grid_back_" + name, images, [=](const Two& x) {
          return lib::grid_sampler_2d_backward(x[0], x[0], x[1], mode, beyond,
                                               align, {true, true});
        });
        if (mode == 2) continue;
        measure("grid_3d_" + name, volumes, [=](const Two& x) {
          return lib::grid_sampler_3d(x[0], x[1], mode, beyond, align);
        });
      }
    }
  }
}

[[maybe_unused]] const int registered = [] {
  const Sizes a{8, 64, 56, 56}, b{8, 512, 14, 14}, c{32, 16, 32, 32};
  for (const bool last : {false, true}) {
    pools("56", a, last);
    pools("14", b, last);
    pools("32", c, last);
    pools("bf16", a, last, lib::kBFloat16);
  }
  other_dims();
  grids();
  return 0;
}();

}  // namespace
