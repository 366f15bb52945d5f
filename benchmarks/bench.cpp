// The benchmarks of design and release notes. Names and sizes are those of
// benchmarks/peer/torch_bench.cpp, so that `./sy bench --peer` can pair them.
// Everything runs in the default mode: gradients may be recorded, none are.

#include <benchmark/benchmark.h>
#include <sy/library.h>
#include <sy/sy.h>

namespace {

using benchmark::DoNotOptimize;
using benchmark::State;
using sy::Tensor;

Tensor noop_cpu(const Tensor& a) { return a; }

SY_LIBRARY(bench, m) { m.def("noop(Tensor a) -> Tensor"); }
SY_LIBRARY_IMPL(bench, CPU, m) { m.impl("noop", SY_FN(noop_cpu)); }

// ---- one call ---------------------------------------------------------------

// The baseline of the two dispatch_ figures: the same function, called through
// a pointer.
void direct_noop(State& s) {
  Tensor (*volatile f)(const Tensor&) = &noop_cpu;
  const Tensor a = sy::ones({1});
  for (auto _ : s) DoNotOptimize(f(a));
}
BENCHMARK(direct_noop);

void dispatch_typed_noop(State& s) {
  const auto op = sy::Dispatcher::singleton()
                      .find_or_throw("bench::noop")
                      .typed<Tensor(const Tensor&)>();
  const Tensor a = sy::ones({1});
  for (auto _ : s) DoNotOptimize(op.call(a));
}
BENCHMARK(dispatch_typed_noop);

void dispatch_boxed_noop(State& s) {
  const auto op = sy::Dispatcher::singleton().find_or_throw("bench::noop");
  const Tensor a = sy::ones({1});
  for (auto _ : s) {
    sy::Value args[] = {sy::Value::borrowed(a)}, results[1];
    op.call_boxed(args, 1, results, 1);
    DoNotOptimize(results[0]);
  }
}
BENCHMARK(dispatch_boxed_noop);

void find_schema(State& s) {
  for (auto _ : s) {
    DoNotOptimize(
        sy::Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor"));
  }
}
BENCHMARK(find_schema);

void empty_1(State& s) {
  for (auto _ : s) DoNotOptimize(sy::empty({1}));
}
BENCHMARK(empty_1);

void add_1(State& s) {
  const Tensor a = sy::ones({1}), b = sy::ones({1});
  for (auto _ : s) DoNotOptimize(sy::add(a, b));
}
BENCHMARK(add_1);

void add_out_1(State& s) {
  const Tensor a = sy::ones({1}), b = sy::ones({1});
  Tensor out = sy::ones({1});
  for (auto _ : s) DoNotOptimize(sy::add_out(out, a, b));
}
BENCHMARK(add_out_1);

void add_inplace_1(State& s) {
  Tensor a = sy::ones({1});
  const Tensor b = sy::zeros({1});
  for (auto _ : s) DoNotOptimize(a.add_(b));
}
BENCHMARK(add_inplace_1);

// The neighbours of add_1: nothing may be tuned to one size.
void add_3(State& s) {
  const Tensor a = sy::ones({3}), b = sy::ones({3});
  for (auto _ : s) DoNotOptimize(sy::add(a, b));
}
BENCHMARK(add_3);
void add_7(State& s) {
  const Tensor a = sy::ones({7}), b = sy::ones({7});
  for (auto _ : s) DoNotOptimize(sy::add(a, b));
}
BENCHMARK(add_7);
void add_5x3_strided(State& s) {
  const Tensor a = sy::ones({3, 5}).t(), b = sy::ones({5, 3});
  for (auto _ : s) DoNotOptimize(sy::add(a, b));
}
BENCHMARK(add_5x3_strided);

void relu_1(State& s) {
  const Tensor a = sy::ones({1});
  for (auto _ : s) DoNotOptimize(sy::relu(a));
}
BENCHMARK(relu_1);

void view_1(State& s) {
  const Tensor a = sy::ones({4, 4});
  for (auto _ : s) DoNotOptimize(a.view({16}));
}
BENCHMARK(view_1);

void transpose_1(State& s) {
  const Tensor a = sy::ones({4, 4});
  for (auto _ : s) DoNotOptimize(a.transpose(0, 1));
}
BENCHMARK(transpose_1);

void select_1(State& s) {
  const Tensor a = sy::ones({4, 4});
  for (auto _ : s) DoNotOptimize(a.select(0, 1));
}
BENCHMARK(select_1);

void sum_1(State& s) {
  const Tensor a = sy::ones({4, 4});
  for (auto _ : s) DoNotOptimize(sy::sum(a));
}
BENCHMARK(sum_1);

void matmul_4(State& s) {
  const Tensor a = sy::ones({4, 4}), b = sy::ones({4, 4});
  for (auto _ : s) DoNotOptimize(sy::mm(a, b));
}
BENCHMARK(matmul_4);

void linear_8x64(State& s) {
  const Tensor x = sy::ones({8, 64}), w = sy::ones({64, 64}),
               b = sy::ones({64});
  for (auto _ : s) DoNotOptimize(sy::linear(x, w, b));
}
BENCHMARK(linear_8x64);

// ---- gradients --------------------------------------------------------------

void add_grad_fwd(State& s) {
  const Tensor a = sy::ones({1}, sy::requires_grad()), b = sy::ones({1});
  for (auto _ : s) DoNotOptimize(sy::mul(a, b));
}
BENCHMARK(add_grad_fwd);

void chain_grad(State& s) {
  constexpr int kLength = 100;
  const Tensor a = sy::ones({1}, sy::requires_grad()), b = sy::ones({1});
  for (auto _ : s) {
    Tensor x = a;
    for (int i = 0; i < kLength; ++i) x = sy::mul(x, b);
    x.backward();
    a.mutable_grad().reset();
  }
  s.SetItemsProcessed(s.iterations() * kLength);
}
BENCHMARK(chain_grad);

void mlp_train(State& s) {
  const auto weight = [](std::initializer_list<int64_t> sizes) {
    return sy::randn(sizes).mul_(0.1).requires_grad_();
  };
  const std::vector<Tensor> parameters = {weight({128, 64}), weight({128}),
                                          weight({10, 128}), weight({10})};
  const Tensor x = sy::randn({32, 64});
  const Tensor y = sy::randint(10, {32}, sy::kLong);
  for (auto _ : s) {
    for (const Tensor& p : parameters) p.mutable_grad().reset();
    const Tensor hidden = sy::relu(sy::linear(x, parameters[0], parameters[1]));
    const Tensor out = sy::linear(hidden, parameters[2], parameters[3]);
    sy::cross_entropy_loss(out, y).backward();
    const sy::NoGradGuard no_grad;
    for (Tensor p : parameters) p.add_(p.grad(), -0.1);
  }
}
BENCHMARK(mlp_train)->UseRealTime();

// ---- sizes ------------------------------------------------------------------

template <class F>
void elementwise(State& s, int bytes, F f) {
  const int64_t n = s.range(0);
  const Tensor a = sy::randn({n}), b = sy::randn({n});
  for (auto _ : s) DoNotOptimize(f(a, b));
  s.SetBytesProcessed(s.iterations() * n * bytes);
}
#define SY_ELEMENTWISE(name, expression, bytes)                         \
  void name(State& s) {                                                 \
    elementwise(s, bytes,                                               \
                [](const Tensor& a, [[maybe_unused]] const Tensor& b) { \
                  return expression;                                    \
                });                                                     \
  }                                                                     \
  BENCHMARK(name)                                                       \
      ->Arg(1 << 12)                                                    \
      ->Arg(1 << 16)                                                    \
      ->Arg(1 << 20)                                                    \
      ->Arg(1 << 24)                                                    \
      ->UseRealTime()
SY_ELEMENTWISE(ew_add, sy::add(a, b), 12);
SY_ELEMENTWISE(ew_mul_scalar, sy::mul(a, 2.0), 8);
SY_ELEMENTWISE(ew_exp, sy::exp(a), 8);
SY_ELEMENTWISE(ew_tanh, sy::tanh(a), 8);
SY_ELEMENTWISE(ew_gelu, sy::gelu(a), 8);
SY_ELEMENTWISE(ew_sigmoid, sy::sigmoid(a), 8);
SY_ELEMENTWISE(red_sum, sy::sum(a), 4);
SY_ELEMENTWISE(ew_chain, sy::mul(sy::sigmoid(sy::add(a, b)), sy::tanh(a)), 12);
SY_ELEMENTWISE(copy_bf16, a.to(sy::kBFloat16), 6);

void ew_add_transposed(State& s) {
  const int64_t n = s.range(0);
  const Tensor a = sy::randn({n, n}), b = sy::randn({n, n}).t();
  for (auto _ : s) DoNotOptimize(sy::add(a, b));
  s.SetBytesProcessed(s.iterations() * n * n * 12);
}
BENCHMARK(ew_add_transposed)->Arg(1024)->Arg(4096)->UseRealTime();

void ew_add_bcast(State& s) {
  const int64_t n = s.range(0);
  const Tensor a = sy::randn({n, n}), b = sy::randn({n});
  for (auto _ : s) DoNotOptimize(sy::add(a, b));
  s.SetBytesProcessed(s.iterations() * n * n * 8);
}
BENCHMARK(ew_add_bcast)->Arg(1024)->Arg(4096)->UseRealTime();

void sum_over(State& s, int64_t dim) {
  const int64_t n = s.range(0);
  const Tensor a = sy::randn({n, n});
  for (auto _ : s) DoNotOptimize(sy::sum(a, {dim}));
  s.SetBytesProcessed(s.iterations() * n * n * 4);
}
void sum_dim0(State& s) { sum_over(s, 0); }
void sum_dim1(State& s) { sum_over(s, 1); }
BENCHMARK(sum_dim0)->Arg(1024)->Arg(4096)->UseRealTime();
BENCHMARK(sum_dim1)->Arg(1024)->Arg(4096)->UseRealTime();

void softmax(State& s) {
  const Tensor a = sy::randn({s.range(0), 1024});
  for (auto _ : s) DoNotOptimize(sy::softmax(a, -1));
  s.SetBytesProcessed(s.iterations() * a.numel() * 8);
}
BENCHMARK(softmax)->Arg(64)->Arg(4096)->UseRealTime();

void layer_norm(State& s) {
  const Tensor a = sy::randn({s.range(0), 768});
  const Tensor w = sy::randn({768}), b = sy::randn({768});
  for (auto _ : s) DoNotOptimize(sy::layer_norm(a, {768}, w, b));
  s.SetBytesProcessed(s.iterations() * a.numel() * 8);
}
BENCHMARK(layer_norm)->Arg(64)->Arg(4096)->UseRealTime();

void sdpa(State& s) {
  const Tensor q = sy::randn({4, 12, 256, 64});
  for (auto _ : s) DoNotOptimize(sy::scaled_dot_product_attention(q, q, q));
}
BENCHMARK(sdpa)->UseRealTime();

void gather_embed(State& s) {
  const Tensor w = sy::randn({30000, 384});
  const Tensor i = sy::randint(30000, {4096}, sy::kLong);
  for (auto _ : s) DoNotOptimize(sy::embedding(w, i));
  s.SetBytesProcessed(s.iterations() * 4096 * 384 * 8);
}
BENCHMARK(gather_embed)->UseRealTime();

void matrix_product(State& s, sy::ScalarType dtype) {
  const int64_t n = s.range(0);
  const Tensor a = sy::randn({n, n}).to(dtype), b = sy::randn({n, n}).to(dtype);
  for (auto _ : s) DoNotOptimize(sy::mm(a, b));
  s.counters["GFLOPS"] = benchmark::Counter(
      2e-9 * double(n) * double(n) * double(n) * double(s.iterations()),
      benchmark::Counter::kIsRate);
}
void mm_f32(State& s) { matrix_product(s, sy::kFloat); }
void mm_f64(State& s) { matrix_product(s, sy::kDouble); }
void mm_bf16(State& s) { matrix_product(s, sy::kBFloat16); }
// The names are those of the peer's templates.
BENCHMARK(mm_f32)
    ->Name("mm<at::kFloat>")
    ->Arg(64)
    ->Arg(256)
    ->Arg(1024)
    ->Arg(2048)
    ->UseRealTime();
BENCHMARK(mm_f64)
    ->Name("mm<at::kDouble>")
    ->Arg(512)
    ->Arg(1024)
    ->Arg(2048)
    ->UseRealTime();
BENCHMARK(mm_bf16)
    ->Name("mm<at::kBFloat16>")
    ->Arg(256)
    ->Arg(1024)
    ->Arg(2048)
    ->UseRealTime();

void conv3x3(State& s) {
  const Tensor x = sy::randn({8, 64, 56, 56}), w = sy::randn({64, 64, 3, 3});
  for (auto _ : s) DoNotOptimize(sy::conv2d(x, w, {}, 1, 1));
  s.counters["GFLOPS"] =
      benchmark::Counter(2e-9 * 8 * 64 * 64 * 9 * 56 * 56,
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(conv3x3)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
