#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "c10/dispatcher.h"
#include "c10/value.h"

namespace sy::tools {

struct PointsReport {
  size_t tried = 0;
  std::string problems;  // a line each
};

// Derivatives of the orders 1, 2 and 3 along a direction, at points where
// formulas tend to differ from those of their neighbours: zeros, one or
// several, ties, matrices without an inverse, tiny and huge elements. Each is
// compared with the slope of the order below to both sides. Where the slopes
// differ, at a kink, it must lie between them. The first order is also compared
// with and without create_graph. `args` are those of a call whose results
// record a gradient. A point where a result or a neighbour's derivative is not
// finite says nothing; a derivative that is missing ends the orders.
PointsReport prove_points(OperatorHandle op, const std::vector<Value>& args);

}  // namespace sy::tools
