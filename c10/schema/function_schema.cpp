#include "c10/schema/function_schema.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sy {
namespace {

// Python's augmented assignments: `__iadd__` is in-place, `__invert__` is not.
constexpr std::array<std::string_view, 11> kAugmented = {
    "add", "sub",    "mul",    "div", "mod", "pow",
    "and", "lshift", "rshift", "xor", "or"};

SchemaKind kind_of(const OperatorName& name, bool has_out, bool is_mutable) {
  if (name.is_inplace()) return SchemaKind::kInplace;
  if (has_out) return SchemaKind::kOut;
  return is_mutable ? SchemaKind::kMutable : SchemaKind::kFunctional;
}

}  // namespace

bool OperatorName::is_dunder() const {
  const std::string_view s = name;
  return s.size() > 4 && s.starts_with("__") && s.ends_with("__");
}

bool OperatorName::is_inplace() const {
  const std::string_view s = name;
  if (!is_dunder()) {
    return s.size() > 1 && s.ends_with('_') && !s.ends_with("__");
  }
  return s[2] == 'i' &&
         std::ranges::find(kAugmented, s.substr(3, s.size() - 5)) !=
             kAugmented.end();
}

std::string OperatorName::functional_name() const {
  std::string s(name.view());
  if (!is_inplace()) return s;
  if (is_dunder()) {
    s.erase(2, 1);
  } else {
    s.pop_back();
  }
  return s;
}

FunctionSchema::FunctionSchema(OperatorName name,
                               std::vector<Argument> arguments,
                               std::vector<Return> returns, bool is_vararg,
                               bool is_varret)
    : name_(name),
      arguments_(std::move(arguments)),
      returns_(std::move(returns)),
      is_vararg_(is_vararg),
      is_varret_(is_varret) {
  arguments_.shrink_to_fit();
  returns_.shrink_to_fit();
  const auto positional = [](const Argument& a) { return !a.kwarg_only; };
  num_positional_ =
      static_cast<std::uint16_t>(std::ranges::count_if(arguments_, positional));
  auto last = arguments_.rbegin();
  while (last != arguments_.rend() && last->is_out()) ++last;
  num_out_ = static_cast<std::uint16_t>(last - arguments_.rbegin());
  is_mutable_ = std::ranges::any_of(arguments_, &Argument::is_write);
  kind_ = kind_of(name_, std::ranges::any_of(arguments_, &Argument::is_out),
                  is_mutable_);
}

int FunctionSchema::argument_index(std::string_view name) const {
  const auto it = std::ranges::find_if(
      arguments_, [&](const Argument& a) { return a.name == name; });
  return it == arguments_.end() ? -1
                                : static_cast<int>(it - arguments_.begin());
}

int FunctionSchema::self_index() const {
  const int i = argument_index("self");
  return i >= 0 && !arguments_[i].kwarg_only ? i : -1;
}

int FunctionSchema::aliased_argument(std::size_t return_index) const {
  const AliasSet set = returns_[return_index].alias.before();
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].alias.before().intersects(set)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

FunctionSchema FunctionSchema::with_name(OperatorName name) const {
  return FunctionSchema(name, arguments_, returns_, is_vararg_, is_varret_);
}

std::size_t FunctionSchema::heap_bytes() const {
  return arguments_.capacity() * sizeof(Argument) +
         returns_.capacity() * sizeof(Return);
}

}  // namespace sy
