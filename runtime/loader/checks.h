#pragma once

#include "model/model.h"

namespace sy::runtime {

// Reports the errors of a model here and now beyond those of `sygen check`:
// operators that are defined already, C++ functions, limits of the engines.
void check_loadable(const model::Model& model, lang::Diagnostics& diagnostics);

}  // namespace sy::runtime
