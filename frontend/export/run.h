#pragma once

#include <vector>

#include "frontend/export/plan.h"

namespace sy::exporting {

// Is told the values that a run holds.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void after_step(const std::vector<Value>& values) = 0;
  // A step runs a graph, beside whose values these are held.
  virtual void enter_graph(const std::vector<Value>& values) = 0;
  virtual void leave_graph() = 0;
};

// Runs a graph on as many inputs as it has, which it takes. Devices of
// constants are `device`. An error that a node throws names it.
std::vector<Value> run_graph(const GraphPlan& graph, std::vector<Value> inputs,
                             Device device, RunObserver* observer = nullptr);

}  // namespace sy::exporting
