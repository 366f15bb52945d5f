// Regions that the CPU runs as one, beside the same calls made eagerly.

#include <benchmark/benchmark.h>
#include <sy/sy.h>

#include <functional>
#include <string>
#include <vector>

#include "aten/backend/node.h"
#include "aten/backend/region_builder.h"

namespace {

using sy::Scalar;
using sy::Tensor;

const sy::NodeDesc& node_of(const char* name) {
  return *sy::node_desc(sy::Dispatcher::singleton().find(name).value().entry());
}

// A region being made; tensors say what values are like.
class Program {
 public:
  explicit Program(const Tensor& x) : x_(x), b_(x.sizes()) {}
  int input(const Tensor& t) {
    inputs_.push_back(t);
    return b_.input(t);
  }
  int call(const char* name, std::vector<int> values,
           std::vector<Scalar> scalars = {}) {
    const std::vector<const sy::TensorBase*> like(values.size(), &x_);
    return b_.pointwise(*node_of(name).pointwise, {like.data(), scalars.data()},
                        values);
  }
  int reduce(const char* name, int value) {
    const int64_t last = x_.dim() - 1;
    return b_.reduce(*node_of(name).reduce, {&x_, sy::IntArrayRef(last), true},
                     value, uint64_t{1} << last);
  }
  // A function that runs it, from then on without preparing it again.
  std::function<void()> done(int value) {
    const Tensor out = empty_like(x_);
    b_.output(value, out);
    return [handle = sy::prepare_region(sy::kCPU, b_.region()),
            sizes = x_.sizes().vec(), inputs = inputs_, out,
            uniforms = b_.uniforms()] {
      run_region(handle, sizes, inputs, out, uniforms);
    };
  }

 private:
  const Tensor x_;
  sy::RegionBuilder b_;
  std::vector<Tensor> inputs_;
};

std::function<void()> chain_region(const Tensor& x, const Tensor& y) {
  Program p(x);
  const int a = p.input(x), b = p.input(y);
  const int sum = p.call("aten::add.Tensor", {a, b}, {Scalar(int64_t{1})});
  return p.done(p.call("aten::mul.Tensor", {p.call("aten::sigmoid", {sum}),
                                            p.call("aten::tanh", {a})}));
}

std::function<void()> softmax_region(const Tensor& x) {
  Program p(x);
  const int a = p.input(x);
  const int shifted = p.call("aten::sub.Tensor", {a, p.reduce("aten::amax", a)},
                             {Scalar(int64_t{1})});
  const int e = p.call("aten::exp", {shifted});
  return p.done(
      p.call("aten::div.Tensor", {e, p.reduce("aten::sum.dim_IntList", e)}));
}

std::function<void()> layer_norm_region(const Tensor& x) {
  Program p(x);
  const int a = p.input(x);
  const int d = p.call("aten::sub.Tensor", {a, p.reduce("aten::mean.dim", a)},
                       {Scalar(int64_t{1})});
  const int var = p.reduce("aten::mean.dim", p.call("aten::square", {d}));
  const int r =
      p.call("aten::rsqrt",
             {p.call("aten::add.Scalar", {var}, {Scalar(1e-5), Scalar(1.0)})});
  return p.done(p.call("aten::mul.Tensor", {d, r}));
}

void measure_run(const char* name,
                 std::function<std::function<void()>()> make) {
  benchmark::RegisterBenchmark(name, [make](benchmark::State& s) {
    const sy::InferenceMode mode;
    const std::function<void()> run = make();
    for (auto _ : s) run();
  })->UseRealTime();
}

[[maybe_unused]] const bool registered = [] {
  const auto matrix = [] { return sy::randn({4096, 1024}); };
  const auto keep = [](const Tensor& t) { benchmark::DoNotOptimize(t); };
  measure_run("region_chain_64k", [] {
    return chain_region(sy::randn({1 << 16}), sy::randn({1 << 16}));
  });
  measure_run("eager_chain_64k", [keep] {
    const Tensor x = sy::randn({1 << 16}), y = sy::randn({1 << 16});
    return [=] { keep((x + y).sigmoid() * x.tanh()); };
  });
  measure_run("region_softmax_4096", [=] { return softmax_region(matrix()); });
  measure_run("eager_softmax_4096", [=] {
    return [x = matrix(), keep] {
      const Tensor e = (x - x.amax({1}, true)).exp();
      keep(e / e.sum({1}, true));
    };
  });
  measure_run("kernel_softmax_4096",
              [=] { return [x = matrix(), keep] { keep(softmax(x, 1)); }; });
  measure_run("region_layer_norm_4096",
              [=] { return layer_norm_region(matrix()); });
  measure_run("eager_layer_norm_4096", [=] {
    return [x = matrix(), keep] {
      const Tensor d = x - x.mean({1}, true);
      keep(d * (d.square().mean({1}, true) + 1e-5).rsqrt());
    };
  });
  measure_run("kernel_layer_norm_4096", [=] {
    return [x = matrix(), keep] { keep(layer_norm(x, {1024})); };
  });
  return true;
}();

}  // namespace
