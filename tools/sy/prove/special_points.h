#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"
#include "tools/sy/prove/schema_texts.h"

namespace sy::tools {

struct PointsReport {
  size_t tried = 0, found = 0;
  std::string problems;  // a line each, the first of them
};

// Derivatives of the orders 1 to `orders` along a direction, at points where
// formulas tend to differ from those of their neighbours: elements of both
// signs, zeros, one or several, ties, matrices without an inverse, tiny and
// huge elements, the numbers among the arguments and of the schema, and places
// beside them. Each is compared with the slope of the order below to both
// sides. The first order is also compared with and without create_graph. With
// `orders` 0 the results record no gradient, and must not change. A point where
// a result or a neighbour's derivative is not finite says nothing; a derivative
// that is missing ends the orders.
PointsReport prove_points(OperatorHandle op, const std::vector<Value>& args,
                          const Hints& hints, int orders);

// The same at some of the points for other numbers, truth values and texts
// (varied_values.h), one argument at a time and two at a time. A value that
// makes results infinite or NaN where those of `args` are numbers is none that
// the operator is for: a derivative that is NaN says nothing there, nor does
// one at a kink, which the example's value may keep out as `eps` does.
PointsReport prove_values(OperatorHandle op, const std::vector<Value>& args,
                          const Hints& hints, int orders);

}  // namespace sy::tools
