// Generated from schemas/ops by sygen. Do not edit.
#pragma once

#include <cstdint>

#include "aten/program/program.h"

namespace sy::program {

enum class Compiled : uint8_t {
  none,
  soften,  // test/codegen/testdata/sample.yaml:13
};
inline constexpr int kNumCompiled = 1;

// In that order, from the one behind none.
SY_API extern const Program kCompiled[kNumCompiled];

}  // namespace sy::program
