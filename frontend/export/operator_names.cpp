#include "frontend/export/operator_names.h"

#include <utility>

#include "c10/dispatch/dispatcher.h"
#include "frontend/export/native_function.h"

namespace sy::exporting {

namespace {

constexpr std::pair<std::string_view, GraphCall> kGraphCalls[] = {
    {"cond", GraphCall::Cond},
    {"while_loop", GraphCall::WhileLoop},
    {"map_impl", GraphCall::Map},
    {"scan", GraphCall::Scan},
    {"wrap_with_set_grad_enabled", GraphCall::SetGradEnabled},
    {"wrap_with_autocast", GraphCall::Autocast},
};

constexpr std::pair<std::string_view, StandIn> kStandIns[] = {
    {"transformers::grouped_mm_fallback",
     {"transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor "
      "offs) -> Tensor",
      "aten::_grouped_mm"}},
};

bool is_defined(std::string_view name) {
  const auto op = Dispatcher::singleton().find(name);
  return op && op->entry().defined();
}

}  // namespace

std::optional<StandIn> stand_in(std::string_view name) {
  for (const auto& [known, info] : kStandIns) {
    if (known == name) return info;
  }
  return {};
}

std::string target_name(std::string_view target) {
  if (!target.starts_with(kOperators)) return std::string(target);
  std::string name(target.substr(kOperators.size()));
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return name;
  name.replace(dot, 1, "::");
  constexpr std::string_view kDefault = ".default";
  if (name.ends_with(kDefault)) name.resize(name.size() - kDefault.size());
  return name;
}

GraphCall graph_call(std::string_view target) {
  for (const auto& [name, call] : kGraphCalls) {
    if (target.substr(kHigherOrder.size()) == name) return call;
  }
  return GraphCall::Unknown;
}

bool is_known_target(std::string_view target) {
  if (target.starts_with(kHigherOrder)) {
    return graph_call(target) != GraphCall::Unknown;
  }
  if (!target.starts_with(kOperators)) {
    return number_function(target).has_value();
  }
  const std::string name = target_name(target);
  return assertion_function(name) || stand_in(name) || complex_function(name) ||
         is_defined(name);
}

}  // namespace sy::exporting
