#include <cmath>
#include <limits>

#include "codegen/site/curve_lines.h"
#include "test/codegen/site/pictures_testing.h"

namespace sy::codegen::site {
namespace {

template <class F>
Curve sampled(double from, double to, const F& f, bool derivative = false) {
  Curve c;
  for (int k = 0; k <= 200; ++k) {
    const double x = from + (to - from) * k / 200;
    c.x.push_back(x);
    c.y.push_back(f(x));
    if (derivative) c.dy.push_back((f(x + 1e-6) - f(x - 1e-6)) / 2e-6);
  }
  return c;
}

TEST(SvgTest, NumbersAreShort) {
  EXPECT_EQ(coordinate(0.5), ".5");
  EXPECT_EQ(coordinate(-0.25), "-.25");
  EXPECT_EQ(coordinate(12.345), "12.35");
  EXPECT_EQ(coordinate(30), "30");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(path_through({{1, 2}, {3, -4}}), "M1 2 3-4");
}

TEST(SvgTest, TextIsEscaped) {
  Svg svg(10, "x", "a < \"b\"");
  svg.open("fill=\"none\"");
  svg.text({1, 2}, "<&>");
  EXPECT_EQ(fault(svg.finish()), "");
}

TEST(CurvesTest, DrawsACurveAndItsDerivative) {
  OperatorFacts facts;
  facts.axis = "self";
  facts.curves = {sampled(
      -4, 4, [](double x) { return std::tanh(x); }, true)};
  const std::string svg = curves_svg("tanh", facts);
  expect_good(svg);
  EXPECT_EQ(count(svg, "stroke-dasharray=\"5 4\""), 1u);
  EXPECT_NE(svg.find(">tanh<"), svg.npos);
  EXPECT_NE(svg.find(">derivative<"), svg.npos);
  EXPECT_NE(svg.find(">self<"), svg.npos);
  EXPECT_EQ(svg, curves_svg("tanh", facts));
}

TEST(CurvesTest, NamesTheCurvesOfAFamily) {
  OperatorFacts facts;
  for (const int k : {2, 1, 3}) {
    facts.curves.push_back(sampled(
        -2, 2, [&](double x) { return std::exp(x * k); }, true));
    facts.curves.back().label = "beta=" + std::to_string(k);
  }
  const std::string svg = curves_svg("soft", facts);
  expect_good(svg);
  for (const char* label : {">beta=1<", ">beta=2<", ">beta=3<"}) {
    EXPECT_NE(svg.find(label), svg.npos) << label;
  }
  EXPECT_NE(svg.find("color-mix"), svg.npos);
  // Colours go with the numbers, whichever comes first.
  EXPECT_LT(svg.find(">beta=1<"), svg.find(">beta=2<"));
}

TEST(CurvesTest, NothingWithoutAChange) {
  OperatorFacts facts;
  EXPECT_EQ(curves_svg("none", facts), "");
  facts.curves = {sampled(-1, 1, [](double) { return 1.0; })};
  EXPECT_EQ(curves_svg("one", facts), "");
  facts.curves = {sampled(-1, 1, [](double) { return NAN; })};
  EXPECT_EQ(curves_svg("nan", facts), "");
}

TEST(CurvesTest, WindowLeavesOutliersOut) {
  auto tan = sampled(-4, 4, [](double x) { return std::tan(x); });
  const Window w = window_of({tan});
  EXPECT_LT(w.y1, 12);
  EXPECT_GT(w.y0, -12);
  EXPECT_GT(w.y1, 2);
  auto line = sampled(-4, 4, [](double x) { return 100 * x; });
  EXPECT_GT(window_of({line}).y1, 400);
  line.y[3] = 1e9;
  line.y[4] = std::numeric_limits<double>::infinity();
  EXPECT_LT(window_of({line}).y1, 600);
}

TEST(CurvesTest, PolesAndJumpsPartALine) {
  const auto parts = [](const Curve& c) {
    return parts_of(c.x, c.y, c.dy, window_of({c}));
  };
  const Parts tan = parts(sampled(
      -4, 4, [](double x) { return std::tan(x); }, true));
  EXPECT_EQ(tan.lines.size(), 3u);
  ASSERT_EQ(tan.poles.size(), 2u);
  EXPECT_NEAR(tan.poles[1], 1.5708, 0.05);
  const Parts floor =
      parts(sampled(-2.2, 2.2, [](double x) { return std::floor(x); }));
  EXPECT_EQ(floor.lines.size(), 6u);
  EXPECT_TRUE(floor.poles.empty());
  const Parts root =
      parts(sampled(-1, 4, [](double x) { return std::sqrt(x); }));
  ASSERT_EQ(root.lines.size(), 1u);
  EXPECT_GE(root.lines[0][0].x, -1e-9);
  // The derivative of abs has a sample in the middle of its jump.
  Curve sign = sampled(-4, 4, [](double x) {
    return x < -1e-9 ? -1.0 : x > 1e-9 ? 1.0 : 0.0;
  });
  EXPECT_EQ(parts(sign).lines.size(), 2u);
  // A steep place is no jump.
  const Parts steep = parts(sampled(
      -4, 4, [](double x) { return std::tanh(20 * x); }, true));
  EXPECT_EQ(steep.lines.size(), 1u);
}

TEST(CurvesTest, LinesStayInTheWindow) {
  const Curve c = sampled(-4, 4, [](double x) { return x * x * x; });
  const Window w = {-4, 4, -5, 5};
  for (const auto& line : parts_of(c.x, c.y, {}, w).lines) {
    for (const Point& p : line) {
      EXPECT_LE(std::abs(p.y), 5 + 1e-9);
    }
    EXPECT_NEAR(line.back().y, 5, 1e-9);
  }
}

TEST(CurvesTest, SimplifiedLinesAreNear) {
  std::vector<Point> line;
  for (int k = 0; k <= 300; ++k)
    line.push_back({k / 3.0, 40 * std::sin(k / 30.0)});
  const auto few = simplified(line, 0.1);
  EXPECT_LT(few.size(), 80u);
  for (const Point& p : line) {
    const auto after = std::find_if(few.begin() + 1, few.end() - 1,
                                    [&](Point q) { return q.x >= p.x; });
    const Point b = *after, a = *(after - 1);
    const double y = a.y + (b.y - a.y) * (p.x - a.x) / (b.x - a.x);
    EXPECT_NEAR(y, p.y, 0.6);
  }
  EXPECT_EQ(tick_step(10, 5), 2);
  EXPECT_EQ(tick_step(0.7, 5), 0.1);
}

}  // namespace
}  // namespace sy::codegen::site
