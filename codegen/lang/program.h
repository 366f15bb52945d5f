#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/lang/primitives.h"
#include "codegen/lang/steps.h"

// What an element expression compiles to: data that the generator and the
// loader of operators read. What runs programs reads a view of it, of
// aten/program/program.h. Stands on std alone.

namespace sy::lang {

// A tensor operand; a kBool one is loaded as `x != 0`.
struct ProgramInput {
  std::string name;
  RegClass reg_class = RegClass::kValue;

  friend bool operator==(const ProgramInput&, const ProgramInput&) = default;
};

// A number that is the same for every element, as the caller knows it.
struct Uniform {
  bool is_int = true;  // bools are ints
  std::int64_t i = 0;
  double d = 0;

  static constexpr Uniform of(std::int64_t v) { return {true, v, 0}; }
  static constexpr Uniform of(double v) { return {false, 0, v}; }
  constexpr double as_double() const {
    return is_int ? static_cast<double>(i) : d;
  }
  friend bool operator==(const Uniform& a, const Uniform& b);
};

// What the caller supplies: the value of an argument (0 if it is None), or
// whether it has one, or whether a str argument equals a text.
struct ScalarInput {
  enum class Kind : std::uint8_t { kValue, kHasValue, kEquals };
  std::string name;
  Kind kind = Kind::kValue;
  std::string text = {};  // of kEquals

  friend bool operator==(const ScalarInput&, const ScalarInput&) = default;
};

// A uniform subexpression, computed once a call. Uniform registers: first the
// scalar inputs, then the constants, then the steps' results in order.
struct UniformStep {
  Prim op;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint8_t c = 0;

  friend bool operator==(const UniformStep&, const UniformStep&) = default;
};

// A uniform register that the steps read, and as what.
struct UniformOperand {
  std::uint8_t reg = 0;
  RegClass reg_class = RegClass::kValue;

  friend bool operator==(const UniformOperand&,
                         const UniformOperand&) = default;
};

// Registers: 0 … inputs-1 the tensor operands, then the uniform operands,
// then temporaries, which are used again when their value is dead. Inputs and
// uniforms are never written. With one result the last step writes it, to a
// temporary; a result register is not written again once it holds the result.
struct Program {
  std::vector<ProgramInput> inputs;
  std::vector<ScalarInput> scalars;
  std::vector<Uniform> constants;
  std::vector<UniformStep> uniform_steps;
  std::vector<UniformOperand> uniforms;
  std::vector<Step> steps;
  std::vector<Result> results;
  int n_registers = 0;

  int first_uniform() const { return static_cast<int>(inputs.size()); }
  int first_temporary() const {
    return first_uniform() + static_cast<int>(uniforms.size());
  }
  // Bit i: the tensor operand i, the uniform operand i, is of kBool.
  std::uint64_t bool_inputs() const;
  std::uint64_t bool_uniforms() const;
  // The dtypes that every step can work on: kFloat if one step needs floats.
  PrimDomain domain() const;

  friend bool operator==(const Program&, const Program&) = default;
};

// A listing for people, one step a line: "t3 = fma(other, alpha, self)".
std::string to_string(const Program& program);

// One primitive on uniforms: on int64 if every argument is one and the
// primitive works on integers, else on double. Bools are 0 and 1. Dividing the
// integer 0 gives 0.
Uniform eval_uniform(Prim op, Uniform a, Uniform b = {}, Uniform c = {});

// The values of program.uniforms, from those of program.scalars. `out` has
// uniforms.size() elements. Allocates nothing up to 64 registers.
void eval_uniforms(const Program& program, std::span<const Uniform> scalars,
                   std::span<Uniform> out);

// The whole program on one element in double: the reference of the tests.
std::vector<double> eval(const Program& program, std::span<const double> inputs,
                         std::span<const Uniform> scalars);

}  // namespace sy::lang
