#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/normalization.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "aten/program/program_domain.h"
#include "c10/process/parallel.h"
#include "test/aten/tensor_values.h"
#include "test/backends/cpu/region/trace.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

std::mt19937& random() {
  static std::mt19937 engine(7);
  return engine;
}

Tensor numbers(IntArrayRef sizes, ScalarType dtype, double low = -3,
               double high = 3) {
  Tensor t(make_tensor(sizes, kDouble, Device(kCPU)));
  std::uniform_real_distribution<double> draw(low, high);
  double* const p = static_cast<double*>(t.data_ptr());
  for (int64_t i = 0; i < t.numel(); ++i) p[i] = draw(random());
  return t.to(dtype);
}

// Bit by bit, NaN equal to NaN.
void expect_same(const Tensor& got, const Tensor& want, const char* what) {
  ASSERT_EQ(got.scalar_type(), want.scalar_type()) << what;
  ASSERT_EQ(ints(got.sizes()), ints(want.sizes())) << what;
  const std::vector<double> a = values(got), b = values(want);
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    ASSERT_EQ(a[i], b[i]) << what << ", element " << i;
  }
}
void expect_near(const Tensor& got, const Tensor& want, double tolerance,
                 const char* what) {
  const std::vector<double> a = values(got), b = values(want);
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) continue;
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i])))
        << what << ", element " << i;
  }
}
void expect_run(RegionTrace& t, const char* what) {
  const std::vector<Tensor>& got = t.run();
  for (size_t i = 0; i < got.size(); ++i) {
    expect_same(got[i], t.wanted()[i], what);
  }
}

constexpr ScalarType kDtypes[] = {kFloat, kDouble, kBFloat16, kHalf,
                                  kLong,  kInt,    kByte,     kBool};

std::vector<Scalar> scalars_of(const PointwiseOp& op) {
  std::vector<Scalar> out;
  for (int i = 0; i < op.n_scalars; ++i) {
    if (op.defaults != nullptr) {
      out.push_back(op.defaults[i].is_int ? Scalar(op.defaults[i].i)
                                          : Scalar(op.defaults[i].d));
    } else {
      out.push_back(Scalar(int64_t{1}));
    }
  }
  return out;
}

// ---- one operator ----

TEST(CpuRegion, EveryPointwiseOperatorIsItsRegion) {
  int count = 0;
  const int64_t rows = 5, columns = 33;
  for (const OperatorHandle& op : Dispatcher::singleton().operators()) {
    const NodeDesc* const node = node_desc(op.entry());
    if (node == nullptr || node->pointwise == nullptr) continue;
    const PointwiseOp& p = *node->pointwise;
    if (p.n_inputs == 0) continue;
    for (const ScalarType dtype : kDtypes) {
      for (int layout = 0; layout < 3; ++layout) {
        RegionTrace t({rows, columns}, layout == 2);
        std::vector<Traced> in;
        for (int i = 0; i < p.n_inputs; ++i) {
          const double low = dtype == kByte ? 1 : 0.25;
          Tensor x = layout == 1 && i % 2 == 0
                         ? numbers({columns, rows}, dtype, low, 3).t()
                     : i % 3 == 2 ? numbers({columns}, dtype, low, 3)
                                  : numbers({rows, columns}, dtype, low, 3);
          in.push_back(t.input(x));
        }
        Traced r;
        try {
          r = t.pointwise(p, in, scalars_of(p));
        } catch (const Error&) {
          break;  // not for this dtype
        }
        for (int i = 0; i < p.n_outputs; ++i) t.output(t.other(r, i));
        expect_run(t, p.name);
        if (HasFatalFailure()) return;
        ++count;
      }
    }
  }
  EXPECT_GT(count, 1000);
}

TEST(CpuRegion, EveryReductionIsItsRegion) {
  int count = 0;
  for (const OperatorHandle& op : Dispatcher::singleton().operators()) {
    const NodeDesc* const node = node_desc(op.entry());
    if (node == nullptr || node->reduce == nullptr) continue;
    const ReduceOp& r = *node->reduce;
    for (const ScalarType dtype : kDtypes) {
      for (int which = 0; which < 4; ++which) {
        const std::vector<int64_t> sizes = {6, 5, 37};
        RegionTrace t(sizes, which == 3);
        const Traced x = t.input(numbers(sizes, dtype, 0.5, 3));
        const std::vector<int64_t> dims = which == 0   ? std::vector<int64_t>{2}
                                          : which == 1 ? std::vector<int64_t>{0}
                                          : which == 2
                                              ? std::vector<int64_t>{0, 1, 2}
                                              : std::vector<int64_t>{1, 2};
        std::vector<Scalar> scalars(r.n_scalars, Scalar(int64_t{1}));
        Traced first;
        try {
          first = t.reduce(r, x, dims, scalars);
        } catch (const Error&) {
          break;
        }
        for (int i = 0; i < r.n_results; ++i) t.output(t.other(first, i));
        const std::vector<Tensor>& got = t.run();
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_EQ(got[i].scalar_type(), t.wanted()[i].scalar_type());
          const double tolerance = dtype == kDouble  ? 1e-12
                                   : dtype == kFloat ? 1e-6
                                   : dtype == kHalf  ? 2e-3
                                                     : 1e-2;
          expect_near(got[i], t.wanted()[i],
                      is_floating_type(dtype) ? tolerance : 1e-6, r.name);
        }
        if (HasFatalFailure()) return;
        ++count;
      }
    }
  }
  EXPECT_GT(count, 100);
}

// ---- chains ----

// Random programs of cheap steps with values that several read, comparisons
// and casts: the eager answers to the bit.
TEST(CpuRegion, RandomChainsGiveTheEagerBits) {
  const char* const unary[] = {"neg",     "abs",    "exp",  "tanh",
                               "sigmoid", "square", "relu", "sqrt"};
  const char* const binary[] = {"add.Tensor", "mul.Tensor", "sub.Tensor",
                                "maximum", "minimum"};
  for (int round = 0; round < 60; ++round) {
    std::vector<int64_t> sizes = {1 + static_cast<int64_t>(random()() % 7),
                                  1 + static_cast<int64_t>(random()() % 900)};
    RegionTrace t(sizes, round % 3 == 0);
    std::vector<Traced> live;
    const ScalarType dtypes[] = {kFloat, kFloat, kDouble, kBFloat16};
    const int n_inputs = 1 + static_cast<int>(random()() % 4);
    for (int i = 0; i < n_inputs; ++i) {
      const ScalarType dtype = dtypes[random()() % 4];
      switch (random()() % 4) {
        case 0: live.push_back(t.input(numbers({sizes[1]}, dtype))); break;
        case 1: live.push_back(t.input(numbers({sizes[0], 1}, dtype))); break;
        case 2:
          live.push_back(t.input(numbers({sizes[1], sizes[0]}, dtype).t()));
          break;
        default: live.push_back(t.input(numbers(sizes, dtype)));
      }
    }
    live.push_back(live[0]);
    const int steps = 2 + static_cast<int>(random()() % 30);
    const auto any = [&]() -> Traced { return live[random()() % live.size()]; };
    for (int i = 0; i < steps; ++i) {
      switch (random()() % 5) {
        case 0:
        case 1: live.push_back(t.call(unary[random()() % 8], {any()})); break;
        case 2: {
          const Traced a = any(), b = any();
          const Traced c = t.call("gt.Tensor", {a, b});
          live.push_back(t.call("where.self", {c, a, b}));
          break;
        }
        default: {
          const char* const op = binary[random()() % 5];
          const Traced a = any(), b = any();
          const bool alpha = op[0] == 'a' || op[0] == 's';
          live.push_back(t.call(op, {a, b},
                                alpha ? std::vector<Scalar>{Scalar(1.5)}
                                      : std::vector<Scalar>{}));
        }
      }
    }
    // Several outputs, of all parts of the program.
    for (int i = 0; i < 3; ++i) t.output(any());
    t.output(live.back());
    expect_run(t, "chain");
    if (HasFatalFailure()) {
      ADD_FAILURE() << "round " << round << "\n" << region_text(t.region());
      return;
    }
  }
}

TEST(CpuRegion, ChainsAreOneWalk) {
  RegionTrace t({64, 1000});
  const Traced a = t.input(numbers({64, 1000}, kFloat));
  const Traced b = t.input(numbers({1000}, kFloat));
  const Traced s = t.call("add.Tensor", {a, b}, {Scalar(int64_t{1})});
  t.output(t.call("mul.Tensor", {t.call("sigmoid", {s}), t.call("tanh", {a})}));
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    expect_run(t, "sigmoid(a + b) * tanh(a)");
  }
  set_num_threads(1);
}

// ---- rows ----

Traced softmax_of(RegionTrace& t, const Traced& x, std::vector<int64_t> dims) {
  const Traced m = t.reduce("amax", x, dims);
  const Traced e =
      t.call("exp", {t.call("sub.Tensor", {x, m}, {Scalar(int64_t{1})})});
  return t.call("div.Tensor", {e, t.reduce("sum.dim_IntList", e, dims)});
}

TEST(CpuRegion, Softmax) {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{3, 7}, {16, 1024}, {1, 5}, {200, 3}, {0, 4}}) {
      for (const int64_t dim : {int64_t{1}, int64_t{0}}) {
        RegionTrace t(sizes);
        const Traced x = t.input(numbers(sizes, dtype));
        if (sizes[0] == 0 && dim == 0) continue;
        t.output(softmax_of(t, x, {dim}));
        const Tensor& got = t.run()[0];
        expect_near(got, t.wanted()[0], dtype == kBFloat16 ? 1e-2 : 1e-6,
                    "softmax");
        expect_near(got, softmax(x.eager, dim),
                    dtype == kBFloat16 ? 2e-2 : 1e-5, "sy::softmax");
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Rows too long to stay in a cache are taken in pieces.
TEST(CpuRegion, LongRows) {
  const std::vector<int64_t> sizes = {2, 300000};
  RegionTrace t(sizes);
  const Traced x = t.input(numbers(sizes, kFloat));
  t.output(softmax_of(t, x, {1}));
  const Tensor one = t.run()[0].clone();
  expect_near(one, t.wanted()[0], 1e-5, "softmax");
  set_num_threads(3);
  expect_same(t.run()[0], one, "whatever the threads");
  set_num_threads(1);
  RegionTrace all({300, 2000});
  const Traced y = all.input(numbers({300, 2000}, kFloat));
  all.output(all.reduce("sum.dim_IntList", all.call("square", {y}), {0, 1}));
  all.output(softmax_of(all, y, {0}));
  const auto& got = all.run();
  expect_near(got[0], all.wanted()[0], 1e-6, "sum of squares");
  expect_near(got[1], all.wanted()[1], 1e-5, "softmax of columns");
}

// More than the last cache holds: the next row is fetched ahead.
TEST(CpuRegion, ManyRows) {
  const std::vector<int64_t> sizes = {2050, 1001};
  RegionTrace t(sizes);
  const Traced x = t.input(numbers(sizes, kFloat));
  t.output(softmax_of(t, x, {1}));
  const Tensor one = t.run()[0].clone();
  expect_near(one, t.wanted()[0], 1e-6, "softmax");
  set_num_threads(3);
  expect_same(t.run()[0], one, "whatever the threads");
  set_num_threads(1);
}

// Narrow columns are taken many rows at once.
TEST(CpuRegion, ColumnsOfAnyHeight) {
  for (const int64_t rows : {1, 7, 8, 9, 33, 70, 1000}) {
    for (const int64_t columns : {2, 10, 128, 600}) {
      const std::vector<int64_t> sizes = {rows, columns};
      RegionTrace t(sizes);
      const Traced x = t.input(numbers(sizes, kFloat));
      const Traced y = t.call("square", {x});
      t.output(y);
      const Traced sum = t.reduce("sum.dim_IntList", y, {0});
      t.output(sum);
      t.output(t.call("sub.Tensor", {y, sum}, {Scalar(int64_t{1})}));
      const auto& got = t.run();
      expect_same(got[0], t.wanted()[0], "square");
      expect_near(got[1], t.wanted()[1], 1e-6, "sum");
      expect_near(got[2], t.wanted()[2], 1e-6, "sub");
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CpuRegion, LayerNormAndItsStatistics) {
  const std::vector<int64_t> sizes = {37, 256};
  for (const ScalarType dtype : {kFloat, kDouble}) {
    RegionTrace t(sizes);
    const Traced x = t.input(numbers(sizes, dtype));
    const Traced w = t.input(numbers({256}, dtype));
    const Traced b = t.input(numbers({256}, dtype));
    const Traced mean = t.reduce("mean.dim", x, {1});
    const Traced d = t.call("sub.Tensor", {x, mean}, {Scalar(int64_t{1})});
    const Traced var = t.reduce("mean.dim", t.call("square", {d}), {1});
    const Traced r = t.call(
        "rsqrt", {t.call("add.Scalar", {var}, {Scalar(1e-5), Scalar(1.0)})});
    const Traced y =
        t.call("add.Tensor",
               {t.call("mul.Tensor", {t.call("mul.Tensor", {d, r}), w}), b},
               {Scalar(int64_t{1})});
    t.output(y);
    t.output(mean);
    t.output(r);
    const auto& got = t.run();
    for (size_t i = 0; i < got.size(); ++i) {
      expect_near(got[i], t.wanted()[i], dtype == kFloat ? 1e-5 : 1e-12,
                  "layer norm");
    }
    expect_near(got[0], layer_norm(x.eager, {256}, w.eager, b.eager, 1e-5),
                dtype == kFloat ? 1e-5 : 1e-12, "sy::layer_norm");
  }
}

// The mean of rows' losses: a reduction of what a reduction gave.
TEST(CpuRegion, CrossEntropy) {
  const std::vector<int64_t> sizes = {50, 123};
  RegionTrace t(sizes);
  const Traced x = t.input(numbers(sizes, kFloat));
  const Traced target = t.input(softmax(numbers(sizes, kFloat), 1));
  const Traced m = t.reduce("amax", x, {1});
  const Traced d = t.call("sub.Tensor", {x, m}, {Scalar(int64_t{1})});
  const Traced s =
      t.call("log", {t.reduce("sum.dim_IntList", t.call("exp", {d}), {1})});
  const Traced p = t.call("sub.Tensor", {d, s}, {Scalar(int64_t{1})});
  const Traced row =
      t.reduce("sum.dim_IntList", t.call("mul.Tensor", {target, p}), {1});
  const Traced loss = t.call("neg", {t.reduce("mean.dim", row, {0})});
  t.output(loss);
  t.output(row);
  const auto& got = t.run();
  expect_near(got[0], t.wanted()[0], 1e-6, "loss");
  expect_near(got[1], t.wanted()[1], 1e-6, "rows");
}

// Rows and columns of the same values, and what is read from both.
TEST(CpuRegion, ReductionsOverSeveralDims) {
  const std::vector<int64_t> sizes = {9, 8, 40};
  for (const bool open : {false, true}) {
    RegionTrace t(sizes, open);
    const Traced x = t.input(
        numbers(sizes, kDouble).transpose(0, 2).contiguous().transpose(0, 2));
    const Traced y = t.call("tanh", {x});
    const Traced rows = t.reduce("sum.dim_IntList", y, {2});
    const Traced columns = t.reduce("sum.dim_IntList", y, {0, 1});
    const Traced middle = t.reduce("amax", y, {1});
    const Traced z = t.call("mul.Tensor", {rows, columns});
    t.output(t.call("add.Tensor", {z, middle}, {Scalar(2.0)}));
    t.output(rows);
    t.output(columns);
    t.output(middle);
    const auto& got = t.run();
    for (size_t i = 0; i < got.size(); ++i) {
      expect_near(got[i], t.wanted()[i], 1e-11, "dims");
    }
  }
}

TEST(CpuRegion, VarianceByItsProgram) {
  for (const int64_t dim : {int64_t{0}, int64_t{1}}) {
    RegionTrace t({70, 600});
    const Traced x = t.input(numbers({70, 600}, kFloat));
    const Traced v =
        t.reduce("_var_mean", t.call("exp", {x}), {dim}, {Scalar(int64_t{1})});
    t.output(v);
    t.output(t.other(v, 1));
    expect_near(t.run()[1], t.wanted()[1], 1e-6, "mean");
    expect_near(t.run()[0], t.wanted()[0], 1e-5, "var");
  }
}

// ---- products ----

TEST(CpuRegion, ProductWithWhatFollows) {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    for (const auto& [m, k, n] : {std::array<int64_t, 3>{5, 7, 3},
                                  {64, 128, 200},
                                  {1, 9, 4},
                                  {3, 0, 2}}) {
      const Tensor a = numbers({m, k}, dtype), b = numbers({k, n}, dtype);
      const Tensor bias = numbers({n}, dtype);
      RegionBuilder r({m, n, k});
      const int va = r.input(a.unsqueeze(1));
      const int vb = r.input(b.t().unsqueeze(0));
      const int vc = r.input(bias.unsqueeze(1));
      const int p = r.product(va, vb, 1 << 2, dtype);
      const Tensor shape = mm(a, b);
      const TensorBase* two[] = {&shape, &bias};
      const Scalar one(int64_t{1});
      const NodeDesc& add = *RegionTrace::node_of("add.Tensor");
      const NodeDesc& relu_node = *RegionTrace::node_of("relu");
      const int s = r.pointwise(*add.pointwise, {two, &one}, {p, vc});
      const TensorBase* just[] = {&shape};
      const int y = r.pointwise(*relu_node.pointwise, {just}, s);
      Tensor out(make_tensor({m, n, 1}, dtype, Device(kCPU)));
      r.output(y, out);
      const Tensor inputs[] = {a.unsqueeze(1), b.t().unsqueeze(0),
                               bias.unsqueeze(1)};
      run_region(prepare_region(kCPU, r.region()), {m, n, k}, inputs, out,
                 r.uniforms());
      expect_same(out.squeeze(2), relu(shape + bias), "relu(a b + bias)");
    }
  }
}

TEST(CpuRegion, ProductsOfBatches) {
  const Tensor a = numbers({4, 6, 10}, kFloat), b = numbers({4, 10, 5}, kFloat);
  const Tensor w = numbers({10, 5}, kFloat);
  for (const bool shared : {false, true}) {
    RegionBuilder r({4, 6, 5, 10});
    const Tensor x = a.unsqueeze(2);
    const Tensor y =
        shared ? w.t().unsqueeze(0) : b.transpose(1, 2).unsqueeze(1);
    const int vx = r.input(x), vy = r.input(y);
    const int p = r.product(vx, vy, 1 << 3, kFloat);
    Tensor out(make_tensor({4, 6, 5, 1}, kFloat, Device(kCPU)));
    r.output(p, out);
    run_region(prepare_region(kCPU, r.region()), {4, 6, 5, 10}, {x, y}, out);
    expect_near(out.squeeze(3), matmul(a, shared ? w : b), 1e-5, "batches");
  }
}

// ---- donation, casts, sizes ----

TEST(CpuRegion, OutputsInTheMemoryOfInputs) {
  const Tensor p = numbers({40, 50}, kFloat), g = numbers({40, 50}, kFloat);
  const Tensor m = numbers({40, 50}, kFloat);
  RegionTrace t({40, 50});
  const Tensor p2 = p.clone(), m2 = m.clone();
  const Traced vp = t.input(p2), vg = t.input(g), vm = t.input(m2);
  const Traced m1 = t.call("add.Tensor", {vm, vg}, {Scalar(0.1)});
  const Traced p1 = t.call("add.Tensor", {vp, m1}, {Scalar(-0.5)});
  // The difference to what was in the memory before.
  const Traced d = t.call("sub.Tensor", {p1, vp}, {Scalar(int64_t{1})});
  t.output(p1, p2, 0);
  t.output(m1, m2, 2);
  t.output(d);
  expect_run(t, "momentum");
  // A reduction of the old values, which the new ones need.
  RegionTrace s({40, 50});
  const Tensor x = numbers({40, 50}, kFloat);
  const Tensor old = x.clone();
  const Traced vx = s.input(x);
  s.output(softmax_of(s, vx, {1}), x, 0);
  expect_near(s.run()[0], softmax(old, 1), 1e-5, "softmax in place");
}

// An input is a result itself, while another result takes its memory.
TEST(CpuRegion, AnInputIsAResultAndADonor) {
  for (const int64_t n : {24, 5000}) {
    for (const int64_t rows : {1, 3}) {
      const Tensor x = numbers({rows, n}, kFloat), given = x.clone();
      const Tensor whole = zeros({rows, 2 * n});
      const Tensor kept = rows == 1 ? zeros({rows, n}) : whole.slice(1, 0, n);
      RegionBuilder b(x.sizes());
      const int v = b.input(x);
      const Tensor two[] = {x, x};
      const PointwiseOp& add =
          *node_desc(
               Dispatcher::singleton().find_or_throw("add.Tensor").entry())
               ->pointwise;
      const TensorBase* const inputs[] = {&two[0], &two[1]};
      const Scalar alpha[] = {1};
      const int same = b.cast(v, kFloat);
      const int sum = b.pointwise(add, {inputs, alpha}, {v, same});
      b.output(sum, x, 0);
      b.output(same, kept);
      run_region(prepare_region(kCPU, b.region()), x.sizes(), {x}, {x, kept},
                 b.uniforms());
      EXPECT_TRUE(equal(kept, given)) << n;
      EXPECT_TRUE(equal(x, given + given)) << n;
    }
  }
}

TEST(CpuRegion, Casts) {
  const Tensor x = numbers({300}, kDouble, -100, 100);
  for (const ScalarType to : kDtypes) {
    for (const ScalarType from : kDtypes) {
      RegionBuilder r(std::vector<int64_t>{300});
      const Tensor in = x.to(from);
      const int c = r.cast(r.input(in), to);
      const Tensor out(make_tensor({300}, to, Device(kCPU)));
      r.output(c, out);
      run_region(prepare_region(kCPU, r.region()), {300}, in, out);
      expect_same(out, in.to(to), "cast");
      // The value is rounded before it is stored as something else.
      const Tensor wide(make_tensor({300}, kDouble, Device(kCPU)));
      RegionBuilder again(std::vector<int64_t>{300});
      again.output(again.cast(again.input(in), to), wide);
      run_region(prepare_region(kCPU, again.region()), {300}, in, wide);
      expect_same(wide, in.to(to).to(kDouble), "cast, stored wider");
    }
  }
}

TEST(CpuRegion, EmptyAndWithoutDims) {
  RegionTrace none({});
  const Traced a = none.input(numbers({}, kFloat));
  none.output(none.call("exp", {a}));
  expect_run(none, "without dims");
  RegionTrace empty({0, 3});
  const Traced b = empty.input(zeros({0, 3}));
  empty.output(empty.call("exp", {b}));
  empty.output(empty.reduce("sum.dim_IntList", b, {0}));
  expect_run(empty, "empty");
  // No elements have a sum, and no maximum.
  RegionBuilder r({2, kOpen});
  const int x = r.input(kFloat, {kOpen, 1});
  const Tensor some = zeros({2, 3});
  const NodeDesc& amax = *RegionTrace::node_of("amax");
  const int m = r.reduce(*amax.reduce, {&some}, x, 2);
  r.output(m, kFloat, {1, 0});
  const RegionHandle h = prepare_region(kCPU, r.region());
  SY_EXPECT_ERROR(run_region(h, {2, 0}, zeros({2, 0}), zeros({2, 1})),
                  ValueError, "amax: expected dims with elements");
  const Tensor out = zeros({2, 1});
  run_region(h, {2, 3}, ones({2, 3}), out);
  EXPECT_EQ(values(out), (std::vector<double>{1, 1}));
}

// A value that does not vary over a dim, where the output does.
TEST(CpuRegion, OutputsAreBroadcast) {
  const Tensor row = numbers({5}, kFloat);
  RegionBuilder r({3, 5});
  const Tensor out = zeros({3, 5});
  r.output(r.input(row), out);
  run_region(prepare_region(kCPU, r.region()), {3, 5}, row, out);
  expect_same(out, row.expand({3, 5}).contiguous(), "rows");
}

TEST(CpuRegion, SaysWhatItDoesNotTake) {
  RegionReason why;
  RegionBuilder conv({1, 2, 3, 4, 5});
  const int x = conv.input(kFloat, {1, 0, 0, 0, 1});
  const int w = conv.input(kFloat, {0, 1, 0, 1, 0});
  conv.output(conv.convolution(x, w, 24, kFloat, RegionWindow{2, 3, 4}), kFloat,
              {1, 1, 1, 0, 0});
  EXPECT_FALSE(supports_region(kCPU, conv.region(), &why));
  EXPECT_NE(std::string(why.text).find("convolution"), std::string::npos);
  SY_EXPECT_ERROR(prepare_region(kCPU, conv.region()), NotImplementedError,
                  "convolution");
  RegionBuilder mixed({2, 3, 4});
  const int a = mixed.input(kFloat, {4, 0, 1});
  const int b = mixed.input(kDouble, {0, 1, 3});
  mixed.output(mixed.product(a, b, 4, kFloat), kFloat, {3, 1, 0});
  EXPECT_FALSE(supports_region(kCPU, mixed.region(), &why));
  EXPECT_NE(std::string(why.text).find("one dtype"), std::string::npos);
  EXPECT_FALSE(supports_region(kMeta, mixed.region(), &why));
  EXPECT_NE(std::string(why.text).find("no region engine"), std::string::npos);
}

TEST(CpuRegion, IntegersDividedByZero) {
  RegionTrace t({4});
  const Traced a = t.input(tensor({1, 2, 3, 4}));
  const Traced b = t.input(tensor({1, 1, 1, 1}));
  t.output(t.call("floor_divide", {a, b}));
  const RegionHandle h = prepare_region(kCPU, t.region());
  const Tensor zero = tensor({1, 0, 1, 1}), out = tensor({0, 0, 0, 0});
  SY_EXPECT_ERROR(
      run_region(h, {4}, {a.eager, zero}, out, t.builder().uniforms()),
      ValueError, "divisor other than 0");
}

}  // namespace
}  // namespace sy
