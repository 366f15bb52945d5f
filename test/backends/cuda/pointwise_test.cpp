#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/cuda/backend_gen.h"
#include "backends/cuda/compile/images.h"
#include "backends/cuda/compile/jit.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/engine/pointwise.h"
#include "c10/dispatch/registry.h"
#include "test/backends/cuda/pointwise_fixture.h"
#include "test/c10/with_environment.h"

// The pointwise engine on the fake driver, held to the CPU's: equal bits.

namespace sy::cuda {
namespace {

using testing::difference;
using testing::on_cuda;
using testing::on_gpu;
using testing::pointwise_op;
using testing::Twin;
using testing::twin_of;

// Both ways of running a program: its compiled kernel, and the interpreter.
class Pointwise : public ::testing::TestWithParam<JitMode> {
 protected:
  void SetUp() override { set_jit_mode(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(, Pointwise,
                         ::testing::Values(JitMode::kWait, JitMode::kOff),
                         [](const auto& info) {
                           return info.param == JitMode::kWait ? "Compiled"
                                                               : "Interpreted";
                         });

struct Inputs {
  std::vector<Twin> twins;
  std::vector<const TensorBase*> cpu, cuda;
  explicit Inputs(const std::vector<Twin>& given) : twins(given) {
    for (const Twin& p : twins) {
      cpu.push_back(&p.cpu);
      cuda.push_back(&p.cuda);
    }
  }
};

// Runs the operator on both sides.
void expect_equal(std::string_view name, const std::vector<Twin>& twins,
                  const std::vector<Scalar>& scalars = {}, double share = 0) {
  const PointwiseOp& op = pointwise_op(name);
  ASSERT_EQ(op.n_inputs, twins.size());
  ASSERT_EQ(op.n_scalars, scalars.size());
  const Inputs in(twins);
  const Tensor expected =
      testing::cpu_engine().run(op, {in.cpu.data(), scalars.data()});
  // The second call takes the short way, if there is one.
  for (int i = 0; i < 2; ++i) {
    const Tensor got = kPointwise.run(op, {in.cuda.data(), scalars.data()});
    EXPECT_EQ(got.device(), on_cuda());
    EXPECT_EQ(difference(expected, got, share), "") << name << ", call " << i;
    EXPECT_EQ(got.strides(), expected.strides()) << name;
  }
}

TEST_P(Pointwise, contiguous_of_many_sizes) {
  for (const int64_t n : {1, 2, 3, 17, 255, 256, 1000, 4096, 4097, 70001}) {
    expect_equal("aten::add.Tensor",
                 {twin_of({n}, kFloat, 1), twin_of({n}, kFloat, 2)}, {1});
  }
}

TEST_P(Pointwise, every_dtype) {
  for (const ScalarType t : {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat,
                             kDouble, kBool, kBFloat16}) {
    expect_equal("aten::maximum",
                 {twin_of({3000}, t, 1), twin_of({3000}, t, 2)});
  }
}

TEST_P(Pointwise, results_of_bool) {
  for (const ScalarType t : {kFloat, kHalf, kLong, kDouble, kByte}) {
    expect_equal("aten::lt.Tensor",
                 {twin_of({5000}, t, 1), twin_of({5000}, t, 2)});
  }
}

TEST_P(Pointwise, numbers_are_arguments) {
  const Twin x = twin_of({300}, kFloat, 1), y = twin_of({300}, kFloat, 2);
  for (const double alpha : {2.0, -0.5, 0.0}) {
    expect_equal("aten::add.Tensor", {x, y}, {alpha});
  }
  expect_equal("aten::leaky_relu", {x}, {0.25});
  const Twin h = twin_of({300}, kHalf, 1);
  expect_equal("aten::leaky_relu", {h}, {0.1});
}

TEST_P(Pointwise, zero_dims_and_no_elements) {
  expect_equal("aten::add.Tensor",
               {twin_of({}, kFloat, 1), twin_of({}, kFloat, 2)}, {1});
  expect_equal("aten::add.Tensor",
               {twin_of({0, 3}, kFloat, 1), twin_of({3}, kFloat, 2)}, {1});
  expect_equal("aten::add.Tensor",
               {twin_of({2, 0}, kFloat, 1), twin_of({2, 0}, kFloat, 2)}, {1});
}

TEST_P(Pointwise, one_element_against_many) {
  const Twin x = twin_of({7, 300}, kFloat, 1), one = twin_of({}, kFloat, 2);
  expect_equal("aten::sub.Tensor", {x, one}, {1});
  expect_equal("aten::sub.Tensor", {one, x}, {1});
  expect_equal("aten::sub.Tensor", {twin_of({1, 1}, kFloat, 3), x}, {1});
}

TEST_P(Pointwise, broadcast_along_each_dim) {
  const Twin x = twin_of({6, 40, 24}, kFloat, 1);
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {24}, {40, 1}, {6, 1, 1}, {1, 40, 24}, {6, 1, 24}, {6, 40, 1}}) {
    expect_equal("aten::mul.Tensor", {x, twin_of(sizes, kFloat, 2)});
  }
  expect_equal("aten::mul.Tensor",
               {twin_of({33, 1}, kFloat, 1), twin_of({1, 65}, kFloat, 2)});
}

TEST_P(Pointwise, rows_that_packs_do_not_fit) {
  for (const int64_t n : {7, 8, 12, 30}) {
    expect_equal("aten::mul.Tensor",
                 {twin_of({50, n}, kHalf, 1), twin_of({n}, kHalf, 2)});
  }
}

TEST_P(Pointwise, strides) {
  const Twin x = twin_of({20000}, kFloat, 1), y = twin_of({20000}, kFloat, 2);
  // Every second element; rows with gaps; columns; three dims.
  expect_equal("aten::mul.Tensor",
               {x.view({5000}, {2}, 1), y.view({5000}, {1})});
  expect_equal("aten::mul.Tensor",
               {x.view({60, 100}, {128, 1}), y.view({60, 100}, {100, 1}, 4)});
  expect_equal("aten::mul.Tensor", {x.view({40, 5, 6}, {1, 40, 200}),
                                    y.view({40, 5, 6}, {30, 6, 1})});
  expect_equal("aten::mul.Tensor",
               {x.view({3, 4, 5, 6, 7}, {2, 3, 5, 7, 11}),
                y.view({3, 4, 5, 6, 7}, {840, 210, 42, 7, 1})});
}

TEST_P(Pointwise, more_dims_than_a_kernel_has_by_name) {
  const Twin x = twin_of({60000}, kInt, 1), y = twin_of({60000}, kInt, 2);
  expect_equal("aten::mul.Tensor",
               {x.view({2, 3, 2, 3, 2, 3, 2}, {1, 2, 9, 27, 81, 243, 729}),
                y.view({2, 3, 2, 3, 2, 3, 2}, {3, 5, 10, 35, 100, 251, 800})});
  // Twenty dims that do not merge.
  std::vector<int64_t> sizes(20, 1), a(20, 1), b(20, 1);
  for (size_t d = 0; d < 20; ++d) {
    sizes[d] = d % 2 == 0 || d > 16 ? 2 : 1;
    a[d] = static_cast<int64_t>(3 * d + 1);
    b[d] = static_cast<int64_t>(100 - 2 * d);
  }
  expect_equal("aten::mul.Tensor", {x.view(sizes, a), y.view(sizes, b)});
}

TEST_P(Pointwise, eighteen_dims_of_two) {
  const Twin x = twin_of({1000}, kByte, 1), y = twin_of({1000}, kByte, 2);
  std::vector<int64_t> sizes(18, 2), a(18), b(18);
  for (size_t d = 0; d < 18; ++d) {
    a[d] = static_cast<int64_t>(d % 5 + 1);
    b[d] = static_cast<int64_t>(d * 7 % 11);
  }
  expect_equal("aten::bitwise_xor.Tensor",
               {x.view(sizes, a), y.view(sizes, b)});
}

TEST_P(Pointwise, transposed) {
  for (const ScalarType t : {kFloat, kHalf, kByte, kDouble}) {
    const Twin x = twin_of({9000}, t, 1), y = twin_of({9000}, t, 2);
    expect_equal("aten::maximum",
                 {x.view({70, 101}, {101, 1}), y.view({70, 101}, {1, 70})});
  }
  const Twin x = twin_of({30000}, kFloat, 1), y = twin_of({30000}, kFloat, 2);
  expect_equal("aten::mul.Tensor", {x.view({3, 40, 50}, {2000, 50, 1}),
                                    y.view({3, 40, 50}, {2000, 1, 40})});
  // The first operand decides the order of the result's dims.
  expect_equal("aten::mul.Tensor",
               {y.view({64, 33}, {1, 64}), x.view({64, 33}, {33, 1})});
}

TEST_P(Pointwise, negative_strides_of_views) {
  // Tensors have no negative strides here, but strides that repeat memory,
  // which are of the same kind for a walk.
  const Twin x = twin_of({100}, kFloat, 1), y = twin_of({100}, kFloat, 2);
  expect_equal("aten::mul.Tensor",
               {x.view({30, 40}, {1, 1}), y.view({30, 40}, {0, 1})});
}

TEST_P(Pointwise, misaligned) {
  for (const ScalarType t : {kFloat, kHalf, kByte}) {
    const Twin x = twin_of({5000}, t, 1), y = twin_of({5000}, t, 2);
    for (const int64_t offset : {1, 3}) {
      expect_equal("aten::maximum",
                   {x.view({4500}, {1}, offset), y.view({4500}, {1})});
      expect_equal("aten::maximum", {x.view({40, 64}, {64, 1}, offset),
                                     y.view({40, 64}, {0, 1})});
    }
  }
}

TEST_P(Pointwise, mixed_dtypes) {
  const ScalarType types[] = {kHalf, kFloat, kDouble,  kLong,
                              kByte, kBool,  kBFloat16};
  for (const ScalarType a : types) {
    for (const ScalarType b : types) {
      if (GetParam() == JitMode::kWait && (a != kHalf && b != kByte)) continue;
      expect_equal("aten::mul.Tensor",
                   {twin_of({2100}, a, 1), twin_of({2100}, b, 2)});
    }
  }
  expect_equal("aten::mul.Tensor",
               {twin_of({30, 40}, kHalf, 1), twin_of({40}, kFloat, 2)});
}

TEST_P(Pointwise, numbers_on_the_cpu) {
  const Twin x = twin_of({10, 30}, kFloat, 1);
  Twin one = twin_of({}, kFloat, 5);
  one.cuda = one.cpu;
  expect_equal("aten::sub.Tensor", {x, one}, {2});
  expect_equal("aten::sub.Tensor", {one, x}, {2});
  Twin whole = twin_of({}, kLong, 7);
  whole.cuda = whole.cpu;
  expect_equal("aten::mul.Tensor", {x, whole});
  expect_equal("aten::mul.Tensor", {twin_of({50}, kBool, 3), whole});
  Twin flag = twin_of({}, kBool, 7);
  flag.cuda = flag.cpu;
  expect_equal("aten::mul.Tensor", {twin_of({50}, kInt, 3), flag});
}

// An operator of this test: the sum and whether it is above a number.
TEST_P(Pointwise, several_results) {
  static constexpr program::Step kSteps[] = {{lang::Prim::add, 3, 0, 1},
                                             {lang::Prim::gt, 4, 3, 2}};
  static constexpr program::Result kResults[] = {{3, false}, {4, true}};
  static constexpr lang::Uniform kNumber = lang::Uniform::of(0.5);
  static constexpr lang::UniformOperand kOperands[] = {
      {0, lang::RegClass::kValue}};
  PointwiseOp op;
  op.name = "sum_and_above";
  op.n_inputs = 2;
  op.n_outputs = 2;
  op.promote_inputs = 3;
  static constexpr const char* kNames[] = {"self", "other"};
  op.input_names = kNames;
  program::Program& p = op.program.body;
  p.steps = kSteps;
  p.results = kResults;
  p.n_steps = 2;
  p.n_registers = 5;
  p.n_inputs = 2;
  p.n_uniforms = 1;
  p.n_results = 2;
  op.program.constants = &kNumber;
  op.program.n_constants = 1;
  op.program.uniforms = kOperands;

  const Twin x = twin_of({9000}, kFloat, 1), y = twin_of({9000}, kFloat, 2);
  for (const std::vector<Twin>& twins : std::vector<std::vector<Twin>>{
           {x, y},
           {x.view({60, 70}, {70, 1}), y.view({60, 70}, {1, 60})},
           {x.view({60, 70}, {140, 2}), y.view({70}, {1})}}) {
    const Inputs in(twins);
    Tensor expected[2], got[2];
    testing::cpu_engine().results(op, {in.cpu.data()}, expected);
    kPointwise.results(op, {in.cuda.data()}, got);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(difference(expected[i], got[i]), "") << i;
    }
  }
}

const OperatorEntry& writer() {
  return Dispatcher::singleton().operators().front().entry();
}

// out = op(inputs) on both sides.
void expect_written(std::string_view name, const std::vector<Twin>& twins,
                    const std::vector<Scalar>& scalars, Twin out) {
  const PointwiseOp& op = pointwise_op(name);
  const Inputs in(twins);
  testing::cpu_engine().out(op, {in.cpu.data(), scalars.data()}, writer(),
                            out.cpu);
  const uint32_t version = out.cuda.impl()->version();
  kPointwise.out(op, {in.cuda.data(), scalars.data()}, writer(), out.cuda);
  EXPECT_GT(out.cuda.impl()->version(), version);
  EXPECT_EQ(difference(out.cpu, out.cuda), "") << name;
  EXPECT_EQ(out.cuda.strides(), out.cpu.strides());
}

TEST_P(Pointwise, out_of_every_kind) {
  const Twin x = twin_of({30, 40}, kFloat, 1), y = twin_of({30, 40}, kFloat, 2);
  for (int i = 0; i < 2; ++i) {  // the second time by the short way
    expect_written("aten::add.Tensor", {x, y}, {1}, twin_of({30, 40}, kFloat));
  }
  expect_written("aten::add.Tensor", {x, y}, {1}, twin_of({30, 40}, kDouble));
  expect_written("aten::add.Tensor", {x, y}, {1}, twin_of({30, 40}, kHalf));
  // Resized; with strides; with gaps between elements.
  expect_written("aten::add.Tensor", {x, y}, {1}, twin_of({0}, kFloat));
  expect_written("aten::add.Tensor", {x, y}, {1},
                 twin_of({5000}, kFloat).view({30, 40}, {1, 30}));
  expect_written("aten::add.Tensor", {x, y}, {1},
                 twin_of({5000}, kFloat).view({30, 40}, {80, 2}));
  expect_written("aten::lt.Tensor", {x, y}, {}, twin_of({30, 40}, kBool));
  expect_written("aten::lt.Tensor", {x, y}, {}, twin_of({30, 40}, kFloat));
}

TEST_P(Pointwise, in_place) {
  const PointwiseOp& op = pointwise_op("aten::add.Tensor");
  const Scalar alpha = 1;
  const Twin y = twin_of({30, 40}, kFloat, 2);
  const auto run = [&](Twin self, const Twin& other) {
    const Inputs in({self, other});
    testing::cpu_engine().inplace(op, {in.cpu.data(), &alpha}, writer(),
                                  self.cpu);
    kPointwise.inplace(op, {in.cuda.data(), &alpha}, writer(), self.cuda);
    EXPECT_EQ(difference(self.cpu, self.cuda), "");
  };
  for (int i = 0; i < 2; ++i) run(twin_of({30, 40}, kFloat, 1), y);
  run(twin_of({30, 40}, kHalf, 1), y);
  run(twin_of({30, 40}, kDouble, 1), y);
  run(twin_of({5000}, kFloat, 1).view({30, 40}, {3, 100}), y);
  const Twin self = twin_of({30, 40}, kFloat, 1);
  run(self, self);
  run(self, twin_of({40}, kFloat, 4));
}

TEST_P(Pointwise, errors_are_those_of_the_contract) {
  const Twin x = twin_of({30}, kFloat), y = twin_of({31}, kFloat);
  const Inputs in({x, y});
  const Scalar alpha = 1;
  try {
    kPointwise.run(pointwise_op("aten::add.Tensor"), {in.cuda.data(), &alpha});
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(e.message().find("[add.Tensor]"), std::string::npos) << e.what();
  }
  // A primitive that floats do not have, also after a call on integers.
  const Twin i = twin_of({30}, kInt);
  expect_equal("aten::bitwise_and.Tensor", {i, i});
  const Inputs floats({x, x});
  EXPECT_THROW(kPointwise.run(pointwise_op("aten::bitwise_and.Tensor"),
                              {floats.cuda.data()}),
               TypeError);
}

TEST_P(Pointwise, integers_divided_by_zero) {
  const PointwiseOp& op = pointwise_op("aten::floor_divide");
  for (const int64_t n : {1, 5000}) {
    Twin a = twin_of({n}, kLong, 1), b = twin_of({n}, kLong, 2);
    auto* const divisors = static_cast<int64_t*>(b.cpu.raw_data());
    for (int64_t i = 0; i < n; ++i) divisors[i] = i + 1;
    b.cuda = to_device(b.cpu, on_cuda());
    expect_equal("aten::floor_divide", {a, b});
    divisors[n - 1] = 0;
    b.cuda = to_device(b.cpu, on_cuda());
    const Inputs in({a, b});
    const Tensor got = kPointwise.run(op, {in.cuda.data()});
    EXPECT_THROW(to_device(got, Device(kCPU)), ValueError);
    // It was told once, and the device works.
    expect_equal("aten::add.Tensor", {a, a}, {1});
  }
}

TEST_P(Pointwise, copies_convert_as_on_the_cpu) {
  const ScalarType types[] = {kByte, kChar,  kShort,  kInt,  kLong,
                              kHalf, kFloat, kDouble, kBool, kBFloat16};
  for (const ScalarType from : types) {
    for (const ScalarType to : types) {
      if (GetParam() == JitMode::kWait && from != kDouble && to != from &&
          to != kHalf) {
        continue;
      }
      const Twin source = twin_of({700}, from, 3);
      const Tensor expected = contiguous_cpu(source.cpu, to);
      const Tensor made(make_tensor({700}, to, on_cuda()));
      copy_elements(source.cuda, made);
      EXPECT_EQ(difference(expected, made), "")
          << dtype_name(from) << " to " << dtype_name(to);
    }
  }
}

TEST_P(Pointwise, copies_with_strides) {
  const Twin source = twin_of({9000}, kFloat, 3);
  const Tensor made(make_tensor({90, 70}, kFloat, on_cuda()));
  const Twin t = source.view({90, 70}, {1, 90});
  copy_elements(t.cuda, made);
  EXPECT_EQ(difference(t.cpu, made), "");
  const Twin once = source.view({90, 70}, {0, 1});
  copy_elements(once.cuda, made);
  EXPECT_EQ(difference(once.cpu, made), "");
}

// Calls do not wait for the compiler where the interpreter is there, and the
// result stays what it is.
TEST(PointwiseInBackground, first_interpreted_then_compiled) {
  const Twin x = twin_of({5000}, kShort, 1), y = twin_of({5000}, kShort, 2);
  set_jit_mode(JitMode::kOff);
  expect_equal("aten::add.Tensor", {x, y}, {1});
  const CompileCounters before = compile_counters();
  set_jit_mode(JitMode::kBackground);
  expect_equal("aten::add.Tensor", {x, y}, {1});
  finish_compiling();
  expect_equal("aten::add.Tensor", {x, y}, {1});
  const CompileCounters after = compile_counters();
  EXPECT_EQ(after.units + after.kept, before.units + before.kept + 1);
}

// A process that has only what an earlier one kept does so, too.
TEST(PointwiseInBackground, interpreted_by_what_an_earlier_process_kept) {
  const Twin x = twin_of({5000}, kShort, 1), y = twin_of({5000}, kShort, 2);
  if (std::getenv("SY_OTHER_PROCESS") == nullptr) {
    set_jit_mode(JitMode::kOff);
    expect_equal("aten::bitwise_xor.Tensor", {x, y});
  }
  if (!with_environment("SY_OTHER_PROCESS", "interpreter")) return;
  set_jit_mode(JitMode::kBackground);
  expect_equal("aten::bitwise_xor.Tensor", {x, y});
  finish_compiling();
  EXPECT_GE(compile_counters().kept, 1);
}

TEST(PointwiseInterpreted, special_functions) {
  set_jit_mode(JitMode::kOff);
  expect_equal("aten::digamma", {twin_of({300}, kFloat, 1)}, {},
               on_gpu() ? 1e-6 : 0);
  expect_equal("aten::digamma", {twin_of({300}, kDouble, 1)}, {},
               on_gpu() ? 1e-14 : 0);
}

}  // namespace
}  // namespace sy::cuda
