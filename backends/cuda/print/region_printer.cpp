#include "backends/cuda/print/region_printer.h"

#include <algorithm>

#include "backends/cuda/print/values.h"

namespace sy::cuda::print {

void RegionPrinter::need_nodes(const RegionText& text) {
  for (const int i : text.nodes) {
    need(&node(i).body, program::compute_type_of(node(i).compute));
  }
}

void RegionPrinter::set_reduction(int i) {
  node_ = &node(i);
  type_ = program::compute_type_of(node_->compute);
  accumulated_ = region_accumulated(*node_);
  need(&node_->body, type_);
  need(node_->combine, accumulated_);
  need(node_->finish, type_);
}

void RegionPrinter::begin(std::string_view file, std::string_view params,
                          int n_operands, size_t numbers) {
  OpPrinter::begin(
      file, str("{}<{}, {}>", params, n_operands, std::max<size_t>(numbers, 1)),
      bytes_of(n_operands));
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

std::vector<std::string> RegionPrinter::run(const Program& p, ComputeType type,
                                            std::vector<std::string> operands,
                                            std::string_view prefix,
                                            ComputeType given) {
  for (int i = 0; i < p.n_uniforms; ++i) {
    const bool is_bool = (p.bool_uniforms >> i & 1) != 0;
    std::string n = str("p.numbers[{}].{}", number_++,
                        member_of(is_bool ? ComputeType::b8 : given));
    // A number of 64 bits is a long long, which is no int64_t for some hosts.
    if (!is_bool && (given != type || type == ComputeType::i64)) {
      n = str("static_cast<{}>({})", type_name(type), n);
    }
    operands.push_back(std::move(n));
  }
  Body b = print_body(p, type, operands, prefix, 4);
  out_ += b.statements;
  return std::move(b.results);
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

void RegionPrinter::return_outputs(const RegionText& text) {
  add("    return {{");
  for (size_t i = 0; i < text.outputs.size(); ++i) {
    add("{}element_cast<{}>({})", i == 0 ? "" : ",\n            ",
        output_element(text, i), value(output(text, i).value));
  }
  add("}};\n  }}\n");
}

void RegionPrinter::accumulator() {
  add("  struct Acc {{\n");
  for (int i = 0; i < accumulators(); ++i) {
    add("    {} a{};\n", type_name(accumulator_type(i)), i);
  }
  add("  }};\n");
}

void RegionPrinter::map(const RegionText& text) {
  add("  __device__ Acc map([[maybe_unused]] const In& in) const {{\n");
  nodes(text);
  give(run(node_->body, type_, arguments(*node_), "m"), type_);
}

void RegionPrinter::combine() {
  add("  __device__ Acc combine(const Acc& a, const Acc& b) const {{\n");
  std::vector<std::string> both;
  for (const char* side : {"a.a", "b.a"}) {
    for (int i = 0; i < accumulators(); ++i) {
      both.push_back(str("{}{}", side, i));
    }
  }
  give(run(*node_->combine, accumulated_, std::move(both), "c", type_),
       accumulated_);
}

void RegionPrinter::give(const std::vector<std::string>& values,
                         ComputeType from) {
  add("    return {{");
  for (int i = 0; i < accumulators(); ++i) {
    const ComputeType to = accumulator_type(i);
    const std::string& v = values[static_cast<size_t>(i)];
    add("{}", i == 0 ? "" : ", ");
    if (to == from || to == ComputeType::b8) {
      add("{}", v);
    } else {
      add("static_cast<{}>({})", type_name(to), v);
    }
  }
  add("}};\n  }}\n");
}

std::vector<std::string> RegionPrinter::finished() {
  std::vector<std::string> values;
  for (int i = 0; i < accumulators(); ++i) {
    const ComputeType type =
        node_->body.results[i].is_bool ? ComputeType::b8 : type_;
    add("    [[maybe_unused]] const {} s{} = static_cast<{}>(a.a{});\n",
        type_name(type), i, type_name(type), i);
    values.push_back(str("s{}", i));
  }
  const Program* last = &node_->body;
  if (node_->finish != nullptr) {
    last = node_->finish;
    values = run(*last, type_, std::move(values), "f");
  }
  std::vector<std::string> out;
  for (size_t i = 0; i < node_->results.size(); ++i) {
    out.push_back(
        stored(values[i], type_, last->results[i].is_bool, node_->results[i]));
  }
  return out;
}

void RegionPrinter::nothing(int first) {
  add("  __device__ Acc nothing() const {{\n    return {{");
  for (int i = 0; i < accumulators(); ++i) {
    add("{}p.numbers[{}].{}", i == 0 ? "" : ", ", first + i,
        member_of(accumulator_type(i)));
  }
  add("}};\n  }}\n");
}

}  // namespace sy::cuda::print
