// Runs any element program on any operands at once: calls use it until the
// kernel of their program is compiled. Registers are in shared memory.

#include "kernel.cuh"

#include "interpret.cuh"
#include "interpret_elements.cuh"
#include "interpret_params.cuh"

SY_KERNEL(interpret, InterpretParams, 256) {
  Number* const mine =
      reinterpret_cast<Number*>(dynamic_shared()) + threadIdx.x;
  const unsigned apart = blockDim.x;
  const auto set_number = [&](int reg, int number) {
    mine[reg * apart].i64 = static_cast<long long>(p.numbers[number]);
  };
  for (int i = 0; i < p.uniforms; ++i) set_number(p.inputs + i, i);
  const unsigned char* const steps =
      p.steps_elsewhere != nullptr ? p.steps_elsewhere : &p.step[0][0];
  int divided = 0;
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    int64_t at[kInterpretedOperands] = {};
    int64_t rest = i;
    for (int d = 0; d < p.dims; ++d) {
      const int64_t next = d + 1 < p.dims ? rest / p.sizes[d] : 0;
      const int64_t column = rest - next * p.sizes[d];
      for (int k = 0; k < p.inputs + p.results; ++k) {
        at[k] += column * p.strides[k][d];
      }
      rest = next;
    }
    int number = p.uniforms;
    for (int k = 0; k < p.inputs; ++k) {
      if ((p.immediate >> k & 1) != 0) {
        set_number(k, number++);
        continue;
      }
      mine[k * apart] =
          read_number(static_cast<const char*>(p.data[k]) + at[k], p.dtypes[k],
                      (p.bool_inputs >> k & 1) != 0);
    }
    for (int k = 0; k < p.steps; ++k) {
      const unsigned char* const s = steps + 5 * k;
      mine[s[1] * apart] =
          run_step(static_cast<Prim>(s[0]), mine[s[2] * apart],
                   mine[s[3] * apart], mine[s[4] * apart], divided);
    }
    for (int k = 0; k < p.results; ++k) {
      const int operand = p.inputs + k;
      write_number(static_cast<char*>(p.data[operand]) + at[operand],
                   p.dtypes[operand], p.result_is_bool[k] != 0,
                   mine[p.result[k] * apart]);
    }
  }
  if (divided != 0) report(p.head, Fault::kDivision, -1, 0, 0);
}
