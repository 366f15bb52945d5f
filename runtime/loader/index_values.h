#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/dims.h"
#include "c10/value.h"
#include "codegen/lang/index.h"

namespace sy::runtime {

// A value as the index typing sees it. `type` is the argument's.
lang::IndexValue to_index_value(const Value& v, Type type);
// The other way round, of what functions give: ints, bools, numbers, lists.
Value from_index_value(const lang::IndexValue& v);
// As it stands in a message of the compiled form.
std::string text_of(const lang::IndexValue& v);

// eval_index with errors as the compiled form throws them.
lang::IndexValue evaluate_index(const lang::Expr& e, const lang::IndexValues& v,
                                std::string_view op);

// An expression of the index typing over the arguments of a schema.
class IndexFormula {
 public:
  IndexFormula(lang::Expr e, const FunctionSchema& schema, std::string op);

  // `positions[i]`: where argument i of the schema is among `args`.
  lang::IndexValue run(const Value* args,
                       const std::vector<int>& positions) const;
  Dims list(const Value* args, const std::vector<int>& positions) const;
  const lang::Expr& expr() const { return expr_; }

 private:
  struct Name {
    std::string name;
    size_t argument;
    Type type;
  };

  lang::Expr expr_;
  std::string op_;
  std::vector<Name> names_;
};

}  // namespace sy::runtime
