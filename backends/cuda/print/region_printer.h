#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/print/op_printer.h"
#include "backends/cuda/print/region.h"

// The common part of the printers of kernels of regions.

namespace sy::cuda::print {

class RegionPrinter : protected OpPrinter {
 protected:
  // Borrows both. The inputs are those of the text.
  RegionPrinter(const std::string& name, const RegionText& text)
      : OpPrinter(name), t_(text) {}

  const RegionNode& node(int i) const {
    return t_.region->nodes[static_cast<size_t>(i)];
  }

  void need_nodes(const RegionText& text);
  // Sets the reduction, which is printed from now on.
  void set_reduction(int node);
  // begin() of OpPrinter, with the argument's template.
  void begin(std::string_view file, std::string_view params, int n_operands,
             size_t numbers);
  // The inputs, of which those of bits of `fixed` are so; the outputs of a
  // text, whose first operand is `first`.
  Operands inputs(uint64_t fixed = 0) const;
  Operands outputs_of(const RegionText& text, size_t first) const;

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
  void nodes(const RegionText& text);

  // Output i of a text, and its element.
  const RegionOutput& output(const RegionText& text, size_t i) const {
    return t_.region->outputs[static_cast<size_t>(text.outputs[i])];
  }
  std::string_view output_element(const RegionText& text, size_t i) const {
    return element_name(output(text, i).memory.dtype);
  }
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

  const RegionText& t_;
  const RegionNode* node_ = nullptr;
  ComputeType type_{}, accumulated_{};
  int number_ = 0;

 private:
  void give(const std::vector<std::string>& values, ComputeType from);
};

}  // namespace sy::cuda::print
