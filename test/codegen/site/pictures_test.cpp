#include "codegen/site/pictures.h"

#include <random>

#include "codegen/site/layers.h"
#include "test/codegen/site/pictures_testing.h"

namespace sy::codegen::site {
namespace {

TEST_F(PicturesTest, CompositesShowTheirCalls) {
  const std::string svg = drawn("chosen");
  expect_good(svg);
  for (const char* part :
       {">self<", ">target<", ">plus<", ">total<", ">best<", ">result<",
        ">if reduction == 1<", ">if reduction == 2<"}) {
    EXPECT_EQ(count(svg, part), 1u) << part;
  }
  EXPECT_EQ(count(svg, "<a href=\"total.html\">"), 1u);
  EXPECT_EQ(count(svg, "<a href="), 3u);
  EXPECT_EQ(composition_svg(model_, op("chosen"), {}).find("<a href="),
            std::string::npos);
  EXPECT_EQ(drawn("turned_cut").find("<a href=\"again"), std::string::npos);
}

TEST_F(PicturesTest, NoGraphWithoutCallsOrOfTooMany) {
  EXPECT_EQ(drawn("again"), "");
  EXPECT_EQ(drawn("long_way"), "");
  EXPECT_EQ(drawn("total"), "");
}

TEST(LayersTest, NodesStandApartAndEdgesGoForward) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    LayeredGraph g;
    const std::size_t n = 2 + random() % 18;
    for (std::size_t v = 0; v < n; ++v) {
      g.nodes.push_back({20.0 + random() % 80, 26.0 + random() % 14});
      for (std::size_t u = 0; u < v; ++u) {
        if (random() % 4 == 0) g.edges.push_back({u, v});
      }
    }
    lay_out(g, trial % 2 == 0 ? 460 : 5000);
    for (std::size_t v = 0; v < n; ++v) {
      const auto& b = g.nodes[v];
      EXPECT_GE(b.at.x, -0.01);
      EXPECT_GE(b.at.y, -0.01);
      EXPECT_LE(b.at.x + b.width, g.width + 0.01);
      EXPECT_LE(b.at.y + b.height, g.height + 0.01);
      for (std::size_t u = 0; u < v; ++u) {
        const auto& a = g.nodes[u];
        const bool apart = a.at.x + a.width <= b.at.x + 0.01 ||
                           b.at.x + b.width <= a.at.x + 0.01 ||
                           a.at.y + a.height <= b.at.y + 0.01 ||
                           b.at.y + b.height <= a.at.y + 0.01;
        EXPECT_TRUE(apart) << trial;
      }
    }
    for (const auto& e : g.edges) {
      EXPECT_LT(g.nodes[e.from].layer, g.nodes[e.to].layer);
      EXPECT_EQ(fault("<path d=\"" + path_of(g, e) + "\"/>"), "");
    }
  }
}

TEST(DispatchTest, KeysOfOneKernelShareARow) {
  OperatorFacts facts;
  EXPECT_EQ(dispatch_svg(facts), "");
  facts.dispatch = {{"AutogradCPU", "alias: Autograd", "a/autograd.cpp:1"},
                    {"AutogradMeta", "alias: Autograd", "a/autograd.cpp:1"},
                    {"CPU", "own: CPU", "a/b/cpu.cpp:2, guarded"},
                    {"Undefined", "missing", ""}};
  const std::string svg = dispatch_svg(facts);
  expect_good(svg);
  EXPECT_EQ(count(svg, "a/autograd.cpp:1"), 1u);
  EXPECT_EQ(count(svg, ">guard<"), 1u);
  EXPECT_EQ(count(svg, ">AutogradCPU and 1 more<"), 1u);
  EXPECT_EQ(count(svg, ">own kernel<"), 1u);
  EXPECT_NE(svg.find("NotImplementedError"), svg.npos);
  EXPECT_EQ(svg.find("guarded"), svg.npos);
}

}  // namespace
}  // namespace sy::codegen::site
