#pragma once

#include <memory>
#include <vector>

#include "frontend/compile/variant.h"

// Calls whose code looks at elements: which variant a call is shows while it
// runs.

namespace sy::compiling {

using Variants = std::vector<std::shared_ptr<const Variant>>;

// Runs the steps of the first candidate, and drops those that saw something
// else, until one has no more: its `forward` is next. nullptr: nobody has seen
// that before; all is as it was before the call then, and `depth` says how many
// steps have run. The guards of the candidates hold.
std::shared_ptr<const Variant> walk(const Arguments& a, Variants candidates,
                                    Frame* frame, size_t* depth);

// Whether it pays to walk along the variant: looks of calls that began so have
// seen the same often enough.
bool may_walk(const Variant& v);
void note_walk(const Variant& v, bool found);

// Uses the first `n` steps of `like`, where those of `v` are equal. False if
// one is not: what the code does there depends on something else.
bool share_steps(const Variant& like, size_t n, Variant* v);

}  // namespace sy::compiling
