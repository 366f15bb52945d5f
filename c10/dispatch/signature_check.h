#pragma once

#include <string>

#include "c10/dispatch/kernel.h"

namespace sy {

class FunctionSchema;

// The error of a kernel's C++ signature for an operator; empty if it is right,
// else "argument 3 'alpha' (Scalar): expected const Scalar&, got double".
std::string signature_mismatch(const CppSignature& kernel,
                               const FunctionSchema& schema);
// The same for the signature that the operator was defined with.
std::string signature_mismatch(const CppSignature& kernel,
                               const CppSignature& expected);

}  // namespace sy
