#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/model_names.h"
#include "codegen/torch/world.h"
#include "model/model.h"

namespace sy::codegen::torch {

// Functions of PyTorch's as entries of ours, the text of a file of a family:
// one for the functional, in-place and out= forms together, with a `dispatch:`
// that waits for the name of a kernel. `globs` name functions, overload
// included ("add.*"). A derivative is translated where our language can say it
// and `own`, our files, has the operators that it calls; the others stay in
// comments. Nothing after an error.
std::string import_functions(const World& world,
                             std::span<const std::string> globs,
                             const std::vector<SourceText>& own,
                             Diagnostics& diagnostics);

}  // namespace sy::codegen::torch
