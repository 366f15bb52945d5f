#pragma once

#include <vector>

#include "codegen/site/facts.h"
#include "codegen/site/svg.h"

// Private to curves_svg: turns samples into lines.

namespace sy::codegen::site {

// The part of the plane that a picture shows.
struct Window {
  double x0 = 0, x1 = 1, y0 = 0, y1 = 1;

  double width() const { return x1 - x0; }
  double height() const { return y1 - y0; }
};
// Shows all of the curves that are not much taller than the rest; a derivative
// may add to it.
Window window_of(const std::vector<Curve>& curves);

// 1, 2 or 5 times a power of ten, so that some `wanted` steps fill `range`.
double tick_step(double range, int wanted);

struct Parts {
  std::vector<std::vector<Point>> lines;
  std::vector<double> poles;  // x, where a line leaves on both sides
};
// `y` over `x` inside of the window, in parts: there is none over NaN, outside
// of the window and across a jump. `dy` tells jumps from steep places and may
// be empty.
Parts parts_of(const std::vector<double>& x, const std::vector<double>& y,
               const std::vector<double>& dy, const Window& window);

// The same line with fewer points, none of those left out further than `error`
// from it.
std::vector<Point> simplified(const std::vector<Point>& line, double error);

}  // namespace sy::codegen::site
