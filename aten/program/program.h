#pragma once

#include <cstdint>
#include <string>

#include "aten/program/compute_type.h"
#include "c10/macros.h"
#include "lang/steps.h"

// Element programs as data. Every backend reads them; the CPU interprets them
// (backends/cpu/tiles), others may print or compile them. lang makes
// them from expressions.

namespace sy::lang {
struct Program;
}

namespace sy::program {

using lang::Result;
using lang::Step;

// A view of arrays that are static or owned by others. The program computes
// element by element on registers. Register i < n_inputs is tensor operand i,
// the next n_uniforms registers are numbers, and the rest are temporaries.
// Steps write temporaries only. A result register may be an input or a uniform.
struct Program {
  const Step* steps = nullptr;
  const Result* results = nullptr;
  uint64_t bool_inputs = 0;    // bit i: input i is loaded as x != 0
  uint64_t bool_uniforms = 0;  // bit i: uniform i is a bool
  uint16_t n_steps = 0;
  uint16_t n_registers = 0;  // at most 256, inputs and uniforms included
  uint8_t n_inputs = 0;      // at most 64
  uint8_t n_uniforms = 0;    // at most 64
  uint8_t n_results = 1;     // at most 16
  // The program's place, from 1, in the table of programs with kernels of their
  // own (compiled.h); 0: it is not there.
  uint8_t compiled = 0;
};
inline constexpr int kMaxRegisters = 256;
inline constexpr int kMaxInputs = 64;
inline constexpr int kMaxUniforms = 64;
inline constexpr int kMaxResults = 16;

// A view of a program that the compiler made. It borrows the program's arrays.
SY_API Program view_of(const lang::Program& program) noexcept;

constexpr bool within_limits(const Program& p) {
  return p.n_registers <= kMaxRegisters && p.n_inputs <= kMaxInputs &&
         p.n_uniforms <= kMaxUniforms && p.n_results <= kMaxResults &&
         p.n_inputs + p.n_uniforms <= p.n_registers;
}

// "t0 = mul(i0, u0); t1 = add(t0, i1); t1": the steps, then the results. i, u
// and t are inputs, uniforms and temporaries.
SY_API std::string program_text(const Program& program);

// A number in the compute type, or a bool, as registers hold it. There is room
// for two doubles.
union Uniform {
  float f32;
  double f64;
  uint8_t u8;  // and b8
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  uint64_t bits[2];
};
static_assert(sizeof(Uniform) == 16);

// Converts an integer or a double. Doubles truncate to integer types, and
// integers wrap around. is_bool gives x != 0.
SY_API Uniform make_uniform(ComputeType type, bool is_bool,
                            int64_t value) noexcept;
SY_API Uniform make_uniform(ComputeType type, bool is_bool,
                            double value) noexcept;

}  // namespace sy::program
