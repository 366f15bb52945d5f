#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/program.h"
#include "model/model.h"

// `compiled: true`: a program of a few cheap steps, whose cost step by step is
// the passes over its elements, has one loop of its own. The programs of all
// such entries form one table; the generator writes it, the loops, and into
// every equal program its place in the table.

namespace sy::model {

struct CompiledProgram {
  std::string name;  // "leaky_relu", "nansum_map"
  const Operator* op;
  lang::Program program;
};

class CompiledPrograms {
 public:
  // The programs of the operators of aten, by family and place in its file;
  // equal ones once, under the first one's name. An entry with `compiled:` in
  // another namespace has the loop of an equal program of aten, or none.
  explicit CompiledPrograms(const Model& model);
  // The programs that the code generated for `user` knows: a library of its own
  // may meet another version of aten, and knows none.
  CompiledPrograms(const Model& model, const Family& user)
      : CompiledPrograms(user.is_own() ? CompiledPrograms()
                                       : CompiledPrograms(model)) {}

  const std::vector<CompiledProgram>& all() const { return all_; }
  // From 1; 0 for a program that is none of them.
  std::size_t place(const lang::Program& program) const;

 private:
  CompiledPrograms() = default;

  std::vector<CompiledProgram> all_;
};

// Why the program of an operator that says `compiled: true` can have no loop of
// its own; nothing if it can.
std::optional<std::string> not_compiled(const Operator& op);

}  // namespace sy::model
