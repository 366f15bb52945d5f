#pragma once

#include <vector>

#include "frontend/export/plan.h"

namespace sy::exporting {

// Runs a graph on as many inputs as it has, which it takes. Devices of
// constants are `device`. An error that a node throws names it.
std::vector<Value> run_graph(const GraphPlan& graph, std::vector<Value> inputs,
                             Device device);

}  // namespace sy::exporting
