#include "frontend/export/program_facts.h"

#include "aten/ops/factory.h"
#include "c10/dispatch/dispatcher.h"
#include "frontend/export/format/program_file.h"
#include "frontend/export/inputs.h"
#include "frontend/export/operator_names.h"

namespace sy {

namespace exporting {

namespace {

void add_names(const ArgumentText& a, std::vector<std::string>* out) {
  if (a.kind == ArgumentText::Kind::Name) out->push_back(a.text);
  for (const ArgumentText& item : a.items) add_names(item, out);
}

void add_nodes(const GraphText& graph, int depth, ProgramFacts* facts) {
  for (const NodeText& node : graph.nodes) {
    ProgramFacts::Node out;
    out.name = node.name;
    out.target = target_name(node.target);
    out.module = node.module;
    out.module_type = node.module_type;
    out.is_known = is_known_target(node.target);
    out.depth = depth;
    for (const NodeText::Input& input : node.inputs) {
      add_names(input.value, &out.reads);
    }
    for (const ArgumentText& made : node.outputs) add_names(made, &out.makes);
    facts->nodes.push_back(std::move(out));
    for (const NodeText::Input& input : node.inputs) {
      if (input.value.graph != nullptr) {
        add_nodes(*input.value.graph, depth + 1, facts);
      }
    }
  }
}

void add_leaves(const TreeSpec& tree, const std::string& path,
                std::vector<std::string>* out) {
  if (tree.kind == TreeSpec::Kind::Leaf) {
    out->push_back(path.empty() ? "result" : path);
  }
  for (size_t i = 0; i < tree.children.size(); ++i) {
    const std::string key = tree.kind == TreeSpec::Kind::Dict
                                ? (path.empty() ? "" : ".") + tree.keys[i]
                                : str("[{}]", i);
    add_leaves(tree.children[i], path + key, out);
  }
}

const char* kind_of(InputSpec::Kind kind) {
  if (kind == InputSpec::Kind::Parameter) return "parameter";
  return kind == InputSpec::Kind::Buffer ? "buffer" : "constant";
}

void add_held(const InputSpec& spec, const ProgramFile::Payloads& payloads,
              ProgramFacts* facts) {
  const auto found = payloads.find(spec.target);
  if (found == payloads.end() || !found->second.text.tensor) return;
  const TensorText& tensor = *found->second.text.tensor;
  ProgramFacts::Held held;
  held.kind = kind_of(spec.kind);
  held.name = spec.target;
  held.value = spec.name;
  held.sizes = tensor.example;
  held.dtype = tensor.dtype == ScalarType::Undefined
                   ? tensor.dtype_name
                   : std::string(to_string(tensor.dtype));
  held.bytes = static_cast<int64_t>(found->second.size);
  held.requires_grad = tensor.requires_grad;
  facts->held.push_back(std::move(held));
}

}  // namespace

}  // namespace exporting

ProgramFacts describe_program(const std::string& path,
                              const std::string& model) {
  using namespace exporting;
  const ProgramFile file("describe_program", path);
  const ProgramText text = file.program(model);
  ProgramFile::Payloads payloads = file.weights(model);
  payloads.merge(file.constants(model));
  ProgramFacts facts;
  facts.model = model;
  facts.torch_version = text.torch_version;
  const Inputs inputs(path, text);
  facts.inputs = inputs.describe();
  add_leaves(text.out, "", &facts.outputs);
  for (const Inputs::Leaf& leaf : inputs.leaves()) {
    if (!leaf.is_tensor || leaf.tensor.dtype == ScalarType::Undefined) continue;
    facts.example.push_back(
        sy::empty(leaf.tensor.example,
                  TensorOptions(leaf.tensor.dtype).device(Device("meta"))));
  }
  size_t leaf = 0, result = 0;
  for (const InputSpec& spec : text.inputs) {
    if (spec.kind == InputSpec::Kind::User ||
        spec.kind == InputSpec::Kind::Fixed) {
      facts.input_values.emplace_back(spec.name, inputs.leaves()[leaf++].path);
    } else {
      add_held(spec, payloads, &facts);
    }
  }
  for (const OutputSpec& spec : text.outputs) {
    const bool returned = spec.kind == OutputSpec::Kind::User;
    facts.output_values.emplace_back(spec.value.text,
                                     returned && result < facts.outputs.size()
                                         ? facts.outputs[result++]
                                         : spec.target);
  }
  add_nodes(text.graph, 0, &facts);
  return facts;
}

}  // namespace sy
