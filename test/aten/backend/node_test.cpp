#include "aten/backend/node.h"

#include <gtest/gtest.h>

#include "aten/ops/factory.h"
#include "aten/tensor_new.h"
#include "c10/schema/function_schema.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

OperatorHandle find(const char* name) {
  return Dispatcher::singleton().find(name).value();
}
Value of(const Tensor& t) { return Value(TensorBase(t)); }

// A float argument is one, though the caller boxed an int: the dtype of the
// result is that of the call.
TEST(Node, ScalarsAreReadAsTheArgumentsTypeSays) {
  const OperatorHandle op = find("aten::_huber");
  const Value args[] = {of(tensor({-1, 2})), of(tensor({1, 2})),
                        Value(int64_t{2})};
  const NodeDesc* const node = node_desc(op.entry());
  ASSERT_NE(node, nullptr);
  const PointwiseNode call(*node, args);
  EXPECT_TRUE(call.args().scalars[0].is_floating_point());
  EXPECT_EQ(
      read_scalar(NodeScalar::kFloat, nullptr, Value(int64_t{2})).to_double(),
      2.0);
  EXPECT_FALSE(read_scalar(NodeScalar::kInt, nullptr, Value(int64_t{2}))
                   .is_floating_point());
  EXPECT_TRUE(
      read_scalar(NodeScalar::kHasValue, nullptr, Value(0.0)).to_bool());
  EXPECT_TRUE(
      read_scalar(NodeScalar::kEquals, "tanh", Value("tanh")).to_bool());
  EXPECT_FALSE(
      read_scalar(NodeScalar::kEquals, "tanh", Value("none")).to_bool());
}

TEST(Node, ResultsAreInferredWithoutData) {
  const Tensor a = zeros({2, 3}), b = zeros({3, 4});
  const Value args[] = {of(a), of(b)};
  const auto r = infer_results(find("aten::mm"), args, 2);
  ASSERT_EQ(r.size(), 1u);
  EXPECT_TRUE(r[0].to_tensor().is_meta());
  EXPECT_EQ(ints(r[0].to_tensor().sizes()), (std::vector<int64_t>{2, 4}));
  const Value wrong[] = {of(a), of(a)};
  SY_EXPECT_ERROR(infer_results(find("aten::mm"), wrong, 2), ValueError,
                  "[mm]");
  SY_EXPECT_ERROR(infer_results(find("aten::nonzero"), args, 1),
                  NotImplementedError, "nonzero");
}

// Tensors of one storage stand for each other's memory still.
TEST(Node, ArgumentsThatShareMemoryDoSoInTheirStand) {
  const Tensor a = zeros({4});
  const OperatorHandle add_ = find("aten::add_.Tensor");
  const Value one(int64_t{1});
  const Value args[] = {of(a), of(a), one};
  EXPECT_TRUE(infer_results(add_, args, 3)[0].to_tensor().is_meta());
  const Value overlapping[] = {of(a.narrow(0, 0, 3)), of(a.narrow(0, 1, 3)),
                               one};
  SY_EXPECT_ERROR(infer_results(add_, overlapping, 3), ValueError, "memory");
}

}  // namespace
}  // namespace sy
