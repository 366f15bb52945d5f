#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aten/backend/capture.h"
#include "backends/lazy/run.h"
#include "c10/process/fork.h"

// The graph that a capture leaves behind, which runs again.

namespace sy::lazy {

using Captured = intrusive_ptr<LazyNode>;

// A value of a captured graph.
struct ValueOf {
  Captured node;
  uint16_t result = 0;
  friend bool operator==(const ValueOf&, const ValueOf&) = default;
};

// Copies on a device; does nothing if both are one address.
void copy_memory(Device device, void* to, const void* from, size_t n);

class CapturedGraph final : public capture::Graph {
 public:
  // Input i of the graph is `data[i]`, which may be nullptr if nobody reads it;
  // `after[i]` is what it is written to be, if it is.
  struct Parts {
    RecordedGraph graph;
    std::vector<capture::Input> inputs;
    std::vector<Captured> data;
    std::vector<ValueOf> after;
    std::vector<capture::Result> results;
    std::vector<ValueOf> values;
    bool draws = false;
  };

  // The caller holds graph_mutex().
  explicit CapturedGraph(Parts parts);
  ~CapturedGraph() override;
  void run(ArrayRef<capture::Memory> inputs, Storage* values) override;
  std::string listing() const override;
  std::string structure() const override;
  std::string plan() const override;
  int64_t num_calls() const override;
  int64_t num_steps() const override;

 private:
  struct Write {
    size_t input;
    Storage from;
    size_t bytes;
  };
  struct Clean;

  bool is_constant_data(const LazyNode& n) const;
  static uint64_t hash_of(const LazyNode& n);
  void bind(size_t i, const capture::Memory& m);
  std::vector<Write> save_old(Storage* values) const;
  Storage copied(const ValueOf& v) const;
  Storage taken(const ValueOf& value) const;
  void write_back(ArrayRef<capture::Memory> inputs, std::vector<Write> writes);

  const Device device_;
  const intrusive_ptr<Plan> plan_;
  ForkMutex mutex_;
  Run run_;
  const std::vector<Captured> data_;
  const std::vector<ValueOf> after_;
  const std::vector<ValueOf> values_;
  // The input that each value is, and that each input is afterwards, or -1.
  std::vector<int> value_input_, after_input_;
  std::set<std::pair<const LazyNode*, int>>
      written_;  // values that inputs will be
};

}  // namespace sy::lazy
