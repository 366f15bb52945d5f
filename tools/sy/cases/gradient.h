#pragma once

#include <string>
#include <vector>

#include "tools/sy/cases/arguments.h"
#include "tools/sy/cases/compare.h"

namespace sy::tools {

// Makes the arguments that `grad` names leaves that require a gradient.
void require_gradients(const Json& grad, const Arguments& arguments);

// Runs backward with the cotangents of `grad` and compares the gradients of
// its inputs. "" if they agree.
std::string compare_gradients(const Json& grad, const Arguments& arguments,
                              const std::vector<Value>& results,
                              const Safetensors& storages, Tolerance tolerance,
                              Device device);

}  // namespace sy::tools
