#include "codegen/tools/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
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
      "  CPU: element program  [aten/ops/sample_engine_kernels.h]\n"
      "  Meta: sizes and dtype of the same  "
      "[aten/ops/sample_engine_kernels.h]\n"
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
      "  sygen site DIR\n"
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

// A file of somebody's own, beside the library's schemas.
class ExplainOwn : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "explain_own";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write("mine.yaml",
          "- func: mine::bump(Tensor self) -> Tensor\n"
          "  doc: One more.\n"
          "  promote: int_to_float\n"
          "  pointwise: exp(-square(self))\n"
          "  derivative: {self: auto}\n"
          "\n"
          "- func: mine::relu(Tensor self) -> Tensor\n"
          "  doc: Not the library's.\n"
          "  composite: bump(self)\n");
  }
  std::string path(const std::string& name) const {
    return folder_ + '/' + name;
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(path(name)) << text;
  }
  std::string explained(const std::string& name,
                        const std::vector<std::string>& with) {
    std::ostringstream out, err;
    const auto schemas = schemas_with(with, err);
    if (schemas) explain_operator(name, schemas->files(), out, err);
    return out.str() + err.str();
  }
  std::string folder_;
};

TEST_F(ExplainOwn, SaysWhatIsMadeOfIt) {
  const std::string file = path("mine.yaml");
  EXPECT_EQ(
      explained("mine::bump", {file}),
      "mine::bump(Tensor self) -> Tensor\n"
      "  " +
          file +
          ":1, pointwise\n"
          "  One more.\n"
          "\n"
          "forms\n"
          "  mine::bump(Tensor self) -> Tensor  [mine.yaml:1]\n"
          "  mine::bump_(Tensor(a!) self) -> Tensor(a!)  [derived]\n"
          "  mine::bump.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)  "
          "[derived]\n"
          "\n"
          "C++\n"
          "  Tensor mine::bump(const Tensor& self)  [mine.h]\n"
          "  Tensor& mine::bump_(Tensor& self)  [mine.h]\n"
          "  Tensor& mine::bump_out(Tensor& out, const Tensor& self)  "
          "[mine.h]\n"
          "  ops::mine_bump::call, redispatch, entry  [mine.cpp]\n"
          "  ops::mine_bump_::call, redispatch, entry  [mine.cpp]\n"
          "  ops::mine_bump_out::call, redispatch, entry  [mine.cpp]\n"
          "\n"
          "contract\n"
          "  promote int_to_float  [mine.yaml:3]\n"
          "\n"
          "pointwise\n"
          "  exp(-square(self))  [mine.yaml:4]\n"
          "  element program desc::mine_bump, 3 steps:\n"
          "    t0 = square(self)\n"
          "    t0 = neg(t0)\n"
          "    t0 = exp(t0)\n"
          "    return t0\n"
          "\n"
          "kernels\n"
          "  CPU: element program  [mine.cpp]\n"
          "  Meta: sizes and dtype of the same  [mine.cpp]\n"
          "  bump_: by bump\n"
          "  bump.out: by bump\n"
          "\n"
          "autograd\n"
          "  node MineBumpBackward  [mine.cpp]\n"
          "  keeps self as SavedTensor, result as SavedTensor\n"
          "  by self: -2 * grad * result * self  [mine.yaml:5]\n"
          "  one element program: -2 * grad * result * self\n"
          "\n"
          "pages and tests\n"
          "  sy prove 'mine::bump' --schema " +
          file + "\n  sygen site DIR --with " + file + "\n");
}

TEST_F(ExplainOwn, ANamespaceIsThatOfTheOperator) {
  const std::vector<std::string> with = {path("mine.yaml")};
  const std::string mine = explained("mine::relu", with);
  EXPECT_TRUE(mine.starts_with("mine::relu(")) << mine;
  EXPECT_EQ(mine.find("\nrelu("), std::string::npos);
  EXPECT_TRUE(explained("aten::relu", with).starts_with("relu("));
  EXPECT_EQ(explained("aten::relu", with).find("mine::"), std::string::npos);
  // Without one, both.
  EXPECT_EQ(explained("relu", with), mine + '\n' + explained("aten::relu", {}));
  EXPECT_EQ(explained("mine::bumb", with),
            "sygen: error: unknown operator 'mine::bumb' (did you mean "
            "'mine::bump'?)\n");
}

TEST_F(ExplainOwn, KernelsInCppAreInTheLibrary) {
  write("far.yaml",
        "- func: far::away(Tensor self) -> Tensor\n"
        "  doc: By a kernel.\n"
        "  dispatch: {CPU: away}\n");
  const std::string text = explained("far::away", {path("far.yaml")});
  EXPECT_NE(text.find("\n  sy prove 'far::away' --plugin LIBRARY\n"),
            std::string::npos)
      << text;
}

TEST_F(ExplainOwn, WithAddsToTheLibrary) {
  std::ostringstream err;
  const std::vector<std::string> library = known_files({}, {"schemas"});
  const auto files = [&](const std::vector<std::string>& with) {
    const auto found = schemas_with(with, err);
    EXPECT_TRUE(found.has_value());
    std::vector<std::string> out = found->files();
    for (std::string& f : out) f = std::filesystem::canonical(f).string();
    return out;
  };
  const std::vector<std::string> all = files({});
  EXPECT_EQ(all.size(), library.size());
  const std::string mine =
      std::filesystem::canonical(path("mine.yaml")).string();
  std::vector<std::string> more = {mine};
  more.insert(more.end(), all.begin(), all.end());
  EXPECT_EQ(files({path("mine.yaml")}), more);
  EXPECT_EQ(files({folder_}), more);
  // Nothing twice.
  EXPECT_EQ(files({path("mine.yaml"), "schemas", path("mine.yaml")}), more);
  for (const char* part :
       {"schemas", "schemas/", "schemas/ops", "schemas/ops/activation.yaml",
        "schemas/tags.yaml"}) {
    EXPECT_EQ(files({part}), all) << part;
    EXPECT_TRUE(schemas_with({part}, err)->own.empty()) << part;
  }
  EXPECT_EQ(err.str(), "");
}

TEST_F(ExplainOwn, AnotherLibraryTakesThePlaceOfThisOne) {
  const std::string ops = path("library/ops");
  std::filesystem::create_directories(ops);
  write("library/tags.yaml", "");
  write("library/ops/some.yaml", "");
  std::ostringstream err;
  for (const std::string& with : {path("library"), ops, ops + "/some.yaml"}) {
    const auto found = schemas_with({path("mine.yaml"), with}, err);
    ASSERT_TRUE(found.has_value()) << err.str();
    EXPECT_EQ(found->own, std::vector<std::string>{path("mine.yaml")});
    EXPECT_EQ(found->library,
              (std::vector<std::string>{ops + "/some.yaml",
                                        path("library/tags.yaml")}));
  }
}

TEST_F(ExplainOwn, WithOfNothingIsAnError) {
  EXPECT_EQ(
      explained("relu", {path("nine.yaml")}),
      "sygen: error: --with " + path("nine.yaml") + ": no schema files\n");
}

}  // namespace
}  // namespace sy::codegen
