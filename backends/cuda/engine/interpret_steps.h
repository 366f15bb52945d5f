#pragma once

#include <algorithm>
#include <string_view>

#include "backends/cuda/compile/module.h"
#include "backends/cuda/device/steps.cuh"
#include "backends/cuda/print/body.h"

// Programs for kernels that interpret reductions and scans.

namespace sy::cuda {

inline bool needs_special(const program::Program& p,
                          program::ComputeType type) {
  const auto files = print::needed_files(p, type);
  return std::find(files.begin(), files.end(), print::kSpecialFile) !=
         files.end();
}

// The definition of the type of an interpreter (device/interpret.cuh).
inline Define type_define(program::ComputeType type) {
  constexpr std::string_view kNames[] = {
      "SY_TYPE_f32", "SY_TYPE_f64", "SY_TYPE_u8",  "SY_TYPE_i8",
      "SY_TYPE_i16", "SY_TYPE_i32", "SY_TYPE_i64", "SY_TYPE_b8"};
  return {kNames[static_cast<int>(type)], "1"};
}

// Appends the steps. `number` is that of its first uniform, then that of the
// first one of the next program.
inline StepRange add_steps(const program::Program& p, Steps* to, int* number) {
  StepRange r = {};
  r.first = static_cast<unsigned short>(to->used);
  r.count = p.n_steps;
  r.inputs = p.n_inputs;
  r.uniforms = p.n_uniforms;
  r.number = static_cast<unsigned char>(*number);
  *number += p.n_uniforms;
  for (int i = 0; i < p.n_results; ++i) r.results[i] = p.results[i].reg;
  for (int i = 0; i < p.n_steps; ++i) {
    const program::Step& s = p.steps[i];
    to->code[to->used++] = {static_cast<unsigned char>(s.op), s.dst, s.a, s.b,
                            s.c};
  }
  return r;
}

}  // namespace sy::cuda
