#pragma once

#include "model/model.h"

// The generator says the model's names without `model::`.

namespace sy::codegen {
using namespace sy::model;
}  // namespace sy::codegen
