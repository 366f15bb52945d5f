#pragma once

#include <cstdint>
#include <vector>

#include "aten/program/program.h"

// Makes one program of several that run one after the other on the same
// elements. The values that one computes are in registers for the next.

namespace sy::cpu {

// A program that owns its arrays.
struct FusedProgram {
  program::Program program;
  std::vector<program::Step> steps;
  std::vector<program::Result> results;

  FusedProgram() = default;
  FusedProgram(FusedProgram&& o) noexcept = default;
  FusedProgram& operator=(FusedProgram&& o) noexcept = default;
};

class Fuser {
 public:
  // A program on values. The caller numbers the values.
  struct Part {
    const program::Program* body;
    const int* inputs;
    const int* results;
    int first_uniform;  // the number of the caller's uniform
  };

  // Whether there is room for the part.
  bool fits(const Part& part) const;
  // A value that the part reads and no earlier part has made becomes an input.
  // All parts compute in one type. The values that parts pass on have that
  // type, or are bools (`is_bool` of the program's result).
  void add(const Part& part);
  bool makes(int value) const { return find(value) != nullptr; }
  // Whether a value is in a register of bools.
  bool is_bool(int value) const { return find(value)->is_bool; }

  // The program that computes these results. Steps that they do not need are
  // dropped.
  FusedProgram finish(const std::vector<int>& results);

  // The inputs of the program, in order.
  struct Input {
    int value;
    bool is_bool;
    friend bool operator==(const Input&, const Input&) = default;
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<int>& uniforms() const { return uniforms_; }

  static constexpr int kMaxSteps = 112;

 private:
  // The origin of a value.
  struct Ref {
    enum Kind : uint8_t { kInput, kUniform, kStep } kind;
    int index;
    friend bool operator==(const Ref&, const Ref&) = default;
  };
  struct Node {
    lang::Prim op;
    Ref operands[3];
    int n;
  };
  struct Made {
    int value;
    Ref ref;
    bool is_bool;
  };
  const Made* find(int value) const;
  Ref read(int value, bool as_bool);
  Ref step(lang::Prim op, const Ref* operands, int n);

  std::vector<Input> inputs_;
  std::vector<int> uniforms_;
  std::vector<bool> bool_uniforms_;
  std::vector<Node> nodes_;
  std::vector<Made> made_;
};

}  // namespace sy::cpu
