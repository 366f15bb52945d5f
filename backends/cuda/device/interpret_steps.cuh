#pragma once

#include "interpret.cuh"
#include "interpret_elements.cuh"
#include "steps.cuh"

// The common part of reduce_interpret.cu and scan_interpret.cu. Registers are
// the thread's own.

namespace sy::cuda {

// Runs a program on registers, with its inputs set. `step` computes one step
// (run_step of interpret.cuh, or another).
template <class P, class F>
__device__ __forceinline__ void run_range(const P& p, const StepRange& range,
                                          Number* registers, const F& step) {
  for (int i = 0; i < range.uniforms; ++i) {
    registers[range.inputs + i] = p.numbers[range.number + i];
  }
  int divided = 0;
  for (int i = range.first; i < range.first + range.count; ++i) {
    const StepCode s = p.steps.code[i];
    registers[s.dst] = step(static_cast<Prim>(s.op), registers[s.a],
                            registers[s.b], registers[s.c], divided);
  }
  if (divided != 0) report(p.head, Fault::kDivision, -1, 0, 0);
}

}  // namespace sy::cuda
