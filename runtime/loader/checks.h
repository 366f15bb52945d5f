#pragma once

#include "codegen/model.h"

namespace sy::runtime {

// What is wrong with a model here and now beyond what `sygen check` says:
// operators that are defined already, C++ functions, limits of the engines.
void check_loadable(const codegen::Model& model,
                    lang::Diagnostics& diagnostics);

}  // namespace sy::runtime
