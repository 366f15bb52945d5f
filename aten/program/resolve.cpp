#include "aten/program/resolve.h"

#include <algorithm>
#include <memory>

namespace sy::program {

const Program* Resolved::resolve(const Program& program,
                                 const Uniform* uniforms) {
  if (program.bool_uniforms == 0 || program.n_steps > kMaxSteps) {
    return &program;
  }
  // Values: those of the fixed registers, then of each step that is kept.
  const int fixed = program.n_inputs + program.n_uniforms;
  uint16_t value_of[256];  // the one a register holds
  for (int r = 0; r < fixed; ++r) value_of[r] = static_cast<uint16_t>(r);
  struct Kept {
    Step step;
    uint16_t operands[3];
  };
  Kept kept[kMaxSteps];
  int n = 0;
  for (int i = 0; i < program.n_steps; ++i) {
    const Step& s = program.steps[i];
    Kept& k = kept[n];
    k.step = s;
    const uint8_t registers[3] = {s.a, s.b, s.c};
    for (int o = 0; o < lang::arity(s); ++o) {
      k.operands[o] = value_of[registers[o]];
    }
    const int number = k.operands[0] - program.n_inputs;
    if (s.op == lang::Prim::select && number >= 0 &&
        number < program.n_uniforms && (program.bool_uniforms >> number & 1)) {
      value_of[s.dst] = k.operands[uniforms[number].u8 != 0 ? 1 : 2];
    } else {
      value_of[s.dst] = static_cast<uint16_t>(fixed + n++);
    }
  }
  if (n == program.n_steps) return &program;

  // The last step that reads a kept step's value; n: a result is it.
  int last_use[kMaxSteps];
  std::fill_n(last_use, n, -1);
  for (int i = 0; i < program.n_results; ++i) {
    const int value = value_of[program.results[i].reg];
    if (value >= fixed) last_use[value - fixed] = n;
  }
  for (int j = n - 1; j >= 0; --j) {
    for (int o = 0; last_use[j] >= 0 && o < lang::arity(kept[j].step); ++o) {
      const int from = kept[j].operands[o] - fixed;
      if (from >= 0) last_use[from] = std::max(last_use[from], j);
    }
  }

  // Assigns registers anew; each is free again after its last use.
  Made& made = *std::construct_at(&room_.made);
  Program& out = made.program;
  out = program;
  out.steps = made.steps;
  out.results = made.results;
  out.n_steps = 0;
  out.n_registers = static_cast<uint16_t>(fixed);
  uint8_t register_of[kMaxSteps];
  const auto reg = [&](int value) {
    return value < fixed ? static_cast<uint8_t>(value)
                         : register_of[value - fixed];
  };
  uint64_t taken = 0;
  for (int j = 0; j < n; ++j) {
    if (last_use[j] < 0) continue;
    Step s = kept[j].step;
    // Takes no register of an operand: a bool's byte lies elsewhere than a
    // number.
    const int free = __builtin_ctzll(~taken);
    taken |= uint64_t{1} << free;
    s.dst = register_of[j] = static_cast<uint8_t>(fixed + free);
    uint8_t* const operands[3] = {&s.a, &s.b, &s.c};
    for (int o = 0; o < lang::arity(s); ++o) {
      const int value = kept[j].operands[o];
      *operands[o] = reg(value);
      if (value >= fixed && last_use[value - fixed] == j) {
        taken &= ~(uint64_t{1} << (reg(value) - fixed));
      }
    }
    out.n_registers = std::max<uint16_t>(out.n_registers, uint16_t(s.dst + 1));
    made.steps[out.n_steps++] = s;
  }
  for (int i = 0; i < program.n_results; ++i) {
    made.results[i] = program.results[i];
    made.results[i].reg = reg(value_of[program.results[i].reg]);
  }
  return &out;
}

}  // namespace sy::program
