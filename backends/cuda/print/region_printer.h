#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/print/body.h"
#include "backends/cuda/print/region.h"
#include "c10/process/error.h"

// The common part of the printers of kernels of regions.

namespace sy::cuda::print {

class RegionPrinter {
 protected:
  using ComputeType = program::ComputeType;
  using Program = program::Program;

  // Borrows both. The inputs are those of the text.
  RegionPrinter(const std::string& name, const RegionText& text)
      : name_(name), t_(text) {}

  template <class... Ts>
  void add(const Ts&... parts) {
    ((out_ += str("{}", parts)), ...);
  }
  const RegionNode& node(int i) const {
    return t_.region->nodes[static_cast<size_t>(i)];
  }

  // Files of functors.
  void need(const Program* p, ComputeType type);
  void need_nodes(const RegionText& text);
  // Sets the reduction, which is printed from now on.
  void set_reduction(int node);
  // begin() prints up to the members of Op, end() all after them.
  void begin(std::string_view file, std::string_view params, int n_operands,
             size_t numbers);
  void end(std::string_view threads, std::string_view shell);

  // Prints In, and load() from the first of n operands, the member `data`.
  void load(size_t n, std::string_view data);

  // The element of a value, in its dtype.
  std::string value(int v) const;
  std::vector<std::string> arguments(const RegionNode& n) const;
  // Prints statements; returns results. Numbers have the node's type, `given`.
  std::vector<std::string> run(const Program& p, ComputeType type,
                               std::vector<std::string> operands,
                               std::string_view prefix, ComputeType given);
  std::vector<std::string> run(const Program& p, ComputeType type,
                               std::vector<std::string> operands,
                               std::string_view prefix) {
    return run(p, type, std::move(operands), prefix, type);
  }
  // The body of a function is printed between these: `divided` is there if a
  // step needs it.
  void open();
  void close();
  void nodes(const RegionText& text);

  // Output i of a text, and its element.
  const RegionOutput& output(const RegionText& text, size_t i) const {
    return t_.region->outputs[static_cast<size_t>(text.outputs[i])];
  }
  std::string_view output_element(const RegionText& text, size_t i) const {
    return element_name(output(text, i).memory.dtype);
  }
  // Prints Out, and store() to the operands from `first` on, of `n`.
  void outputs(const RegionText& text, size_t first, size_t n);
  void return_outputs(const RegionText& text);

  // Parts of a reduction: Acc, map(), combine().
  int accumulators() const { return node_->body.n_results; }
  ComputeType accumulator_type(int i) const {
    return node_->body.results[i].is_bool ? ComputeType::b8 : accumulated_;
  }
  void accumulator();
  void map(const RegionText& text);
  void combine();
  // The results as elements: statements before them are printed.
  std::vector<std::string> finished();
  // `first`: the number of its first accumulator.
  void nothing(int first);

  const std::string& name_;
  const RegionText& t_;
  const RegionNode* node_ = nullptr;
  ComputeType type_{}, accumulated_{};
  std::string out_;
  int number_ = 0;

 private:
  void give(const std::vector<std::string>& values, ComputeType from);

  std::vector<std::string_view> files_ = {"element.cuh"};
  size_t opened_ = 0;
  bool divides_ = false;
};

}  // namespace sy::cuda::print
