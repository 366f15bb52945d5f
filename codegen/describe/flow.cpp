#include "codegen/describe/flow.h"

#include <nlohmann/json.hpp>

#include "codegen/describe/describe.h"

namespace sy::codegen {
namespace {

using Json = nlohmann::json;

std::optional<Flow> flow_of(const Operator& op) {
  const auto example = example_of(op);
  if (!example) return std::nullopt;
  switch (op.kind()) {
    case lang::OperatorKind::kReduce: return reduce_flow(op, *example);
    case lang::OperatorKind::kScan: return scan_flow(op, *example);
    case lang::OperatorKind::kPointwise: return broadcast_flow(op, *example);
    default: return std::nullopt;
  }
}

Json grids(const std::vector<Flow::Grid>& all) {
  Json out = Json::array();
  for (const Flow::Grid& g : all) {
    out.push_back({{"name", g.name},
                   {"sizes", g.sizes},
                   {"texts", g.texts},
                   {"note", g.note},
                   {"shape", g.shape},
                   {"plain", g.is_plain}});
  }
  return out;
}

}  // namespace

Json describe_flow(const Operator& op) {
  const auto flow = flow_of(op);
  if (!flow) return nullptr;
  return {{"call", flow->call},
          {"scan", flow->is_scan},
          {"inputs", grids(flow->inputs)},
          {"outputs", grids(flow->outputs)},
          {"from", flow->from}};
}

}  // namespace sy::codegen
