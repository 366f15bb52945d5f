#include "codegen/site/flow.h"

#include "codegen/site/flow_example.h"
#include "codegen/site/pictures.h"

namespace sy::codegen::site {

std::optional<Flow> flow_of(const Model& model, const Operator& op) {
  const auto example = example_of(op);
  if (!example) return std::nullopt;
  switch (op.kind()) {
    case lang::OperatorKind::kView: return view_flow(model, op, *example);
    case lang::OperatorKind::kComposite:
      if (op.entry->is_foreach) return std::nullopt;
      return view_flow(model, op, *example);
    case lang::OperatorKind::kReduce: return reduce_flow(op, *example);
    case lang::OperatorKind::kScan: return scan_flow(op, *example);
    case lang::OperatorKind::kPointwise: return broadcast_flow(op, *example);
    default: return std::nullopt;
  }
}

std::string flow_svg(const Model& model, const Operator& op) {
  const auto flow = flow_of(model, op);
  return flow ? flow_picture(*flow) : "";
}

}  // namespace sy::codegen::site
