#include "backends/cpu/tiles/runner.h"

#include "backends/cpu/tiles/steps.h"

namespace sy::cpu::tiles {

namespace {

// The common small case: one step, which takes its operands as they are.
bool run_one_step(const Program& p, ComputeType compute,
                  const void* const* inputs, uint64_t uniform_inputs,
                  const Uniform* uniforms, void* out, int64_t n) {
  if (p.n_steps != 1 || p.n_results != 1) return false;
  const Step& s = p.steps[0];
  if (p.results[0].reg != s.dst ||
      n * static_cast<int64_t>(compute_type_size(compute)) >= kStreamBytes) {
    return false;
  }
  const uint8_t regs[3] = {s.a, s.b, s.c};
  const void* at[3] = {};
  uint32_t mask = 0;
  const int arity = lang::arity(s);
  for (int k = 0; k < arity; ++k) {
    const int r = regs[k];
    const bool is_input = r < p.n_inputs;
    at[k] = is_input ? inputs[r] : uniforms + (r - p.n_inputs);
    if (!is_input || (uniform_inputs >> r & 1)) mask |= 1u << k;
  }
  kernel(s.op, compute)(out, at[0], at[1], at[2], mask, n);
  return true;
}

}  // namespace

void run(const Program& program, ComputeType compute, const Operand* inputs,
         const Uniform* uniforms, const Operand* results, int64_t n) {
  char* data[kMaxInputs + kMaxResults];
  const Runner runner(program, compute, inputs, uniforms, results);
  for (int i = 0; i < program.n_inputs; ++i) {
    data[i] = static_cast<char*>(inputs[i].data);
  }
  for (int k = 0; k < program.n_results; ++k) {
    data[program.n_inputs + k] = static_cast<char*>(results[k].data);
  }
  runner.run(data, n);
}

void run_contiguous(const Program& program, ComputeType compute,
                    const void* const* inputs, uint64_t uniform_inputs,
                    const Uniform* uniforms, void* const* results, int64_t n) {
  if (run_one_step(program, compute, inputs, uniform_inputs, uniforms,
                   results[0], n)) {
    return;
  }
  check_limits(program);
  Operand in[kMaxInputs];
  Operand out[kMaxResults];
  const auto operand = [compute](void* data, bool is_bool, bool one) {
    const ScalarType t = register_type(is_bool, compute);
    const int64_t size = kScalarTypeInfo[static_cast<int>(t)].size;
    return Operand{data, one ? 0 : size, t};
  };
  for (int i = 0; i < program.n_inputs; ++i) {
    in[i] = operand(const_cast<void*>(inputs[i]), program.bool_inputs >> i & 1,
                    uniform_inputs >> i & 1);
  }
  for (int k = 0; k < program.n_results; ++k) {
    out[k] = operand(results[k], program.results[k].is_bool, false);
  }
  run(program, compute, in, uniforms, out, n);
}

}  // namespace sy::cpu::tiles
