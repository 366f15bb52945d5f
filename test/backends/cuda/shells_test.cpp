#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "aten/backend/node.h"
#include "aten/backend/region_builder.h"
#include "backends/cuda/engine/region_plan.h"
#include "backends/cuda/print/reduce.h"
#include "backends/cuda/print/region.h"
#include "backends/cuda/print/scan.h"
#include "c10/dispatch/dispatcher.h"

// The text printed for reductions, scans and regions. To accept a change of the
// files in testdata: SY_UPDATE_GOLDENS=$PWD/test/backends/cuda/testdata and run
// this test.

namespace sy::cuda::print {
namespace {

using program::ComputeType;

class Registered final : public ::testing::Environment {
 public:
  void SetUp() override { init(); }
};
::testing::Environment* const registered =
    ::testing::AddGlobalTestEnvironment(new Registered);

const NodeDesc& node_of(const char* name) {
  return *node_desc(Dispatcher::singleton().find_or_throw(name).entry());
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = "test/backends/cuda/testdata/" + name + ".cu";
  if (const char* const folder = std::getenv("SY_UPDATE_GOLDENS")) {
    std::ofstream(str("{}/{}.cu", folder, name), std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read_file(path)) << path;
}

ReduceText reduction(const char* name, ComputeType type, ScalarType self,
                     ArrayRef<ScalarType> stored) {
  const ReduceOp& op = *node_of(name).reduce;
  ReduceText t;
  t.map = &op.map.body;
  t.combine = &op.combine.body;
  t.finish = op.finish == nullptr ? nullptr : &op.finish->body;
  t.accumulators = op.n_accumulators;
  t.results = op.n_results;
  t.type = type;
  t.accumulated = accumulated_in(op.combine.body, type);
  t.self = self;
  for (int i = 0; i < op.n_results; ++i) {
    t.stored[i] = stored[static_cast<size_t>(i)];
  }
  return t;
}

TEST(ReduceShell, means_of_halves_are_summed_in_double) {
  const ScalarType stored[] = {kHalf};
  const ReduceText t =
      reduction("aten::mean.dim", ComputeType::f32, kHalf, stored);
  EXPECT_EQ(t.accumulated, ComputeType::f64);
  expect_golden(
      "reduce_rows_mean_float16",
      print_reduce("reduce_rows_mean_float16", t, ReduceShell::kRows));
}

TEST(ReduceShell, several_accumulators_and_results) {
  const ScalarType stored[] = {kFloat, kFloat};
  expect_golden("reduce_columns_var_mean",
                print_reduce("reduce_columns_var_mean",
                             reduction("aten::_var_mean", ComputeType::f64,
                                       kFloat, stored),
                             ReduceShell::kColumns));
}

TEST(ReduceShell, the_second_pass_of_truth) {
  const ScalarType stored[] = {kBool};
  const ReduceText t = reduction("aten::any", ComputeType::i64, kLong, stored);
  EXPECT_TRUE(t.is_bool(0));
  expect_golden(
      "reduce_pieces_any_int64",
      print_reduce("reduce_pieces_any_int64", t, ReduceShell::kPieces));
}

TEST(ReduceShell, functions_report_divisions_when_they_return) {
  constexpr lang::Step kSteps[] = {{lang::Prim::floor_div, 2, 0, 1}};
  constexpr program::Result kResults[] = {{2, false}};
  const ScalarType stored[] = {kLong};
  ReduceText t = reduction("aten::sum", ComputeType::i64, kLong, stored);
  program::Program map;
  map.steps = kSteps;
  map.n_steps = 1;
  map.results = kResults;
  map.n_results = 1;
  map.n_inputs = 1;
  map.n_uniforms = 1;
  map.n_registers = 3;
  t.map = &map;
  const std::string text = print_reduce("r", t, ReduceShell::kRows);
  EXPECT_NE(
      text.find(
          "    int divided = 0;\n"
          "    const int64_t m0 = i64::floor_div(load_value<int64_t>(x), "
          "static_cast<int64_t>(p.numbers[0].i64), divided);\n"
          "    if (divided != 0) report(p.head, Fault::kDivision, -1, 0, 0);\n"
          "    return {m0};\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("~Op"), std::string::npos) << text;
}

TEST(ReduceShell, only_sums_and_products_are_widened) {
  const auto of = [](const char* name, ComputeType type) {
    return accumulated_in(node_of(name).reduce->combine.body, type);
  };
  EXPECT_EQ(of("aten::amax", ComputeType::f32), ComputeType::f32);
  EXPECT_EQ(of("aten::prod", ComputeType::f32), ComputeType::f64);
  EXPECT_EQ(of("aten::sum", ComputeType::i32), ComputeType::i32);
}

TEST(ScanShell, of_sums_and_of_choices) {
  const ScanOp& sum = *node_of("aten::cumsum").scan;
  expect_golden("scan_rows_cumsum_float32",
                print_scan("scan_rows_cumsum_float32",
                           {&sum.combine.body, sum.chooses, ComputeType::f64,
                            kFloat, kFloat},
                           ScanShell::kRows));
  const ScanOp& max = *node_of("aten::cummax").scan;
  expect_golden(
      "scan_columns_cummax_int32",
      print_scan("scan_columns_cummax_int32",
                 {&max.combine.body, max.chooses, ComputeType::i32, kInt, kInt},
                 ScanShell::kColumns));
}

// Halves between operators are rounded; the sum is of their products.
TEST(RegionShell, a_walk_and_a_reduction) {
  RegionBuilder b({4, 8});
  const Tensor like(make_tensor({4, 8}, kHalf, Device(kCPU)));
  const TensorBase* const tensors[] = {&like, &like};
  const PointwiseArgs args{tensors, nullptr};
  const int x = b.input(like), y = b.input(like);
  const int product =
      b.pointwise(*node_of("aten::mul.Tensor").pointwise, args, {x, y});
  ReduceArgs reduce{&like};
  const int64_t dims[] = {1};
  reduce.dims = IntArrayRef(dims, 1);
  const int sum =
      b.reduce(*node_of("aten::sum.dim_IntList").reduce, reduce, product, 2);
  b.output(product, like);
  const Region region = b.region();
  const RegionValues values(region);
  RegionText t;
  t.region = &region;
  t.values = &values;
  t.inputs = {x, y};
  t.nodes = {0};
  t.outputs = {0};
  expect_golden("region_walk_mul", print_region_walk("region_walk_mul", t));
  t.outputs.clear();
  t.reduction = 1;
  EXPECT_EQ(t.first_value(1), sum);
  expect_golden("region_rows_sum",
                print_region_reduce("region_rows_sum", t, ReduceShell::kRows));
  t.reduction = -1;
  t.outputs = {0};
  expect_golden("region_packs_mul",
                print_region_walk("region_packs_mul", t,
                                  region_packs(t, region_cost(t), 2)));
}

TEST(RegionShell, rows) {
  RegionBuilder b({4, 8});
  const Tensor like(make_tensor({4, 8}, kHalf, Device(kCPU)));
  const TensorBase* const tensors[] = {&like, &like};
  const PointwiseArgs args{tensors, nullptr};
  ReduceArgs reduce{&like};
  const int64_t dims[] = {1};
  reduce.dims = IntArrayRef(dims, 1);
  const int x = b.input(like);
  const int square =
      b.pointwise(*node_of("aten::mul.Tensor").pointwise, args, {x, x});
  const int sum =
      b.reduce(*node_of("aten::sum.dim_IntList").reduce, reduce, square, 2);
  b.output(b.pointwise(*node_of("aten::mul.Tensor").pointwise, args, {x, sum}),
           like);
  b.output(sum, kFloat, std::vector<int64_t>{1, 0});
  const Region region = b.region();
  RegionPlan plan;
  RegionReason why;
  const RegionValues values(region);
  ASSERT_TRUE(plan_region(region, values, &plan, &why)) << why.text;
  ASSERT_TRUE(plan.row.has_value());
  expect_golden("region_row", print_region_row("region_row", plan.row->text));
}

}  // namespace
}  // namespace sy::cuda::print
