#include "aten/backend/write_plan.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "c10/schema/function_schema.h"

namespace sy {
namespace {

using Places = std::vector<int8_t>;

const OperatorEntry& entry(const char* name) {
  return Dispatcher::singleton().find_or_throw(name).entry();
}

TEST(WritePlan, OfDerivedForms) {
  const WritePlan& inplace = write_plan(entry("add_.Tensor"));
  EXPECT_EQ(inplace.kind, WritePlan::kFunctional);
  EXPECT_EQ(inplace.functional, &entry("add.Tensor"));
  EXPECT_EQ(inplace.args, (Places{0, 1, 2}));
  EXPECT_EQ(inplace.stored, (Places{0}));
  EXPECT_EQ(inplace.returned, (Places{0}));

  const WritePlan& out = write_plan(entry("sort.values"));
  EXPECT_EQ(out.functional, &entry("sort"));
  EXPECT_EQ(out.stored.size(), 2u);
  EXPECT_EQ(out.stored, out.written);

  EXPECT_EQ(write_plan(entry("add.Tensor")).kind, WritePlan::kPure);
  EXPECT_EQ(write_plan(entry("view")).kind, WritePlan::kPure);
  EXPECT_EQ(write_plan(entry("t_")).kind, WritePlan::kGeometry);
  EXPECT_EQ(write_plan(entry("resize_")).kind, WritePlan::kGeometry);
}

TEST(WritePlan, OfFormsThatStandByThemselves) {
  EXPECT_EQ(write_plan(entry("copy_")).functional, &entry("copy"));
  EXPECT_EQ(write_plan(entry("zero_")).functional, &entry("zero"));
  EXPECT_EQ(write_plan(entry("fill_.Scalar")).functional,
            &entry("fill.Scalar"));
}

TEST(WritePlan, OfWritesThatTheSignatureLeavesOut) {
  const WritePlan& plan = write_plan(entry("native_batch_norm"));
  EXPECT_EQ(plan.kind, WritePlan::kOnCopies);
  EXPECT_EQ(plan.written, (Places{3, 4}));
  EXPECT_EQ(plan.returned, (Places{-1, -1, -1}));
}

// Argument i of the functional operator comes from an argument of its name and
// type, a default or what is written.
TEST(WritePlan, EveryMapFits) {
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    const WritePlan& plan = write_plan(op.entry());
    if (plan.kind != WritePlan::kFunctional) continue;
    const FunctionSchema& from = op.schema();
    const FunctionSchema& to = plan.functional->schema();
    ASSERT_EQ(plan.args.size(), to.arguments().size()) << op.name();
    ASSERT_EQ(plan.stored.size(), to.returns().size()) << op.name();
    EXPECT_FALSE(to.is_mutable()) << op.name();
    for (size_t i = 0; i < plan.args.size(); ++i) {
      if (plan.args[i] < 0) continue;
      const Argument& a = from.arguments()[size_t(plan.args[i])];
      // `input` is `self` in place.
      if (i == 0 && to.arguments()[i].name == "input") continue;
      EXPECT_EQ(a.name, to.arguments()[i].name) << op.name();
    }
    for (const int8_t i : plan.stored) {
      ASSERT_GE(i, 0) << op.name();
      EXPECT_TRUE(from.arguments()[size_t(i)].is_write()) << op.name();
    }
  }
}

// Operators that write copies of their arguments, and why no other one computes
// what they write.
const std::map<std::string, std::string> kOnCopies = {
    {"_batch_norm_impl_index", "writes running statistics besides"},
    {"_batch_norm_with_update", "writes running statistics besides"},
    {"_batch_norm_with_update.out", "writes running statistics besides"},
    {"_copy_from", "there is no functional operator"},
    {"_native_batch_norm_legit", "writes running statistics besides"},
    {"_native_batch_norm_legit.out", "writes running statistics besides"},
    {"arange.start_out", "the functional operators have other arguments"},
    {"batch_norm", "writes running statistics besides"},
    {"batch_norm_gather_stats_with_counts",
     "writes running statistics besides"},
    {"batch_norm_gather_stats_with_counts.out",
     "writes running statistics besides"},
    {"batch_norm_update_stats", "writes running statistics besides"},
    {"batch_norm_update_stats.out", "writes running statistics besides"},
    {"bernoulli_.float", "bernoulli.p has no default for p"},
    {"embedding_renorm_", "PyTorch has no functional operator"},
    {"fill_diagonal_", "PyTorch has no functional operator"},
    {"float_power_.Scalar", "float_power.Tensor_Scalar, by another name"},
    {"float_power_.Tensor", "float_power.Tensor_Tensor, by another name"},
    {"instance_norm", "writes running statistics besides"},
    {"native_batch_norm", "writes running statistics besides"},
    {"native_batch_norm.out", "writes running statistics besides"},
    {"normal_", "there is no functional operator"},
    {"range.out_", "the functional operator has other arguments"},
    {"rrelu_with_noise", "writes the noise besides"},
    {"rrelu_with_noise.out", "writes the noise besides"},
    {"rrelu_with_noise_", "writes the noise besides"},
    {"triangular_solve.X", "its results have other names"},
};

TEST(WritePlan, EveryWriterHasAnAnswer) {
  std::set<std::string> on_copies, expected;
  for (const auto& [name, why] : kOnCopies) expected.insert(name);
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    const WritePlan& plan = write_plan(op.entry());
    const bool writes = op.entry().has_flag(OperatorDef::kWrites);
    EXPECT_EQ(plan.kind != WritePlan::kPure, writes) << op.name();
    EXPECT_EQ(plan.written.empty(), !writes) << op.name();
    EXPECT_TRUE(writes || !op.schema().is_mutable()) << op.name();
    if (plan.kind == WritePlan::kOnCopies) {
      on_copies.insert(std::string(op.name().substr(6)));
    }
  }
  EXPECT_EQ(on_copies, expected);
}

}  // namespace
}  // namespace sy
