#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/commands.h"
#include "codegen/torch/translate.h"
#include "lang/ast.h"

// Operators are added by name: what is imported needs a kernel and no more.

namespace sy::codegen {
namespace {

const std::string kData = "test/codegen/torch/testdata/";

std::vector<std::string> own_files() {
  std::vector<std::string> files = {"schemas/tags.yaml"};
  for (const auto& e : std::filesystem::directory_iterator("schemas/ops")) {
    files.push_back(e.path().string());
  }
  return files;
}

struct Imported {
  int status;
  std::string text;
  std::string errors;
};

Imported imported(std::vector<std::string> ops, bool with_own = true) {
  std::ostringstream out, err;
  const int status = import_entries(
      {.files = {kData + "native_functions.yaml", kData + "tags.yaml"},
       .ops = std::move(ops),
       .derivatives = {kData + "derivatives.yaml"},
       .with = with_own ? own_files() : std::vector<std::string>{}},
      out, err);
  return {status, out.str(), err.str()};
}

// The output of `check` for an import among our own files, each kernel named.
std::string check_filled(std::string text) {
  const std::string blank = ":  # the name of a C++ function";
  for (std::size_t at; (at = text.find(blank)) != std::string::npos;) {
    text.replace(at, blank.size(), ": kernel");
  }
  const std::string path = ::testing::TempDir() + "imported_ops.yaml";
  std::ofstream(path) << text;
  std::vector<std::string> files = own_files();
  files.push_back(path);
  std::ostringstream err;
  EXPECT_EQ(check_files(files, err), err.str().empty() ? 0 : 1);
  return err.str();
}

TEST(Import, GroupsFormsAndTranslatesDerivatives) {
  const Imported r = imported({"plus*"});
  EXPECT_EQ(r.errors, "");
  EXPECT_EQ(
      r.text,
      "- func: plus.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
      "Tensor\n"
      "  variants: function, method\n"
      "  tags: [core, pointwise]\n"
      "  dispatch:\n"
      "    CPU:  # the name of a C++ function\n"
      "  forms:\n"
      "    inplace: plus_.Tensor(Tensor(a!) self, Tensor other, *, Scalar "
      "alpha=1) -> Tensor(a!)\n"
      "    out: plus.out(Tensor self, Tensor other, *, Scalar alpha=1, "
      "Tensor(a!) out) -> Tensor(a!)\n"
      "  derivative:\n"
      "    self: grad\n"
      "    other: grad * alpha\n");
  EXPECT_EQ(check_filled(r.text), "");
}

TEST(Import, WhatTheLanguageCannotSayIsAComment) {
  const Imported r = imported({"joined"});
  EXPECT_EQ(r.text,
            "- func: joined(Tensor[] tensors, int dim=0) -> Tensor\n"
            "  dispatch:\n"
            "    CompositeExplicitAutograd:  # the name of a C++ function\n"
            "  # by tensors, in PyTorch's words: cat_tensors_backward(grad, "
            "to_args_sizes_symint(tensors), to_args_scalartypes(tensors), "
            "dim)\n");
  EXPECT_EQ(check_filled(r.text), "");
}

TEST(Import, FormulasThatCallWhatIsMissingAreComments) {
  const std::string derivative = "  derivative:\n    self: grad.transpose(";
  EXPECT_NE(imported({"turned"}).text.find(derivative), std::string::npos);
  EXPECT_EQ(imported({"turned"}, false).text.find(derivative),
            std::string::npos);
}

TEST(Import, EveryFunctionPassesOnceItsKernelIsNamed) {
  for (const char* op : {"filled", "zeroed_", "observe", "_foreach_plus*",
                         "turned*", "drop", "largest.dim", "is_odd", "*"}) {
    const Imported r = imported({op});
    EXPECT_EQ(r.status, 0) << op << r.errors;
    EXPECT_NE(r.text.find("- func: "), std::string::npos) << op;
    EXPECT_EQ(check_filled(r.text), "") << op << '\n' << r.text;
  }
}

TEST(Import, KernelsMustBeNamed) {
  const std::string path = ::testing::TempDir() + "blank_ops.yaml";
  std::ofstream(path) << imported({"zeroed_"}).text;
  std::ostringstream err;
  EXPECT_EQ(check_files({path}, err), 1);
  EXPECT_NE(err.str().find("expected the name of a function for 'CPU'"),
            std::string::npos);
}

TEST(Import, UnknownNamesAreErrorsWithTheNearest) {
  const Imported r = imported({"plus.Tensr", "zeroed_"});
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.text, "");
  EXPECT_EQ(r.errors, kData +
                          "native_functions.yaml: error: no function is called "
                          "'plus.Tensr' (did you mean 'plus.Tensor'?)\n");
}

TEST(Import, WhatIsThereAlreadyIsAnErrorWithBothPlaces) {
  const std::string path = ::testing::TempDir() + "native_functions.yaml";
  std::ofstream(path) << "- func: relu(Tensor self) -> Tensor\n"
                         "  device_guard: False\n";
  std::ostringstream out, err;
  EXPECT_EQ(import_entries({.files = {path},
                            .ops = {"relu"},
                            .derivatives = {},
                            .with = own_files()},
                           out, err),
            1);
  EXPECT_EQ(out.str(), "");
  const std::string start =
      path +
      ":1:9: error: operator 'relu' is defined twice; the first is at "
      "schemas/ops/activation.yaml:";
  EXPECT_EQ(err.str().substr(0, start.size()), start);
}

TEST(Translate, RealFormulas) {
  const std::pair<const char*, const char*> kSaid[] = {
      {"grad * -((-self * self + 1).rsqrt()).conj()",
       "grad * -(-self * self + 1).rsqrt()"},
      {"self.is_complex() ? a(grad) : grad / self", "grad / self"},
      {"p == 0 ? grad : zeros_like(input)",
       "if p == 0 then grad else zeros_like(input)"},
      {"grad * (p == 0 ? 1 : 2)", "grad * (if p == 0 then 1 else 2)"},
      {"at::_unique(x, /*sorted=*/false)", "_unique(x, false)"},
      {"!bias.has_value() && k >= 1e-3", "not bias != None and k >= 0.001"},
      {"grad.expand_symint({ a.sym_size(0), n })",
       "grad.expand([a.size(0), n])"},
      {"f(std::nullopt, \"mean\", grads[1])", "f(None, 'mean', grads[1])"}};
  for (const auto& [from, to] : kSaid) {
    const lang::Expr e = torch::translate(from);
    ASSERT_TRUE(e) << from;
    EXPECT_EQ(to_string(e), to) << from;
  }
}

TEST(Translate, OtherCppIsLeftAlone) {
  for (const char* from :
       {"std::get<0>(f(grad))", "[&]() { return grad; }()", "a->sizes()",
        "not_implemented(\"f\")", "grad *", "f(grad", "a < b < c", "x << 1",
        "(Tensor)grad", "", "/* grad"}) {
    EXPECT_EQ(torch::translate(from), nullptr) << from;
  }
  EXPECT_EQ(torch::translate(std::string(100000, '(')), nullptr);
  EXPECT_EQ(torch::translate(std::string(100000, '-') + "x"), nullptr);
}

}  // namespace
}  // namespace sy::codegen
