#include "aten/backend/region.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "aten/backend/node.h"
#include "aten/backend/region_builder.h"
#include "backends/cuda/compile/jit.h"
#include "test/backends/cuda/numeric_fixture.h"
#include "test/backends/cuda/runtime_fixture.h"

// The region engine against the CPU's.

namespace sy::cuda::testing {
namespace {

class RegionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = jit_mode();
    set_jit_mode(JitMode::kBackground);
  }
  void TearDown() override { set_jit_mode(before_); }

 private:
  JitMode before_ = JitMode::kBackground;
};

const NodeDesc& node_of(const char* name) {
  const NodeDesc* const d = node_desc(
      Dispatcher::singleton().find_or_throw(str("aten::{}", name)).entry());
  SY_INTERNAL_ASSERT(d != nullptr, "{} has no program", name);
  return *d;
}

// A region, and the same operands on both devices.
class Trial {
 public:
  explicit Trial(std::vector<int64_t> sizes, bool open = false)
      : sizes_(sizes),
        builder_(open ? std::vector<int64_t>(sizes.size(), kOpen) : sizes),
        open_(open) {}

  // From now on, operands of the device begin so many elements after an
  // address that packs take. They are contiguous.
  void shift(int64_t elements) { shift_ = elements; }

  int input(const Tensor& t) {
    inputs_.push_back(t);
    const int v = open_ ? builder_.input(t.scalar_type(), open_strides(t))
                        : builder_.input(t);
    dtypes_.resize(static_cast<size_t>(v) + 1, kFloat);
    dtypes_[static_cast<size_t>(v)] = t.scalar_type();
    return v;
  }
  int op(const char* name, std::vector<int> values,
         std::vector<Scalar> scalars = {}) {
    const PointwiseOp& p = *node_of(name).pointwise;
    std::vector<Tensor> shapes;
    std::vector<const TensorBase*> tensors;
    for (const int v : values) {
      shapes.push_back(
          empty({1}, TensorOptions(dtypes_[static_cast<size_t>(v)])));
    }
    for (const Tensor& t : shapes) tensors.push_back(&t);
    scalars.resize(p.n_scalars, Scalar(int64_t{1}));
    const PointwiseArgs args{tensors.data(), scalars.data()};
    PointwisePlan plan;
    plan_pointwise(p, args, &plan);
    return note(builder_.pointwise(p, args, values), plan.result, p.n_outputs);
  }
  int reduce(const char* name, int value, uint64_t dims,
             std::vector<Scalar> scalars = {}) {
    const ReduceOp& r = *node_of(name).reduce;
    const Tensor like =
        empty(sizes_, TensorOptions(dtypes_[static_cast<size_t>(value)]));
    scalars.resize(r.n_scalars, Scalar(int64_t{1}));
    std::vector<int64_t> list;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if ((dims >> d & 1) != 0) list.push_back(static_cast<int64_t>(d));
    }
    ReduceArgs args{&like};
    args.dims = list;
    args.scalars = scalars.data();
    ReducePlan plan;
    plan_reduce(r, args, &plan);
    return note(builder_.reduce(r, args, value, dims), plan.results[0],
                r.n_results);
  }
  int cast(int value, ScalarType to) {
    return note(builder_.cast(value, to), to, 1);
  }
  // `dims`: those that the output has elements along; the others are 1 there.
  void output(int value, uint64_t dims = ~uint64_t{0}, int donor = -1,
              std::optional<ScalarType> dtype = std::nullopt) {
    std::vector<int64_t> sizes = sizes_;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if ((dims >> d & 1) == 0) sizes[d] = 1;
    }
    const Tensor t = empty(
        sizes,
        TensorOptions(dtype.value_or(dtypes_[static_cast<size_t>(value)])));
    outputs_.push_back(donor < 0 ? t : inputs_[static_cast<size_t>(donor)]);
    donors_.push_back(donor);
    if (open_) {
      builder_.output(value, t.scalar_type(), open_strides(t), donor);
    } else {
      builder_.output(value, t, donor);
    }
  }

  RegionBuilder& builder() { return builder_; }
  std::string refused() {
    RegionReason why;
    return supports_region(kCUDA, builder_.region(), &why) ? "" : why.text;
  }
  std::vector<Tensor> run(DeviceType type) {
    const RegionHandle h = prepare_region(type, builder_.region());
    std::vector<Tensor> in, out;
    for (const Tensor& t : inputs_) {
      const Tensor there =
          shift_ != 0 ? shifted(t, type)
                      : Tensor(make_tensor_strided(t.sizes(), t.strides(),
                                                   t.scalar_type(),
                                                   with_index(Device(type))));
      there.copy_(t);
      in.push_back(there);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      out.push_back(donors_[i] >= 0 ? in[static_cast<size_t>(donors_[i])]
                                    : shifted(outputs_[i], type));
    }
    run_region(h, sizes_, in, out, builder_.uniforms());
    return out;
  }
  // Runs on both. `size` 0: the same bits.
  void expect(const std::string& what, double size = 0) {
    const std::vector<Tensor> cpu = run(kCPU), cuda = run(kCUDA);
    for (size_t i = 0; i < cpu.size(); ++i) {
      const ScalarType t = cpu[i].scalar_type();
      EXPECT_TRUE(size == 0 || !is_floating_type(t)
                      ? same(cpu[i], cuda[i])
                      : near(cpu[i], cuda[i], t, size))
          << what << ", output " << i << "\n"
          << region_text(builder_.region());
    }
  }

 private:
  Tensor shifted(const Tensor& like, DeviceType type) const {
    return empty({like.numel() + shift_}, like.options().device(Device(type)))
        .slice(0, shift_, like.numel() + shift_)
        .view(like.sizes());
  }
  int note(int value, ScalarType dtype, int n) {
    dtypes_.resize(static_cast<size_t>(value + n), dtype);
    return value;
  }
  std::vector<int64_t> open_strides(const Tensor& t) const {
    std::vector<int64_t> strides(sizes_.size(), 0);
    for (int64_t d = 1; d <= t.dim(); ++d) {
      if (t.size(-d) != 1)
        strides[sizes_.size() - static_cast<size_t>(d)] = kOpen;
    }
    return strides;
  }

  std::vector<int64_t> sizes_;
  RegionBuilder builder_;
  bool open_;
  int64_t shift_ = 0;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<int> donors_;
  std::vector<ScalarType> dtypes_;
};

int64_t launches() {
  synchronize(with_index(Device(kCUDA)));
  return counters().launches;
}

constexpr ScalarType kSome[] = {kFloat, kHalf, kDouble, kInt, kByte};

TEST_F(RegionTest, chains_give_the_bits_of_the_cpu) {
  for (const ScalarType dtype : kSome) {
    for (const bool open : {false, true}) {
      Trial t({5, 33}, open);
      const int x = t.input(numbers({5, 33}, dtype, 1));
      const int y = t.input(numbers({33, 5}, dtype, 2).t());
      const int row = t.input(numbers({33}, dtype, 3));
      const int column = t.input(numbers({5, 1}, dtype, 4));
      int v = t.op("mul.Tensor", {x, y});
      v = t.op("add.Tensor", {v, row}, {Scalar(int64_t{2})});
      v = t.op("sub.Tensor", {v, column});
      const int m = t.op("maximum", {v, x});
      t.output(m);
      t.output(t.op("gt.Tensor", {m, y}));
      t.expect(str("{} open {}", dtype, open));
    }
  }
}

TEST_F(RegionTest, numbers_of_64_bits) {
  Trial t({40});
  const int x = t.input(numbers({40}, kLong, 1));
  t.output(t.op("add.Tensor", {x, x}, {Scalar(int64_t{3})}));
  t.run(kCUDA);
  finish_compiling();
  const int64_t before = launches();
  t.expect("int64");
  EXPECT_EQ(launches() - before, 1) << "its kernel is compiled";
}

TEST_F(RegionTest, dtypes_change_on_the_way) {
  Trial t({3, 70});
  const int x = t.input(numbers({3, 70}, kFloat, 1));
  const int n = t.cast(x, kInt);
  const int h = t.cast(t.op("mul.Tensor", {x, x}), kHalf);
  t.output(t.op("add.Tensor", {t.cast(n, kFloat), t.cast(h, kFloat)}));
  t.output(h);
  t.output(n);
  t.output(h, ~uint64_t{0}, -1, kDouble);
  t.expect("casts");
}

void softmax_of(Trial* t, int x, uint64_t dims) {
  const int m = t->reduce("amax", x, dims);
  const int e = t->op("exp", {t->op("sub.Tensor", {x, m})});
  const int s = t->reduce("sum.dim_IntList", e, dims);
  t->output(t->op("div.Tensor", {e, s}));
}

TEST_F(RegionTest, softmax_along_any_dims) {
  for (const ScalarType dtype : {kFloat, kBFloat16}) {
    for (const uint64_t dims : {1, 2, 4, 6, 7}) {
      Trial t({4, 9, 65});
      softmax_of(&t, t.input(numbers({4, 9, 65}, dtype, 5)), dims);
      t.expect(str("{} dims {}", dtype, dims), 1);
    }
  }
}

// The kernels are those of the open region, whatever the sizes.
TEST_F(RegionTest, long_rows_and_columns_in_pieces) {
  for (const auto& sizes :
       std::vector<std::vector<int64_t>>{{2, 70001}, {70001, 2}, {1, 40000}}) {
    for (const uint64_t dims : {1, 2, 3}) {
      Trial t(sizes, true);
      const int x = t.input(numbers(sizes, kFloat, 6));
      const int s =
          t.reduce("sum.dim_IntList", t.op("mul.Tensor", {x, x}), dims);
      t.output(s, ~dims);
      t.output(t.op("mul.Tensor", {x, s}));
      t.expect(str("{} dims {}", IntArrayRef(sizes), dims), 1e5);
    }
  }
}

TEST_F(RegionTest, layer_norm_with_its_statistics) {
  Trial t({6, 200});
  const int x = t.input(numbers({6, 200}, kFloat, 7));
  const int w = t.input(numbers({200}, kFloat, 8));
  const int b = t.input(numbers({200}, kFloat, 9));
  const int mean = t.reduce("mean.dim", x, 2);
  const int d = t.op("sub.Tensor", {x, mean});
  const int var = t.reduce("mean.dim", t.op("mul.Tensor", {d, d}), 2);
  const int rstd = t.op("rsqrt", {var});
  t.output(t.op("add.Tensor",
                {t.op("mul.Tensor", {t.op("mul.Tensor", {d, rstd}), w}), b}));
  t.output(mean, 1);
  t.output(rstd, 1);
  t.expect("layer_norm", 20);
}

TEST_F(RegionTest, several_accumulators_and_results) {
  for (const uint64_t dims : {1, 2, 3}) {
    Trial t({40, 130});
    const int x = t.input(numbers({40, 130}, kFloat, 10));
    const int v = t.reduce("_var_mean", x, dims);
    t.output(v, ~dims);
    t.output(v + 1, ~dims);
    const int m = t.reduce("_aminmax_dims", x, dims);
    t.output(t.op("sub.Tensor", {m + 1, m}), ~dims);
    t.output(t.reduce("any.dim", t.op("gt.Tensor", {x, v + 1}), dims), ~dims);
    t.expect(str("dims {}", dims), 100);
  }
}

TEST_F(RegionTest, outputs_in_the_memory_of_inputs) {
  Trial t({4, 50});
  const int x = t.input(numbers({4, 50}, kFloat, 11));
  const int y = t.input(numbers({4, 50}, kFloat, 12));
  const int s = t.reduce("sum.dim_IntList", x, 2);
  t.output(t.op("add.Tensor", {x, y}), ~uint64_t{0}, 0);
  t.output(s, 1);
  t.output(t.op("mul.Tensor", {x, s}));
  t.expect("donor", 1e3);
}

TEST_F(RegionTest, empty_and_without_dims) {
  Trial none({0, 4});
  const int x = none.input(numbers({0, 4}, kFloat));
  none.output(none.op("exp", {x}));
  none.output(none.reduce("sum.dim_IntList", x, 1), 2);
  none.expect("no rows");
  Trial point(std::vector<int64_t>{});
  point.output(point.op("neg", {point.input(numbers({}, kFloat, 3))}));
  point.expect("no dims");
}

TEST_F(RegionTest, says_what_it_does_not_take) {
  Trial t({4, 5, 6});
  const int a = t.input(numbers({4, 5, 1}, kFloat));
  const int b = t.input(numbers({1, 5, 6}, kFloat));
  t.builder().output(t.builder().product(a, b, 2, kFloat), kFloat,
                     std::vector<int64_t>{6, 0, 1});
  EXPECT_NE(t.refused().find("a product"), std::string::npos) << t.refused();
  // A program of too many operands for the interpreter.
  Trial wide({3});
  std::vector<int> values;
  std::vector<program::Step> steps;
  for (int i = 0; i < 12; ++i) {
    values.push_back(wide.input(numbers({3}, kFloat, 1)));
    const auto sum = static_cast<uint8_t>(12 + i);
    steps.push_back({lang::Prim::add, sum, static_cast<uint8_t>(i),
                     static_cast<uint8_t>(i == 0 ? 0 : sum - 1), 0});
  }
  const program::Result last{23, false};
  program::Program sum;
  sum.steps = steps.data();
  sum.results = &last;
  sum.n_steps = 12;
  sum.n_registers = 24;
  sum.n_inputs = 12;
  const ScalarType result = kFloat;
  wide.builder().output(
      wide.builder().pointwise(sum, kFloat, values, {&result, 1}), kFloat,
      std::vector<int64_t>{1});
  EXPECT_EQ(wide.refused(), "");
  set_jit_mode(JitMode::kOff);
  EXPECT_NE(wide.refused().find("SWITCHYARD_CUDA_JIT"), std::string::npos)
      << wide.refused();
}

// ---- packs of elements

TEST_F(RegionTest, rows_of_elements_at_any_address) {
  for (const ScalarType dtype : {kFloat, kBFloat16, kByte}) {
    for (const int64_t shift : {0, 1, 3, 8}) {
      for (const int64_t n : {1, 7, 16, 61, 5000}) {
        Trial t({n}, true);
        t.shift(shift);
        const int x = t.input(numbers({n}, dtype, 1));
        const int y = t.input(numbers({n}, dtype, 2));
        const int m = t.op("mul.Tensor", {x, y});
        t.output(t.op("add.Tensor", {m, x}, {Scalar(int64_t{3})}));
        t.output(t.op("gt.Tensor", {m, y}));
        t.expect(str("{} shift {} n {}", dtype, shift, n));
      }
    }
  }
}

TEST_F(RegionTest, packs_of_several_dtypes_and_in_place) {
  for (const int64_t n : {64, 1000, 1003}) {
    Trial t({n});
    const int x = t.input(numbers({n}, kBFloat16, 1));
    const int y = t.input(numbers({n}, kFloat, 2));
    const int i = t.input(numbers({n}, kInt, 3));
    const int one = t.input(numbers({1}, kFloat, 4));
    const int v = t.op("add.Tensor", {t.cast(x, kFloat), y});
    const int w = t.op("mul.Tensor", {v, t.cast(i, kFloat)});
    t.output(t.op("sub.Tensor", {w, one}), ~uint64_t{0}, 1);
    t.output(x, ~uint64_t{0}, -1, kDouble);
    t.output(t.cast(w, kHalf));
    t.expect(str("n {}", n));
  }
}

TEST_F(RegionTest, packs_of_rows_with_what_is_broadcast) {
  for (const int64_t columns : {32, 33, 256}) {
    for (const ScalarType dtype : {kFloat, kHalf}) {
      Trial t({6, columns}, true);
      const int x = t.input(numbers({6, columns}, dtype, 1));
      const int row = t.input(numbers({columns}, dtype, 2));
      const int column = t.input(numbers({6, 1}, dtype, 3));
      const int v = t.op("add.Tensor", {t.op("mul.Tensor", {x, row}), column});
      t.output(v);
      t.output(t.op("sub.Tensor", {v, x}));
      t.expect(str("{} columns {}", dtype, columns));
    }
  }
}

// ---- rows that are read once

// One kernel gives the bits of the interpreters, which reduce one after the
// other.
void expect_one_kernel(Trial& t, const std::string& what) {
  set_jit_mode(JitMode::kOff);
  const std::vector<Tensor> steps = t.run(kCUDA);
  set_jit_mode(JitMode::kWait);
  const int64_t before = launches();
  const std::vector<Tensor> row = t.run(kCUDA);
  EXPECT_EQ(launches() - before, 1) << what;
  for (size_t i = 0; i < row.size(); ++i) {
    EXPECT_TRUE(same(steps[i].to(kCPU), row[i])) << what << ", output " << i;
  }
}

TEST_F(RegionTest, softmax_reads_rows_once) {
  for (const ScalarType dtype : {kFloat, kBFloat16}) {
    for (const auto& sizes : std::vector<std::vector<int64_t>>{
             {4, 5}, {1, 33}, {40, 1000}, {3, 1500}, {2, 13000}}) {
      Trial t(sizes, true);
      softmax_of(&t, t.input(numbers(sizes, dtype, 5)), 2);
      const std::string what = str("{} {}", dtype, IntArrayRef(sizes));
      expect_one_kernel(t, what);
      t.expect(what, 1);
    }
  }
}

TEST_F(RegionTest, norms_read_rows_once) {
  for (const int64_t columns : {31, 200, 1100}) {
    Trial t({3, 2, columns}, true);
    const int x = t.input(numbers({3, 2, columns}, kHalf, 7));
    const int y = t.input(numbers({3, 2, columns}, kFloat, 6));
    const int w = t.input(numbers({columns}, kFloat, 8));
    const int each = t.input(numbers({3, 2, 1}, kFloat, 9));
    const int z =
        t.op("add.Tensor", {t.cast(x, kFloat), y}, {Scalar(int64_t{3})});
    const int mean = t.reduce("mean.dim", z, 4);
    const int d = t.op("sub.Tensor", {z, mean});
    const int var = t.reduce("mean.dim", t.op("mul.Tensor", {d, d}), 4);
    const int rstd = t.op("rsqrt", {t.op("add.Tensor", {var, each})});
    t.output(t.op("mul.Tensor", {t.op("mul.Tensor", {d, rstd}), w}),
             ~uint64_t{0}, 1);
    t.output(z, ~uint64_t{0}, -1, kDouble);
    t.output(mean, 3);
    t.output(rstd, 3, -1, kHalf);
    expect_one_kernel(t, str("columns {}", columns));
  }
}

TEST_F(RegionTest, rows_of_integers_and_truth_values) {
  Trial t({9, 70});
  const int x = t.input(numbers({9, 70}, kInt, 3));
  const int v = t.reduce("_aminmax_dims", x, 2);
  const int range = t.op("sub.Tensor", {v + 1, v});
  t.output(t.op("sub.Tensor", {x, range}));
  t.output(t.reduce("any.dim", t.op("gt.Tensor", {x, v}), 2), 1);
  expect_one_kernel(t, "int32");
  t.expect("int32");
}

// ---- without kernels

// A compiler that waits as long as the object lives, or refuses.
class Compiler {
 public:
  explicit Compiler(bool waits) {
    const std::string folder = std::getenv("TEST_TMPDIR");
    gate_ = folder + "/gate";
    if (waits) {
      std::ofstream(gate_) << "";
      const std::string script = folder + "/compiler";
      std::ofstream(script) << "#!/bin/sh\nwhile [ -e " << gate_
                            << " ]; do sleep 0.05; done\nexec g++ \"$@\"\n";
      std::filesystem::permissions(script, std::filesystem::perms::owner_all);
      setenv("FAKE_CUDA_CXX", script.c_str(), 1);
    } else {
      setenv("FAKE_CUDA_CXX", "false", 1);
    }
  }
  ~Compiler() {
    std::filesystem::remove(gate_);
    finish_compiling();
    unsetenv("FAKE_CUDA_CXX");
  }
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

 private:
  std::string gate_;
};

// Several steps: reductions of rows and columns, outputs of other dims, an
// output that takes the memory of an input which another one is.
void add_steps(Trial& t, const char* first) {
  const int x = t.input(numbers({5, 70}, kFloat, 21));
  const int y = t.input(numbers({5, 70}, kHalf, 22));
  const int z = t.op(first, {x, t.cast(y, kFloat)}, {Scalar(int64_t{2})});
  const int s = t.reduce("sum.dim_IntList", t.op("mul.Tensor", {z, z}), 2);
  const int m = t.reduce("amax", x, 1);
  const int v = t.reduce("_var_mean", z, 2);
  t.output(t.op("sub.Tensor", {t.op("mul.Tensor", {z, s}), m}), ~uint64_t{0},
           0);
  t.output(x);
  t.output(t.op("gt.Tensor", {z, x}));
  t.output(s, 1, -1, kDouble);
  t.output(v + 1, 1);
}

TEST_F(RegionTest, without_a_compiler_the_bits_are_the_same) {
  Trial t({5, 70});
  add_steps(t, "add.Tensor");
  set_jit_mode(JitMode::kOff);
  const std::vector<Tensor> off = t.run(kCUDA);
  t.expect("interpreted", 1e4);
  set_jit_mode(JitMode::kWait);
  const std::vector<Tensor> on = t.run(kCUDA);
  for (size_t i = 0; i < on.size(); ++i) {
    EXPECT_TRUE(same(off[i].to(kCPU), on[i])) << "output " << i;
  }
}

TEST_F(RegionTest, no_run_waits_for_the_compiler) {
  set_jit_mode(JitMode::kOff);
  Trial t({5, 70});
  add_steps(t, "mul.Tensor");
  t.run(kCUDA);  // the interpreters
  set_jit_mode(JitMode::kBackground);
  std::vector<Tensor> first, later;
  int64_t before = 0, meanwhile = 0;
  {
    const Compiler held(true);
    before = launches();
    first = t.run(kCUDA);  // would wait for ever
    meanwhile = launches() - before;
  }              // compiles
  t.run(kCUDA);  // asks for the rest
  finish_compiling();
  before = launches();
  later = t.run(kCUDA);
  EXPECT_LT(launches() - before, meanwhile) << "kernels run several nodes";
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(same(first[i].to(kCPU), later[i])) << "output " << i;
  }
}

TEST_F(RegionTest, what_does_not_compile_stays_interpreted) {
  set_jit_mode(JitMode::kOff);
  Trial t({40});
  const int x = t.input(numbers({40}, kFloat, 1));
  t.output(t.op("neg", {t.op("abs", {t.op("neg", {x})})}));
  t.run(kCUDA);
  const Compiler refuses(false);
  for (const JitMode mode : {JitMode::kBackground, JitMode::kWait}) {
    set_jit_mode(mode);
    t.expect("refused");
    finish_compiling();
    t.expect("refused, again");
  }
}

TEST_F(RegionTest, integers_divided_by_zero) {
  Trial t({3});
  const int x = t.input(numbers({3}, kInt, 1));
  const int z = t.input(zeros({3}, TensorOptions(kInt)));
  t.output(t.op("remainder.Tensor", {x, z}));
  EXPECT_NE(error_of([&] { t.run(kCUDA); }), "");
}

TEST_F(RegionTest, a_handle_runs_with_other_sizes_and_is_the_same_each_time) {
  Trial t({3, 40000}, true);
  softmax_of(&t, t.input(numbers({3, 40000}, kFloat, 13)), 2);
  const Tensor first = t.run(kCUDA)[0].to(kCPU);
  EXPECT_TRUE(same(first, t.run(kCUDA)[0]));
}

}  // namespace
}  // namespace sy::cuda::testing
