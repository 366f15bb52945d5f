#include <sy/sy.h>

#include "aten/backend/write_plan.h"
#include "test/runtime/twins.h"

// Forms of operators that are loaded at run time know their functional one.

namespace sy::test {
namespace {

constexpr const char* kText = R"(
- func: loaded::scale(Tensor self, Tensor other, *, Scalar alpha=2) -> Tensor
  pointwise: self * other * alpha
)";

TEST(LoadedForms, NameTheirFunctionalOperator) {
  const SchemaHandle schema = load_schema_text(kText);
  const OperatorEntry& inplace = find("loaded::scale_").entry();
  ASSERT_NE(inplace.functional(), nullptr);
  EXPECT_STREQ(inplace.functional()->op, "loaded::scale");
  const WritePlan& plan = write_plan(find("loaded::scale.out").entry());
  EXPECT_EQ(plan.kind, WritePlan::kFunctional);
  EXPECT_EQ(plan.functional, &find("loaded::scale").entry());
  EXPECT_EQ(plan.args, (std::vector<int8_t>{0, 1, 2}));
  EXPECT_EQ(plan.stored, (std::vector<int8_t>{3}));
}

TEST(LoadedForms, AreComputedByTheirFunctionalOperator) {
  const SchemaHandle schema = load_schema_text(kText);
  const WritePlan& plan = write_plan(find("loaded::scale_").entry());
  const Tensor self = ones({2});
  const Value args[] = {Value(TensorBase(self)),
                        Value(TensorBase(full({2}, 3))), 2};
  std::vector<Value> pure = functional_arguments(plan, args);
  Value out;
  OperatorHandle(plan.functional).call_boxed(pure.data(), pure.size(), &out, 1);
  EXPECT_EQ(Tensor(out.to_tensor())[0].item<float>(), 6);
  EXPECT_EQ(self[0].item<float>(), 1);
}

}  // namespace
}  // namespace sy::test
