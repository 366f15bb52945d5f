#include <gtest/gtest.h>

#include <map>
#include <set>

#include "codegen/site/operators.h"
#include "codegen/site/search.h"
#include "codegen/site/site.h"
#include "codegen/site/start.h"

// A site of some families of a model, as of a library outside the tree.

namespace sy::codegen::site {
namespace {

constexpr const char* kMine = R"(- func: mine::bump(Tensor self) -> Tensor
  doc: 1 above.
  pointwise: self + 1

- func: mine::gate(Tensor self) -> Tensor
  doc: A product with 1 above.
  composite: mul(self, bump(self))
)";
constexpr const char* kOps = R"(- func: mul(Tensor self, Tensor other) -> Tensor
  doc: The product.
  pointwise: self * other

- func: gate_of(Tensor self) -> Tensor
  doc: A name like the other's.
  composite: mul(self, self)
)";

class Families : public ::testing::Test {
 protected:
  void SetUp() override {
    lang::Diagnostics d;
    model_ = Model::load(
        std::vector<SourceText>{{"mine.yaml", kMine}, {"ops.yaml", kOps}}, d);
    ASSERT_EQ(d.str(), "");
  }
  // The texts of the first `n` families' site, by path.
  std::map<std::string, std::string> site(std::size_t n) const {
    lang::Diagnostics d;
    std::map<std::string, std::string> out;
    for (OutputFile& f :
         make_site("Mine", model_, model_.families().first(n), {}, {}, d)) {
      out[f.path] = std::move(f.text);
    }
    EXPECT_EQ(d.str(), "");
    return out;
  }

  Model model_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST_F(Families, OthersHaveNoPages) {
  std::set<std::string> paths;
  for (const auto& [path, text] : site(1)) {
    if (!path.starts_with("assets/")) paths.insert(path);
  }
  EXPECT_EQ(paths,
            (std::set<std::string>{"families/mine.mine.html", "index.html",
                                   "operators.html", "ops/mine.bump.html",
                                   "ops/mine.gate.html"}));
  EXPECT_EQ(site(2).count("ops/mul.html"), 1u);
}

TEST_F(Families, WhatOthersHaveIsNamedWithoutALink) {
  EXPECT_TRUE(has(site(2)["ops/mine.gate.html"], "<a href=\"mul.html\">"));
  auto pages = site(1);
  const std::string& gate = pages["ops/mine.gate.html"];
  EXPECT_TRUE(has(gate,
                  "<th>Calls</th><td><a href=\"mine.bump.html\">mine::bump"
                  "</a>, <code>mul</code></td>"))
      << gate;
  EXPECT_TRUE(has(gate, ">mul</text>"));  // in the picture
  for (const auto& [path, text] : pages) {
    EXPECT_FALSE(has(text, "mul.html")) << path;
    EXPECT_FALSE(has(text, "gate_of")) << path;
  }
}

TEST_F(Families, OthersAreNotCounted) {
  auto pages = site(1);
  EXPECT_TRUE(has(pages["operators.html"], ">2</span> operators in 1 family."));
  EXPECT_TRUE(has(pages["index.html"], "<dt>family</dt><dd>1</dd>"));
  EXPECT_TRUE(
      has(site(2)["operators.html"], ">4</span> operators in 2 families."));
}

}  // namespace
}  // namespace sy::codegen::site
