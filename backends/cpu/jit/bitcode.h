#pragma once

#include <string_view>

#include "backends/cpu/jit/request.h"

namespace sy::cpu::jit {

// prims.cpp, as clang has compiled it for an instruction set.
std::string_view bitcode(Isa isa);

}  // namespace sy::cpu::jit
