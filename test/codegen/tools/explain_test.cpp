#include "codegen/tools/explain.h"

#include <gtest/gtest.h>

#include <sstream>

#include "codegen/tools/schema_files.h"

namespace sy::codegen {
namespace {

std::string explained(const std::string& name) {
  std::ostringstream out, err;
  explain_operator(name,
                   {"test/codegen/testdata/sample.yaml",
                    "backends/cpu/backend.yaml", "backends/meta/backend.yaml"},
                   out, err);
  return out.str() + err.str();
}

TEST(Explain, APointwiseOperator) {
  EXPECT_EQ(
      explained("soften"),
      "soften(Tensor self, Tensor weight, *, Scalar slope=1, str mode='none') "
      "-> Tensor\n"
      "  test/codegen/testdata/sample.yaml:13, pointwise\n"
      "  A weight times something smooth.\n"
      "\n"
      "forms\n"
      "  soften(Tensor self, Tensor weight, *, Scalar slope=1, str "
      "mode='none') -> Tensor  [sample.yaml:13]\n"
      "  soften.out(Tensor self, Tensor weight, *, Scalar slope=1, str "
      "mode='none', Tensor(a!) out) -> Tensor(a!)  [derived]\n"
      "  no in-place form  [sample.yaml:23]\n"
      "\n"
      "C++\n"
      "  Tensor sy::soften(const Tensor& self, const Tensor& weight, const "
      "Scalar& slope = 1, std::string_view mode = \"none\")  "
      "[aten/ops/sample.h]\n"
      "  Tensor& sy::soften_out(Tensor& out, const Tensor& self, const Tensor& "
      "weight, const Scalar& slope = 1, std::string_view mode = \"none\")  "
      "[aten/ops/sample.h]\n"
      "  ops::soften::call, redispatch, entry  [aten/ops/sample_ops.h]\n"
      "  ops::soften_out::call, redispatch, entry  [aten/ops/sample_ops.h]\n"
      "\n"
      "contract\n"
      "  require mode == 'none' or mode == 'half': 'none' or 'half'  "
      "[sample.yaml:18]\n"
      "  promote int_to_float of self, weight  [sample.yaml:16]\n"
      "  checked by contract::soften before every kernel\n"
      "\n"
      "pointwise\n"
      "  weight * (self * slope) * (if mode == 'half' then 0.5 else 1)  "
      "[sample.yaml:19]\n"
      "  element program desc::soften, 3 steps:\n"
      "    u0 = select((mode == 'half'), 0.5, 1)\n"
      "    t0 = mul(self, slope)\n"
      "    t0 = mul(weight, t0)\n"
      "    t0 = mul(t0, u0)\n"
      "    return t0\n"
      "\n"
      "kernels\n"
      "  CPU: element program  [backends/cpu/sample_gen.cpp]\n"
      "  Meta: sizes and dtype of the same  [backends/meta/sample_gen.cpp]\n"
      "  soften.out: by soften\n"
      "\n"
      "autograd\n"
      "  node SoftenBackward  [autograd/sample_gen.cpp]\n"
      "  keeps self as SavedTensor, weight as SavedTensor, slope as Scalar, "
      "mode as std::string\n"
      "  by self: grad * (if mode == 'half' then 0.5 else 1) * weight * slope  "
      "[sample.yaml:21]\n"
      "  by weight: grad * (if mode == 'half' then 0.5 else 1) * self * slope  "
      "[sample.yaml:22]\n"
      "  one element program: grad * (if mode == 'half' then 0.5 else 1) * "
      "weight "
      "* slope\n"
      "  one element program: grad * (if mode == 'half' then 0.5 else 1) * "
      "self * "
      "slope\n"
      "\n"
      "pages and tests\n"
      "  docs/ops/sample.md\n"
      "  gradients against finite differences: "
      "test/autograd/operators_test.cpp\n"
      "  recorded cases: sy conform --op 'soften'\n");
}

TEST(Explain, EveryOverloadOfAName) {
  const std::string all = explained("mul");
  EXPECT_NE(all.find("mul.Tensor(Tensor self, Tensor other) -> Tensor\n  "),
            std::string::npos);
  EXPECT_NE(all.find("\n\nmul.Scalar(Tensor self, Scalar other) -> Tensor\n  "),
            std::string::npos);
  EXPECT_NE(all.find("composite\n  mul(self, scalar_tensor(other))  "
                     "[sample.yaml:28]\n  calls mul.Tensor, scalar_tensor\n"),
            std::string::npos);
  EXPECT_EQ(explained("mul_.Tensor"), explained("mul.Tensor"));
}

TEST(Explain, OtherKinds) {
  EXPECT_NE(explained("sum.dim_IntList")
                .find("autograd\n  results are never differentiable\n"),
            std::string::npos);
  EXPECT_NE(explained("transpose.int")
                .find("view\n  sizes swapped(self.sizes(), dim0, dim1)  "
                      "[sample.yaml:68]\n"),
            std::string::npos);
  EXPECT_NE(explained("mm").find("kernels\n  CPU: sy::cpu::mm_out  "
                                 "[sample.yaml:81]\n  Meta: from 'shape:'"),
            std::string::npos);
}

TEST(Explain, EveryOperatorOfTheRepository) {
  lang::Diagnostics d;
  const Model model = Model::load(known_files({}, {"schemas"}), d);
  ASSERT_TRUE(d.empty()) << d.str();
  for (const Family& family : model.families()) {
    for (const Operator& op : family.operators) {
      const std::string text = explain(model, op);
      EXPECT_TRUE(text.starts_with(to_string(op.base.schema) + '\n'));
      EXPECT_NE(text.find("\nkernels\n"), std::string::npos);
    }
  }
}

TEST(Explain, UnknownName) {
  EXPECT_EQ(explained("soffen"),
            "sygen: error: unknown operator 'soffen' (did you mean "
            "'soften'?)\n");
}

}  // namespace
}  // namespace sy::codegen
