#pragma once

#include <string>

#include "codegen/emit/common.h"

// The kernels that engines run, and the tables of engines: see
// aten/backend/engine_kernels.h. Views have an engine, but no kernels here.

namespace sy::codegen {

// "aten/ops/math_engine_kernels.h"
std::string engine_kernels_header(const Family& family);
// Declares what a backend writes for its engines, in its namespace. `exported`:
// the library has it, for libraries that are generated outside the tree.
void emit_engine_declarations(Writer& w, const Backend& backend, bool exported);
// The constant kEngines of a backend that brings any of these engines, and what
// it points to. `specifier`: "constexpr", or "inline constexpr" for a header.
void emit_engine_tables(Writer& w, const Backend& backend,
                        const std::string& specifier);

}  // namespace sy::codegen
