#include <algorithm>

#include "lang/index.h"

namespace sy::lang {
namespace {

constexpr IndexFunction kFunctions[] = {
#define SY_INDEX_FUNCTION(name, parameters, result, op, function, header) \
  {#name, parameters, result, op, #function, header},
#include "lang/index_functions.inc"
#undef SY_INDEX_FUNCTION
};

}  // namespace

std::span<const IndexFunction> index_functions() { return kFunctions; }

Plan plan_index_function(const IndexFunction& f, std::vector<Plan> arguments) {
  PlanNode node{PlanKind::kIndexFunction, std::string(f.name),
                std::move(arguments)};
  node.number = Number::of(static_cast<std::int64_t>(&f - kFunctions));
  return make_plan(std::move(node));
}

}  // namespace sy::lang
