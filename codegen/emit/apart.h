#pragma once

#include <string>

#include "codegen/emit/common.h"

// Statements of functions that write to an argument. They see to it that the
// kernel does not read what it has written; see aten/engine/apart.h.

namespace sy::codegen {

// How a function calls itself again.
struct Rerun {
  std::string function;
  // The arguments that come before those of the operator: "k, keys, ".
  std::string first;
  // What has to hold besides: "…&& "; or "".
  std::string condition;
};

// The statement of a form that writes `out=` arguments. If an input shares
// memory with one, the function calls itself with copies of such inputs.
void emit_apart(Writer& w, const Overload& o, const Rerun& again);
// The same for a pointwise operator, whose arguments are in `args`, as
// pointwise_arguments() gave them. Also of its in-place form.
void emit_pointwise_apart(Writer& w, const Operator& op, const Overload& o,
                          const Rerun& again, const std::string& args);
// The check of a form that writes several tensors: they must not share memory.
// Writes nothing for another form.
void emit_outs_apart(Writer& w, const Overload& o);

}  // namespace sy::codegen
