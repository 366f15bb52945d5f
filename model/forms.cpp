#include <bit>
#include <span>
#include <utility>

#include "lang/format.h"
#include "model/model.h"

namespace sy::model {
namespace {

AliasInfo written(std::size_t i) {
  return AliasInfo(AliasSet::of(static_cast<char>('a' + i)), true);
}

// The letter after those of the arguments' aliases, as a number from 0.
std::size_t next_letter(std::span<const Argument> arguments) {
  std::uint32_t used = 0;
  for (const Argument& a : arguments) {
    if (!a.alias.before().is_wildcard()) used |= a.alias.before().bits();
  }
  return static_cast<std::size_t>(std::bit_width(used));
}

std::string inplace_name(const OperatorName& name) {
  const std::string text(name.name.view());
  // Python's augmented assignment: __and__ -> __iand__.
  if (name.is_dunder()) return "__i" + text.substr(2);
  return text + '_';
}

}  // namespace

FunctionSchema inplace_form(const FunctionSchema& f) {
  OperatorName name = f.name();
  name.name = InternedString(inplace_name(name));
  std::vector<Argument> arguments(f.arguments().begin(), f.arguments().end());
  arguments[static_cast<std::size_t>(f.self_index())].alias = written(0);
  std::vector<Return> returns(f.returns().begin(), f.returns().end());
  if (returns[0].type.is_list()) return {name, std::move(arguments), {}};
  returns[0].name = InternedString();
  returns[0].alias = written(0);
  return FunctionSchema(name, std::move(arguments), std::move(returns));
}

bool is_target(const FunctionSchema& s, const Argument& a) {
  return s.is_out() ? a.is_out() : a.is_write();
}

std::vector<int> written_tensors(const FunctionSchema& form) {
  std::vector<int> out;
  const auto arguments = form.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (is_target(form, arguments[i])) out.push_back(static_cast<int>(i));
  }
  return out;
}

FunctionSchema out_form(const FunctionSchema& f) {
  OperatorName name = f.name();
  name.overload = InternedString(
      name.overload.empty() ? "out"
                            : fmt::format("{}_out", name.overload.view()));
  std::vector<Argument> arguments(f.arguments().begin(), f.arguments().end());
  std::vector<Return> returns(f.returns().begin(), f.returns().end());
  const std::size_t letter = next_letter(f.arguments());
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const std::string out =
        returns.size() == 1 ? "out" : fmt::format("out{}", i);
    const AliasInfo alias = written(letter + i);
    arguments.push_back(
        {InternedString(out), returns[i].type, alias, {}, true});
    returns[i].name = InternedString();
    returns[i].alias = alias;
  }
  // Written lists are not returned.
  if (returns.size() == 1 && returns[0].type.is_list()) returns.clear();
  return FunctionSchema(name, std::move(arguments), std::move(returns));
}

}  // namespace sy::model
