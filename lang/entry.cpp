#include "lang/entry.h"

#include <map>

#include "lang/element.h"
#include "lang/format.h"

namespace sy::lang {

std::string_view to_string(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kPointwise: return "pointwise";
    case OperatorKind::kReduce: return "reduce";
    case OperatorKind::kComposite: return "composite";
    case OperatorKind::kView: return "view";
    case OperatorKind::kScan: return "scan";
    case OperatorKind::kDispatch: break;
  }
  return "dispatch";
}

std::span<const std::string_view> promote_rules() {
  static constexpr std::string_view kRules[] = {
      "default", "int_to_float", "bool_to_int", "only_bool_to_int", "same"};
  return kRules;
}

std::span<const std::string_view> accumulate_rules() {
  static constexpr std::string_view kRules[] = {"float64"};
  return kRules;
}

std::string OperatorEntry::no_derivative_words() const {
  if (!no_derivative) return "";
  return (derivative.empty() ? "none, because "
                             : "non_differentiable, because ") +
         no_derivative->str();
}

const DerivativeItem* OperatorEntry::find_derivative(
    std::string_view argument) const {
  for (const DerivativeItem& d : derivative) {
    for (const Text& a : d.arguments) {
      if (a.str() == argument) return &d;
    }
  }
  return nullptr;
}

const Form* OperatorEntry::find_form(SchemaKind wanted) const {
  for (const Form& f : forms) {
    if (f.kind == wanted) return &f;
  }
  return nullptr;
}

ElementEnv combine_env(const ReduceBody& body) {
  ElementEnv env;
  for (const char* side : {"a", "b"}) {
    if (body.accumulators.size() == 1 && body.accumulators[0].name == "acc") {
      env.names.push_back({side, ElementKind::kTensor});
      continue;
    }
    for (const Accumulator& acc : body.accumulators) {
      env.names.push_back(
          {fmt::format("{}.{}", side, acc.name), ElementKind::kTensor});
    }
  }
  return env;
}

ElementEnv scan_env() {
  ElementEnv env;
  for (const char* side : {"a", "b"}) {
    env.names.push_back({side, ElementKind::kTensor});
  }
  return env;
}

ElementEnv finish_env(const ReduceBody& body, const FunctionSchema& schema) {
  ElementEnv env;
  for (const Accumulator& acc : body.accumulators) {
    env.names.push_back({acc.name, ElementKind::kTensor});
  }
  if (schema.argument_index("n") < 0) {
    env.names.push_back({"n", ElementKind::kNumber});
  }
  for (const ElementName& n : ElementEnv::of(schema).names) {
    if (n.kind != ElementKind::kTensor) env.names.push_back(n);
  }
  return env;
}

void check_duplicates(std::span<const SchemaFile> files,
                      Diagnostics& diagnostics) {
  std::map<std::string, Location> seen;
  for (const SchemaFile& file : files) {
    for (const OperatorEntry& e : file.entries) {
      const std::string name = to_string(e.schema.name());
      const auto [it, inserted] = seen.try_emplace(name, e.func.start());
      if (inserted) continue;
      diagnostics.error(e.func.start(),
                        "operator '{}' is defined twice; the first is at {}",
                        name, to_string(it->second));
    }
  }
}

}  // namespace sy::lang
