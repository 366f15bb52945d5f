#include <gtest/gtest.h>
#include <sy/sy.h>

#include "autograd/gradcheck.h"

namespace {

using sy::Tensor;
using sy::Value;

class RuntimeOp : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sy::load_schema("examples/runtime_op/ops.yaml").keep();
  }
  static sy::OperatorHandle find(const char* name) {
    return sy::Dispatcher::singleton().find_or_throw(name);
  }
  static Tensor rows() {
    return sy::linspace(-2, 2, 8, sy::kDouble).reshape({2, 4});
  }
};

TEST_F(RuntimeOp, ComputesWhatItsPartsSay) {
  Value args[] = {Value(rows()), Value(-1), Value(false), Value(0.0)};
  Value out;
  find("house::rms").call_boxed(args, 4, &out, 1);
  const Tensor expected = rows().mul(rows()).mean({-1}).sqrt();
  const Tensor got(sy::TensorBase(std::as_const(out).to_tensor()));
  EXPECT_LT(got.sub(expected).abs().amax().item<double>(), 1e-12);
}

TEST_F(RuntimeOp, GradientsAgreeWithFiniteDifferences) {
  sy::autograd::GradcheckOptions options;
  options.second_order = true;
  const Tensor x = rows().requires_grad_();
  const Tensor w = sy::linspace(1, 2, 4, sy::kDouble).requires_grad_();
  Value norm[] = {Value(x), Value(w)};
  EXPECT_EQ(
      sy::autograd::gradcheck_op(find("house::rms_norm"), norm, 2, options)
          .problem,
      "");
  for (const bool keepdim : {false, true}) {
    Value rms[] = {Value(x), Value(0), Value(keepdim), Value(1e-3)};
    EXPECT_EQ(
        sy::autograd::gradcheck_op(find("house::rms"), rms, 4, options).problem,
        "");
  }
}

TEST_F(RuntimeOp, ChecksItsArguments) {
  Value args[] = {Value(rows()), Value(sy::ones({3}, sy::kDouble))};
  Value out;
  try {
    find("house::rms_norm").call_boxed(args, 2, &out, 1);
    FAIL();
  } catch (const sy::Error& e) {
    EXPECT_STREQ(e.what(),
                 "[rms_norm] self: expected rows as long as the weights, got "
                 "self.size(-1) = 4, weight.size(0) = 3");
  }
}

}  // namespace
