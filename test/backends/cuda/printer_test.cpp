#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "backends/cpu/tiles/kernels.h"
#include "backends/cuda/print/body.h"
#include "backends/cuda/print/pointwise.h"
#include "c10/process/error.h"
#include "c10/tensor/array_ref.h"

// The text printed for programs. To accept a change of the files in testdata:
// SY_UPDATE_GOLDENS=$PWD/test/backends/cuda/testdata and run this test.

namespace sy::cuda::print {
namespace {

using lang::Prim;
using program::ComputeType;
using program::Program;
using program::Result;
using program::Step;

Program program_of(ArrayRef<Step> steps, ArrayRef<Result> results, int inputs,
                   int uniforms, int registers) {
  Program p;
  p.steps = steps.data();
  p.n_steps = static_cast<uint16_t>(steps.size());
  p.results = results.data();
  p.n_results = static_cast<uint8_t>(results.size());
  p.n_inputs = static_cast<uint8_t>(inputs);
  p.n_uniforms = static_cast<uint8_t>(uniforms);
  p.n_registers = static_cast<uint16_t>(registers);
  return p;
}

// alpha times the second input, added to the first.
constexpr Step kAddSteps[] = {{Prim::fma, 3, 2, 1, 0}};
constexpr Result kAddResults[] = {{3, false}};
const Program kAdd = program_of(kAddSteps, kAddResults, 2, 1, 4);

constexpr Step kLessSteps[] = {{Prim::lt, 2, 0, 1}};
constexpr Result kLessResults[] = {{2, true}};
const Program kLess = program_of(kLessSteps, kLessResults, 2, 0, 3);

constexpr Step kDivideSteps[] = {{Prim::floor_div, 2, 0, 1}};
constexpr Result kDivideResults[] = {{2, false}};
const Program kDivide = program_of(kDivideSteps, kDivideResults, 2, 0, 3);

// A register that two steps write; a bool among the registers; two results, of
// which one is an input.
constexpr Step kManySteps[] = {{Prim::mul, 2, 0, 0},
                               {Prim::gt, 3, 2, 1},
                               {Prim::sqrt, 2, 2},
                               {Prim::select, 2, 3, 2, 1}};
constexpr Result kManyResults[] = {{2, false}, {3, true}, {0, false}};
const Program kMany = program_of(kManySteps, kManyResults, 2, 0, 4);

TEST(Body, has_a_new_name_for_every_step) {
  const Body body = print_body(kMany, ComputeType::f64, {"a", "b"}, "x", 4);
  EXPECT_EQ(body.statements,
            "    const double x0 = f64::mul(a, a);\n"
            "    const bool8 x1 = f64::gt(x0, b);\n"
            "    const double x2 = f64::sqrt(x0);\n"
            "    const double x3 = f64::select(x1, x2, b);\n");
  EXPECT_EQ(body.results, (std::vector<std::string>{"x3", "x1", "a"}));
}

TEST(Body, integers_say_where_they_are_divided) {
  EXPECT_EQ(
      print_body(kDivide, ComputeType::i32, {"a", "b"}, "t", 0).statements,
      "const int32_t t0 = i32::floor_div(a, b, divided);\n");
  EXPECT_EQ(
      print_body(kDivide, ComputeType::f32, {"a", "b"}, "t", 0).statements,
      "const float t0 = f32::floor_div(a, b);\n");
  EXPECT_TRUE(may_divide_by_zero(kDivide, ComputeType::u8));
  EXPECT_FALSE(may_divide_by_zero(kDivide, ComputeType::f32));
}

TEST(Body, needs_the_files_of_its_functors_once) {
  EXPECT_EQ(needed_files(kMany, ComputeType::f32),
            (std::vector<std::string_view>{"functors/arithmetic.cuh",
                                           "functors/compare.cuh"}));
  constexpr Step kSteps[] = {{Prim::digamma, 1, 0}};
  EXPECT_EQ(
      needed_files(program_of(kSteps, kAddResults, 1, 0, 2), ComputeType::f32),
      (std::vector<std::string_view>{kSpecialFile}));
}

// A primitive has a function where, and only where, the CPU has a kernel.
TEST(Body, knows_the_domains_of_primitives) {
  for (int op = 0; op < static_cast<int>(Prim::kCount); ++op) {
    for (int t = 0; t < program::kNumComputeTypes; ++t) {
      const auto type = static_cast<ComputeType>(t);
      const Step steps[] = {{static_cast<Prim>(op), 3, 0, 1, 2}};
      const Program p = program_of(steps, kAddResults, 3, 0, 4);
      EXPECT_EQ(!needed_files(p, type).empty(),
                cpu::tiles::prim_fn(steps[0].op, type) != nullptr)
          << lang::kPrims[op].name << " of " << type_name(type);
    }
  }
  EXPECT_THROW(print_body(program_of(kManySteps, kManyResults, 2, 0, 4),
                          ComputeType::i32, {"a", "b"}, "t", 0),
               InternalError);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_golden(const std::string& name, const PointwiseKernel& k) {
  const std::string path = "test/backends/cuda/testdata/" + name + ".cu";
  const std::string text = print_pointwise(k, name);
  if (const char* const folder = std::getenv("SY_UPDATE_GOLDENS")) {
    std::ofstream(str("{}/{}.cu", folder, name), std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read_file(path)) << path;
}

PointwiseKernel kernel_of(const Program& p, ComputeType type,
                          const ScalarType* dtypes) {
  PointwiseKernel k;
  k.program = &p;
  k.type = type;
  k.dtypes = dtypes;
  return k;
}

TEST(Pointwise, linear) {
  const ScalarType dtypes[] = {kFloat, kFloat, kFloat};
  expect_golden("linear_float32", kernel_of(kAdd, ComputeType::f32, dtypes));
}

TEST(Pointwise, linear_of_several_dtypes_with_one_element_and_a_number) {
  const ScalarType dtypes[] = {kHalf, kDouble, kBFloat16};
  PointwiseKernel k = kernel_of(kAdd, ComputeType::f32, dtypes);
  k.single = 1 << 1;
  expect_golden("linear_single", k);
  k.single = 0;
  k.immediate = 1 << 1;
  expect_golden("linear_immediate", k);
}

TEST(Pointwise, strided_with_division) {
  const ScalarType dtypes[] = {kLong, kLong, kLong};
  PointwiseKernel k = kernel_of(kDivide, ComputeType::i64, dtypes);
  k.index = IndexClass::kStrided;
  k.rank = 2;
  expect_golden("strided_int64", k);
}

TEST(Pointwise, packs_along_rows) {
  const ScalarType dtypes[] = {kBFloat16, kBFloat16, kBFloat16};
  PointwiseKernel k = kernel_of(kAdd, ComputeType::f32, dtypes);
  k.index = IndexClass::kStrided;
  k.rank = 3;
  k.packs = true;
  k.single = 1 << 1;
  expect_golden("packs_bfloat16", k);
}

TEST(Pointwise, squares) {
  const ScalarType dtypes[] = {kFloat, kFloat, kBool};
  PointwiseKernel k = kernel_of(kLess, ComputeType::f32, dtypes);
  k.index = IndexClass::kTransposed;
  k.transposed = 1 << 1;
  expect_golden("squares_lt", k);
}

TEST(Pointwise, wide_of_several_results) {
  const ScalarType dtypes[] = {kDouble, kDouble, kDouble, kBool, kDouble};
  PointwiseKernel k = kernel_of(kMany, ComputeType::f64, dtypes);
  k.index = IndexClass::kWide;
  expect_golden("wide_float64", k);
}

TEST(Pointwise, accesses_are_of_16_bytes_and_fewer_where_programs_are_long) {
  const auto tile = [](const Program& p, ComputeType type, ScalarType t) {
    const ScalarType dtypes[] = {t, t, t, kBool, t};
    return tile_of(kernel_of(p, type, dtypes));
  };
  const PointwiseTile f32 = tile(kAdd, ComputeType::f32, kFloat);
  EXPECT_EQ(f32.width, 4);
  EXPECT_EQ(f32.unroll, 4);
  const PointwiseTile half = tile(kAdd, ComputeType::f32, kHalf);
  EXPECT_EQ(half.width, 8);
  const PointwiseTile bytes = tile(kAdd, ComputeType::u8, kByte);
  EXPECT_EQ(bytes.width, 16);
  // The narrow bools do not make the doubles' accesses long.
  EXPECT_EQ(tile(kMany, ComputeType::f64, kDouble).width, 4);
  constexpr Step kSteps[] = {{Prim::zeta, 2, 0, 1}, {Prim::zeta, 2, 2, 1}};
  const Program costly = program_of(kSteps, kDivideResults, 2, 0, 3);
  EXPECT_EQ(tile(costly, ComputeType::f32, kFloat).each(), 1);
}

}  // namespace
}  // namespace sy::cuda::print
