#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lang/primitives.h"
#include "lang/steps.h"

// The result of compiling an element expression: data that the generator and
// the loader of operators read. Runners of programs read a view of it
// (aten/program/program.h). Depends on std alone.

namespace sy::lang {

// A tensor operand; a kBool one is loaded as `x != 0`.
struct ProgramInput {
  std::string name;
  RegClass reg_class = RegClass::kValue;

  friend bool operator==(const ProgramInput&, const ProgramInput&) = default;
};

// A number that is the same for every element, as the caller has it.
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

// An input from the caller: the value of an argument (0 if it is None), whether
// the argument has one, or whether a str argument equals a text.
struct ScalarInput {
  enum class Kind : std::uint8_t { kValue, kHasValue, kEquals };
  std::string name;
  Kind kind = Kind::kValue;
  std::string text = {};  // of kEquals

  friend bool operator==(const ScalarInput&, const ScalarInput&) = default;
};

// A subexpression of uniforms, computed once per call. Uniform registers are,
// in order, the scalar inputs, the constants and the steps' results.
struct UniformStep {
  Prim op;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint8_t c = 0;

  friend bool operator==(const UniformStep&, const UniformStep&) = default;
};

// A uniform register that the steps read, and the class that they read it as.
struct UniformOperand {
  std::uint8_t reg = 0;
  RegClass reg_class = RegClass::kValue;

  friend bool operator==(const UniformOperand&,
                         const UniformOperand&) = default;
};

// Registers 0 … inputs-1 are the tensor operands. The uniform operands follow,
// then temporaries, which are used again when their value is dead. Inputs and
// uniforms are never written. With one result, the last step writes it to a
// temporary. A result register is not written again once it holds the result.
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
  // Bit i: tensor operand i, uniform operand i, is kBool.
  std::uint64_t bool_inputs() const;
  std::uint64_t bool_uniforms() const;
  // The dtypes that every step can work on: kFloat if one step needs floats.
  PrimDomain domain() const;

  friend bool operator==(const Program&, const Program&) = default;
};

// A listing for people, one step per line: "t3 = fma(other, alpha, self)".
std::string to_string(const Program& program);

// Computes one primitive on uniforms: on int64 if every argument is an integer
// and the primitive works on integers, else on double. Bools are 0 and 1. An
// integer divided by 0 gives 0.
Uniform eval_uniform(Prim op, Uniform a, Uniform b = {}, Uniform c = {});

// Computes the values of program.uniforms from those of program.scalars. `out`
// has uniforms.size() elements. Allocates nothing up to 64 registers.
void eval_uniforms(const Program& program, std::span<const Uniform> scalars,
                   std::span<Uniform> out);

// Runs the whole program on one element in double. Tests use it as reference.
std::vector<double> eval(const Program& program, std::span<const double> inputs,
                         std::span<const Uniform> scalars);

}  // namespace sy::lang
