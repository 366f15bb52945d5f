#pragma once

#include "codegen/emit/common.h"

namespace sy::codegen {

// "void mm(const Tensor& self, const Tensor& mat2, Dims* sizes)"
std::string contract_head(const Operator& op);
// The function of the operator's contract: devices, `require:`, `shape:`.
void emit_contract(Writer& w, const Operator& op);
// The statements of `require:` alone, for kernels that check for themselves.
void emit_requirements(Writer& w, const Operator& op);

// R ID_guard(const Kernel*, DispatchKeySet, Args...)
void emit_guard(Writer& w, const Operator& op, const Overload& o);

}  // namespace sy::codegen
