#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "lang/tensor.h"

namespace sy::runtime {

// The operators of aten that this process has, as formulas name them. Schemas
// are parsed when they are asked for. For one thread.
class KnownOperators : public lang::OpTable {
 public:
  KnownOperators();

  // Returns operators in the order of their files and lines, as the generator
  // reads them: it decides between overloads that fit equally.
  std::span<const FunctionSchema* const> lookup(
      std::string_view name) const override;
  std::vector<std::string_view> names() const override;

  // The operator of a schema that lookup() gave; nothing for others.
  std::optional<OperatorHandle> handle(const FunctionSchema& schema) const;

 private:
  struct Overloads {
    std::vector<OperatorHandle> handles;
    bool parsed = false;
    std::vector<std::unique_ptr<FunctionSchema>> schemas;
    std::vector<const FunctionSchema*> functional;
  };

  mutable std::map<std::string, Overloads, std::less<>> overloads_;
  mutable std::map<const FunctionSchema*, OperatorHandle> handles_;
};

}  // namespace sy::runtime
