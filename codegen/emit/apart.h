#pragma once

#include <string>

#include "codegen/emit/common.h"

// Statements of functions that write to an argument. They see to it that the
// kernel does not read what it has written; see aten/engine/apart.h.

namespace sy::codegen {

// The statement of a form that writes `out=` arguments. If an input shares
// memory with one, it calls the function itself, `function`, with copies of
// such inputs. `first` are the arguments that come before those of the
// operator: "k, keys, " or "".
void emit_apart(Writer& w, const Operator& op, const Overload& o,
                const std::string& function, const std::string& first);
// The same for a pointwise operator, whose arguments are in `args`, as
// pointwise_arguments() gave them. Also of its in-place form.
void emit_pointwise_apart(Writer& w, const Operator& op, const Overload& o,
                          const std::string& function, const std::string& first,
                          const std::string& args);
// The check of a form that writes several tensors: they must not share memory.
// Writes nothing for another form.
void emit_outs_apart(Writer& w, const Overload& o);

}  // namespace sy::codegen
