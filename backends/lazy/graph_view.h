#pragma once

#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "aten/backend/graph.h"
#include "backends/lazy/graph.h"
#include "backends/lazy/plan.h"
#include "c10/process/fork.h"

// Graphs as compilers see them.

namespace sy::lazy {

// Borrows the nodes, which must keep their operands.
class GraphView final : public graph::Graph {
 public:
  GraphView(const RecordedGraph& graph,
            const std::vector<RegionResult>& outputs);
  // Data and result that input i is.
  ValueRef input(int i) const { return inputs_[size_t(i)]; }
  void run_call(int i, ArrayRef<Tensor> operands,
                Storage* results) const override;
  // Everything that an executable depends on.
  std::vector<uint64_t> words() const;

 private:
  graph::Call call_of(const LazyNode& n);

  const RecordedGraph& graph_;
  std::vector<ValueRef> inputs_;
  // The first value of each node. LazyNode::index is that in another graph, if
  // several read the same data.
  std::unordered_map<const LazyNode*, int> first_;
  std::vector<std::vector<graph::Operand>> operands_;
};

// The executables that a compiler has made for the graphs of a plan.
class Executables {
 public:
  // Compiles if there is none. nullptr if the compiler does not take the graph.
  // Thread-safe.
  intrusive_ptr<graph::Executable> find(const GraphView& graph,
                                        const GraphEngine& engine);
  // A line for each, and why some could not be made.
  std::string text() const;

 private:
  static constexpr size_t kMost = 64;
  struct Entry {
    intrusive_ptr<graph::Executable> executable;
    uint64_t used = 0;
  };
  mutable ForkMutex mutex_;
  std::map<std::vector<uint64_t>, Entry> entries_;
  uint64_t clock_ = 0;
  std::string refused_;
};

}  // namespace sy::lazy
