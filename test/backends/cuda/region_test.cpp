#include "aten/backend/region.h"

#include <algorithm>

#include "aten/backend/node.h"
#include "aten/backend/region_builder.h"
#include "backends/cuda/compile/jit.h"
#include "test/backends/cuda/numeric_fixture.h"

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
      const Tensor there(make_tensor_strided(
          t.sizes(), t.strides(), t.scalar_type(), with_index(Device(type))));
      there.copy_(t);
      in.push_back(there);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      out.push_back(donors_[i] >= 0
                        ? in[static_cast<size_t>(donors_[i])]
                        : empty(outputs_[i].sizes(),
                                outputs_[i].options().device(Device(type))));
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
  std::vector<Tensor> inputs_, outputs_;
  std::vector<int> donors_;
  std::vector<ScalarType> dtypes_;
};

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
  set_jit_mode(JitMode::kOff);
  Trial off({3});
  off.output(off.op("neg", {off.input(numbers({3}, kFloat))}));
  EXPECT_NE(off.refused().find("SWITCHYARD_CUDA_JIT"), std::string::npos);
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
