#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/print/reduce_printer.h"
#include "backends/cuda/print/region.h"

// The common part of the printers of kernels of regions.

namespace sy::cuda::print {

class RegionPrinter : protected ReducePrinter {
 protected:
  // Borrows both. The inputs are those of the text.
  RegionPrinter(const std::string& name, const RegionText& text)
      : ReducePrinter(name), t_(text) {}

  const RegionNode& node(int i) const {
    return t_.region->nodes[static_cast<size_t>(i)];
  }

  void need_nodes(const RegionText& text);
  // begin() of OpPrinter, with the argument's template.
  void begin(std::string_view file, std::string_view params, int n_operands,
             size_t numbers, bool reports_at_once);
  // The inputs, of which those of bits of `fixed` are so; the outputs of a
  // text, whose first operand is `first`.
  Operands inputs(uint64_t fixed = 0) const;
  Operands outputs_of(const RegionText& text, size_t first) const;

  // The element of a value, in its dtype.
  std::string value(int v) const;
  std::vector<std::string> arguments(const RegionNode& n) const;
  void nodes(const RegionText& text);

  // Output i of a text, and its element.
  const RegionOutput& output(const RegionText& text, size_t i) const {
    return t_.region->outputs[static_cast<size_t>(text.outputs[i])];
  }
  std::string_view output_element(const RegionText& text, size_t i) const {
    return element_name(output(text, i).memory.dtype);
  }
  // Output i in the dtype of its memory.
  std::string output_value(const RegionText& text, size_t i) const {
    return str("element_cast<{}>({})", output_element(text, i),
               value(output(text, i).value));
  }
  void give_outputs(const RegionText& text);

  // The parameter of map() in the reduction of a text; prints its nodes, and
  // returns the operands of its program.
  static constexpr std::string_view kMapped = "[[maybe_unused]] const In& in";
  std::vector<std::string> mapped(const RegionText& text) {
    nodes(text);
    return arguments(node(text.reduction));
  }

  const RegionText& t_;
};

}  // namespace sy::cuda::print
