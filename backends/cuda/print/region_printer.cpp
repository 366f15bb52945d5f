#include "backends/cuda/print/region_printer.h"

#include <algorithm>

#include "backends/cuda/print/values.h"

namespace sy::cuda::print {

void RegionPrinter::need_nodes(const RegionText& text) {
  for (const int i : text.nodes) {
    need(&node(i).body, program::compute_type_of(node(i).compute));
  }
}

void RegionPrinter::begin(std::string_view file, std::string_view params,
                          int n_operands, size_t numbers,
                          bool reports_at_once) {
  OpPrinter::begin({.file = file,
                    .params = str("{}<{}, {}>", params, n_operands,
                                  std::max<size_t>(numbers, 1)),
                    .at = bytes_of(n_operands),
                    .reports_at_once = reports_at_once});
}

OpPrinter::Operands RegionPrinter::inputs(uint64_t fixed) const {
  Operands out;
  for (const int v : t_.inputs) {
    const size_t i = out.size();
    out.push_back({str("v{}", v), element_name(t_.values->dtype(v)), i,
                   (fixed >> i & 1) != 0});
  }
  return out;
}

OpPrinter::Operands RegionPrinter::outputs_of(const RegionText& text,
                                              size_t first) const {
  Operands out;
  for (size_t i = 0; i < text.outputs.size(); ++i) {
    out.push_back({str("o{}", i), output_element(text, i), first + i});
  }
  return out;
}

std::string RegionPrinter::value(int v) const {
  if (std::find(t_.inputs.begin(), t_.inputs.end(), v) != t_.inputs.end()) {
    return str("in.v{}", v);
  }
  const int made = t_.values->node(v);
  return str("{}v{}", node(made).kind == RegionNode::kReduce ? "stats." : "",
             v);
}

std::vector<std::string> RegionPrinter::arguments(const RegionNode& n) const {
  const ComputeType type = program::compute_type_of(n.compute);
  std::vector<std::string> out;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    out.push_back(
        loaded(value(n.inputs[i]), type, (n.body.bool_inputs >> i & 1) != 0));
  }
  return out;
}

void RegionPrinter::nodes(const RegionText& text) {
  for (const int i : text.nodes) {
    const RegionNode& n = node(i);
    const ComputeType type = program::compute_type_of(n.compute);
    const std::vector<std::string> results =
        run(n.body, type, arguments(n), str("n{}_", i));
    for (size_t k = 0; k < results.size(); ++k) {
      add("    const {} v{} = {};\n", element_name(n.results[k]),
          t_.first_value(i) + static_cast<int>(k),
          stored(results[k], type, n.body.results[k].is_bool, n.results[k]));
    }
  }
}

void RegionPrinter::give_outputs(const RegionText& text) {
  std::vector<std::string> values;
  for (size_t i = 0; i < text.outputs.size(); ++i) {
    values.push_back(output_value(text, i));
  }
  give(values);
}

}  // namespace sy::cuda::print
