#pragma once

#include <string>

#include "tools/sy/prove/derivative_line.h"

// Whether derivatives along a line are the slopes there.

namespace sy::tools {

// Whether a derivative is no number: at a kink, or where there is none.
enum class Nan { kNone, kKink, kSmooth };

struct LineProblem {
  std::string text;  // "" if all is right
  Nan nan = Nan::kNone;
};

// The results of the operator there and at both sides: how many elements they
// have, and whether their sum is finite at the place itself. Throws what the
// operator throws.
struct Called {
  int64_t elements = 0;
  bool finite = true;
};
Called call_along(const Inputs& inputs, const Line& line);

// The derivatives along a line, of the orders 1 to `orders`, beside the slopes
// of the order below to both sides: one must lie between them. Elements are
// tried alone if it does not, and the slopes of places close by count as well:
// the derivative at a kink may be that of any of its sides. A point where the
// order below is not finite says nothing, nor does one at which there is no
// derivative to be had.
LineProblem line_problem(const Inputs& inputs, const Line& line, int orders);

// Results that record no gradient must stay the same along the line. "" if so.
std::string constant_problem(const Inputs& inputs, const Line& line);

// The gradients with and without create_graph, which must be the same.
LineProblem graph_problem(const Inputs& inputs, const Line& line);

}  // namespace sy::tools
