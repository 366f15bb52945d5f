#include "autograd/dot.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "autograd/api.h"
#include "autograd/saved_tensor_hooks.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// Pictures of graphs.

namespace sy::sample {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Dot, ShowsNodesEdgesAndWhatIsSaved) {
  const Tensor a = numbers({2, 3}), b = numbers({3});
  const std::string text = autograd::dot(sum(mul(exp(a), b)));
  EXPECT_EQ(text.rfind("digraph {\n", 0), 0u);
  // exp saves its result, which mul saves too; and b: 48 + 24 bytes.
  EXPECT_TRUE(has(text, "label=\"5 nodes, 72 B saved\"")) << text;
  EXPECT_TRUE(has(text, "n0 [label=\"sample::sum.dim_IntList\\nfloat64[]\"]"))
      << text;
  EXPECT_TRUE(has(text, "n1 [label=\"sample::mul.Tensor\\nfloat64[2, 3]\"]"))
      << text;
  EXPECT_TRUE(has(text, "n0 -> n1;")) << text;
  EXPECT_TRUE(
      has(text, "[label=\"AccumulateGrad\\nfloat64[3]\", shape=ellipse]"))
      << text;
  EXPECT_TRUE(has(text,
                  "s1 [label=\"self: float64[2, 3], 48 B\\lother: float64[3], "
                  "24 B\\l\", shape=note"))
      << text;
  EXPECT_TRUE(has(text, "result: float64[2, 3], result, 48 B")) << text;
}

TEST(Dot, NumbersTheResultsOfANode) {
  const Tensor a = numbers({2});
  const auto [s, c] = ops::sincos::call(a);
  const std::string text = autograd::dot(sum(c));
  EXPECT_TRUE(has(text, "n0 -> n1 [label=1];")) << text;
  EXPECT_TRUE(has(text, "sample::sincos\\nfloat64[2]\\nfloat64[2]")) << text;
}

TEST(Dot, OfWhatIsFreedOrPacked) {
  const Tensor a = numbers({2});
  Tensor y = sum(mul(a, a));
  y.backward();
  EXPECT_TRUE(has(autograd::dot(y), "self: freed")) << autograd::dot(y);
  const autograd::SavedTensorHooks hooks(
      [](const Tensor& t) -> std::any { return t; },
      [](const std::any& v) { return std::any_cast<const Tensor&>(v); });
  y = mul(a, a);
  EXPECT_TRUE(has(autograd::dot(y), "self: float64[2], packed"));
}

TEST(Dot, OfATallGraph) {
  Tensor x = numbers({1});
  for (int i = 0; i < 20000; ++i) x = mul(x, x);
  EXPECT_TRUE(has(autograd::dot(x), "20001 nodes"));
}

TEST(Dot, NeedsAHistory) {
  SY_EXPECT_ERROR(autograd::dot(numbers({1}, false)), ValueError,
                  "[dot] tensors[0]: expected a tensor that requires a "
                  "gradient");
  SY_EXPECT_ERROR(autograd::dot(Tensor()), ValueError, "an undefined one");
}

TEST(Svg, IsDrawnByGraphviz) {
  const Tensor a = numbers({2});
  const Tensor y = sum(mul(a, a));
  // A program of graphviz's name, so that the test needs none.
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "graphviz";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "dot")
      << "#!/bin/sh\necho \"<svg $*>\"\ncat\necho '</svg>'\n";
  std::filesystem::permissions(folder / "dot",
                               std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder.string() + ":" + path).c_str(), 1);
  const std::string picture = autograd::svg(y);
  EXPECT_TRUE(has(picture, "<svg -Tsvg")) << picture;
  EXPECT_TRUE(has(picture, "</svg>"));
  EXPECT_TRUE(has(picture, "sample::mul.Tensor"));
  setenv("PATH", "/nowhere", 1);
  SY_EXPECT_ERROR(autograd::svg(y), NotImplementedError,
                  "[svg] expected graphviz's program dot on PATH");
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace sy::sample
