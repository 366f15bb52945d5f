#include <sy/sy.h>

#include "aten/backend/functionalize.h"
#include "aten/backend/write_plan.h"
#include "test/runtime/twins.h"

// Forms of operators that are loaded at run time know their functional one.

namespace sy::test {
namespace {

constexpr const char* kText = R"(
- func: loaded::scale(Tensor self, Tensor other, *, Scalar alpha=2) -> Tensor
  pointwise: self * other * alpha
- func: loaded::corner(Tensor(a) self, int n) -> Tensor(a)
  view:
    sizes: "[n]"
    strides: "[self.stride(0)]"
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

TEST(LoadedForms, RunOnFunctionalTensors) {
  const SchemaHandle schema = load_schema_text(kText);
  const Tensor value = ones({4});
  const Tensor f = functionalize(value);
  Value view_args[] = {Value(TensorBase(f)), 2}, view;
  find("loaded::corner").call_boxed(view_args, 2, &view, 1);
  Value args[] = {view, Value(TensorBase(full({2}, 3))), 2}, out;
  find("loaded::scale_").call_boxed(args, 3, &out, 1);
  const Tensor now = functional_value(f);
  EXPECT_EQ(now[0].item<float>(), 6);
  EXPECT_EQ(now[1].item<float>(), 6);
  EXPECT_EQ(now[2].item<float>(), 1);
  EXPECT_EQ(value[0].item<float>(), 1);
}

}  // namespace
}  // namespace sy::test
