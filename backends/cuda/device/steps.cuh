#pragma once

#include "number.cuh"
#include "reduce_params.cuh"
#include "scan_params.cuh"

// Reductions and scans as kernels interpret them (reduce_interpret.cu,
// scan_interpret.cu), for the host and for kernels.

namespace sy::cuda {

constexpr int kStepRegisters = 32;
constexpr int kMostSteps = 192;
constexpr int kStepNumbers = 64;

struct StepCode {
  unsigned char op, dst, a, b, c;
};

// A program: its steps are [first, first + count), its uniforms the numbers
// from `number` on.
struct StepRange {
  unsigned short first, count;
  unsigned char inputs, uniforms, number;
  unsigned char results[kMaxAccumulators];  // registers
};

struct Steps {
  StepCode code[kMostSteps];
  int used;
};

struct InterpretedReduce : ReduceHead {
  Number numbers[kStepNumbers];
  StepRange map_steps, combine_steps, finish_steps;
  unsigned char finishes;    // there is such a program
  unsigned char loads_bool;  // the element as a truth value
  unsigned char accumulators, stores;
  unsigned char bool_accumulators, bool_results;  // bits
  unsigned char self, stored[kMaxReduceResults];  // ScalarType
  unsigned char nothing;                          // a number, of accumulator 0
  Steps steps;
};

struct InterpretedScan : ScanHead {
  Number numbers[kStepNumbers];
  StepRange combine_steps;
  unsigned char self, stored;  // ScalarType
  Steps steps;
};

static_assert(sizeof(InterpretedReduce) <= 4096);
static_assert(sizeof(InterpretedScan) <= 4096);

}  // namespace sy::cuda
