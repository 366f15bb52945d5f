#pragma once

#include <memory>
#include <string>
#include <vector>

#include "c10/schema/function_schema.h"
#include "codegen/lang/ast.h"
#include "runtime/loader/index_calls.h"

namespace sy::runtime {

// An expression of the index typing over the arguments of a schema, made ready
// to run by walking its tree. Immutable.
class IndexProgram {
 public:
  // `e` has passed compile_index; `op` is the operator's name, for messages. It
  // outlives the program.
  IndexProgram(const lang::Expr& e, const FunctionSchema& schema,
               const char* op);
  ~IndexProgram();
  IndexProgram(IndexProgram&&) noexcept;
  IndexProgram& operator=(IndexProgram&&) noexcept;

  // `positions[i]`: where argument i of the schema is among `args`.
  void run(const Value* args, const std::vector<int>& positions,
           IndexSlot* out) const;
  bool truth(const Value* args, const std::vector<int>& positions) const;
  Dims list(const Value* args, const std::vector<int>& positions) const;
  int64_t integer(const Value* args, const std::vector<int>& positions) const;

  const lang::Expr& expr() const { return expr_; }

  struct Node;

 private:
  lang::Expr expr_;
  const char* op_;
  std::unique_ptr<Node> root_;
  size_t locals_ = 0;
};

}  // namespace sy::runtime
