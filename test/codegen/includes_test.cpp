#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/emit/emit.h"
#include "codegen/model_names.h"
#include "model/model.h"

// Generated sources include what they use, found while they are written.

namespace sy::codegen {
namespace {

Model model_of(std::string yaml) {
  lang::Diagnostics diagnostics;
  Model model = Model::load(
      std::vector<SourceText>{{"schemas/ops/a.yaml", std::move(yaml)}},
      diagnostics);
  EXPECT_EQ(diagnostics.str(), "");
  return model;
}

std::string definitions(std::string yaml) {
  const Model model = model_of(std::move(yaml));
  return emit_definitions(model, model.family(0));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++n;
  }
  return n;
}

TEST(Includes, AreThoseOfCodeAndNotOfWords) {
  const std::string entry =
      "- func: f(Tensor self, int k) -> Tensor\n"
      "  dispatch:\n"
      "    CPU: f_cpu\n";
  const std::string plain = definitions(
      entry + "  require:\n    - k > 0: a std::sqrt of geometry::at\n");
  EXPECT_FALSE(has(plain, "#include <cmath>")) << plain;
  EXPECT_FALSE(has(plain, "index_functions.h")) << plain;
  const std::string math = definitions(entry + "  require: [abs(k) > 0]\n");
  EXPECT_TRUE(has(math, "#include <cmath>\n\n#include \"aten/")) << math;
  const std::string shapes =
      definitions(entry + "  require: ['len(self.sizes()) > 0']\n");
  EXPECT_TRUE(has(shapes, "#include \"aten/engine/geometry.h\"")) << shapes;
}

TEST(Includes, OfAFunctionThatNamesItsHeader) {
  const std::string text = definitions(
      "- func: f(Tensor self, int[] k) -> Tensor\n"
      "  shape: window_counts(self.sizes(), k, k, k, k)\n"
      "  dispatch:\n"
      "    CPU: f_cpu\n");
  EXPECT_TRUE(has(text, "#include \"aten/contract/pooling_windows.h\""))
      << text;
}

TEST(Includes, OfADefault) {
  const Model model = model_of(
      "- func: f(Tensor self, int reduction=Mean, float top=inf) -> Tensor\n"
      "  dispatch:\n"
      "    CompositeImplicitAutograd: f\n");
  const std::string text = emit_functions_header(model, model.family(0));
  EXPECT_TRUE(has(text,
                  "#include <limits>\n\n"
                  "#include \"aten/contract/reduction_kind.h\"\n"
                  "#include \"aten/tensor.h\"\n"))
      << text;
}

TEST(ViewSizes, AreComputedOnceWhereverStridesReadThem) {
  const std::string text = definitions(
      "- func: f(Tensor(a) self, int[] size) -> Tensor(a)\n"
      "  view:\n"
      "    sizes: infer_size(size, self.numel())\n"
      "    strides: >-\n"
      "      if len( infer_size(size, self.numel()) ) == 0 then "
      "self.strides()\n"
      "      else view_strides(self.sizes(), self.strides(),\n"
      "      infer_size(size, self.numel()))\n");
  EXPECT_EQ(count(text, "geometry::infer_size("), 1) << text;
  EXPECT_EQ(count(text, "const Dims new_sizes = geometry::infer_size("), 1);
}

TEST(ViewSizes, OfAnotherScopeAreNotThoseOfTheView) {
  // The same words, of another `k`.
  const std::string text = definitions(
      "- func: f(Tensor(a) self) -> Tensor(a)\n"
      "  view:\n"
      "    sizes: let k = 1 in fill(k, 2)\n"
      "    strides: let k = 2 in fill(k, 2)\n");
  EXPECT_EQ(count(text, "geometry::fill(k, 2)"), 2) << text;
}

}  // namespace
}  // namespace sy::codegen
