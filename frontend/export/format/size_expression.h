#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Sizes of tensors in exported programs: numbers, or formulas of symbols as
// SymPy writes them: "Mul(Integer(2), Symbol('s0', integer=True))", in older
// files "2*s0".

namespace sy::exporting {

class SizeExpression {
 public:
  SizeExpression() = default;
  explicit SizeExpression(int64_t value) : value_(value) {}
  // A formula that is not understood has no value, whatever the symbols are.
  explicit SizeExpression(std::string_view text);

  // The number, if it is one.
  std::optional<int64_t> constant() const;
  // The name, if it is a symbol alone.
  const std::string* symbol() const;
  // The value where `of` gives those of the symbols; none if one has none.
  using Symbols =
      std::function<std::optional<int64_t>(const std::string& name)>;
  std::optional<int64_t> value(const Symbols& of) const;
  // "2*s0", for messages.
  std::string text() const;

 private:
  struct Term;
  class Parser;

  int64_t value_ = 0;
  std::shared_ptr<const Term> term_;  // nullptr: value_
};

}  // namespace sy::exporting
