#include "runtime/loader/known_operators.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "c10/schema/function_schema.h"

namespace sy::runtime {
namespace {

// "schemas/ops/a.yaml:12"; what no schema defined comes last.
std::pair<std::string_view, int> place(const OperatorHandle& op) {
  const OperatorInfo* info = op.entry().info();
  const std::string_view source = info == nullptr ? "" : info->source;
  const size_t colon = source.rfind(':');
  if (colon == std::string_view::npos) return {"\x7f", 0};
  int line = 0;
  std::from_chars(source.data() + colon + 1, source.data() + source.size(),
                  line);
  return {source.substr(0, colon), line};
}

}  // namespace

KnownOperators::KnownOperators() {
  constexpr std::string_view kNamespace = "aten::";
  for (const OperatorHandle& op : Dispatcher::singleton().operators()) {
    std::string_view name = op.name();
    if (!name.starts_with(kNamespace)) continue;
    name.remove_prefix(kNamespace.size());
    name = name.substr(0, name.find('.'));
    auto it = overloads_.find(name);
    if (it == overloads_.end()) {
      it = overloads_.emplace(std::string(name), Overloads()).first;
    }
    it->second.handles.push_back(op);
  }
}

std::span<const FunctionSchema* const> KnownOperators::lookup(
    std::string_view name) const {
  const auto it = overloads_.find(name);
  if (it == overloads_.end()) return {};
  Overloads& all = it->second;
  if (!all.parsed) {
    all.parsed = true;
    std::stable_sort(all.handles.begin(), all.handles.end(),
                     [](const OperatorHandle& a, const OperatorHandle& b) {
                       return place(a) < place(b);
                     });
    for (const OperatorHandle& op : all.handles) {
      const FunctionSchema& s = op.schema();
      if (!s.is_functional()) continue;
      OperatorName plain = s.name();
      plain.ns = {};
      all.schemas.push_back(
          std::make_unique<FunctionSchema>(s.with_name(plain)));
      all.functional.push_back(all.schemas.back().get());
      handles_.emplace(all.functional.back(), op);
    }
  }
  return all.functional;
}

std::vector<std::string_view> KnownOperators::names() const {
  std::vector<std::string_view> out;
  for (const auto& [name, all] : overloads_) out.push_back(name);
  return out;
}

std::optional<OperatorHandle> KnownOperators::handle(
    const FunctionSchema& schema) const {
  const auto it = handles_.find(&schema);
  if (it == handles_.end()) return std::nullopt;
  return it->second;
}

}  // namespace sy::runtime
