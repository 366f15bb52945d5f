#pragma once

#include "backends/lazy/graph_view.h"
#include "backends/lazy/plan.h"
#include "backends/lazy/run_node.h"
#include "c10/process/error.h"

namespace sy::lazy {

// A run of a graph by a plan.
class Run {
 public:
  // The caller holds graph_mutex(). The graph's nodes are running from now on.
  Run(RecordedGraph graph, Plan& plan);
  const RecordedGraph& graph() const { return graph_; }
  // Computes. Throws what a kernel throws, with the operator's name. The values
  // that were computed before stay.
  void run();
  // Says to the nodes what has become of them. The caller holds graph_mutex().
  void finish();
  // Instead of finish(): run() may be called again, once the values that the
  // graph reads are there. Frees those that it made.
  void rewind();
  // For graphs that end by rewind(): results that other processes have a part
  // in may come while the graph goes on, until the end of run().
  void let_results_be_late() { may_be_late_ = true; }

 private:
  bool is_timed();
  void add_costs();
  void run_steps();
  void run_step(const Step& step);
  void wait_for_operands(const Step& step);
  void name_calls(const Step& step, Error* e) const;
  class StepMemory;
  void run_single(LazyNode& node);
  bool run_whole(const Step& step);
  void run_region(const Step& step);
  Storage taken_or_copied(LazyNode& node, size_t operand);
  bool dies(const LazyNode& node, size_t operand);
  const Made& made(ValueRef v) const;
  Made& made(ValueRef v);
  void count_bytes(const Made& m, const ValueLayout& part);

  RecordedGraph graph_;
  Plan& plan_;
  size_t done_ = 0;          // steps
  std::vector<Cost> costs_;  // of the steps
  // Whether the time is taken: of the first runs and of some later ones, as two
  // looks at the clock take as long as a small step.
  bool timed_;
  int64_t bytes_ = 0;  // that the step which runs reads and writes
  Counters counts_;
  NodeScratch scratch_;
  // Results that are under way. The step that reads one waits.
  bool may_be_late_ = false;
  std::vector<Tensor> late_;
  // The graph and the executable of a step that is `whole`, once it has run.
  std::unique_ptr<GraphView> view_;
  intrusive_ptr<graph::Executable> executable_;
  // The strides, memories and numbers of the region that runs.
  std::vector<int64_t> strides_;
  std::vector<RegionMemory> memory_;
  std::vector<program::Uniform> uniforms_;
};

// The operator on tensors of the inner device, below autograd and everything
// that the calling thread has switched on.
void call_inner(const OperatorEntry& op, std::vector<Value>& args,
                std::vector<Value>* results);

}  // namespace sy::lazy
