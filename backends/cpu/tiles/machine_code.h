#pragma once

#include <cstdint>

#include "aten/program/program.h"
#include "backends/cpu/jit/kernel.h"

namespace sy::cpu::tiles {

using program::kMaxInputs;
using program::kMaxRegisters;
using program::kMaxResults;
using program::kMaxUniforms;
using program::Program;
using program::Result;
using program::Step;
using program::Uniform;

// The dtype of a register of a program: bool, or that of the compute type.
inline ScalarType register_type(bool is_bool, program::ComputeType type) {
  return is_bool ? ScalarType::Bool : program::storage_of(type);
}

// One tensor operand along the inner dimension.
struct Operand {
  void* data;
  int64_t stride;  // in bytes; 0 reads one element throughout
  ScalarType dtype;
};

// The machine code of a program, for operands that lie as they were described.
// Copies share it.
class SY_API MachineCode {
 public:
  MachineCode() = default;
  // Operand::data is ignored. There is none if the program was not compiled
  // yet, needs what is not compiled, or if operands lie otherwise than side by
  // side or as one element. `work`: what will be done with it, in elements
  // times steps. Less than kLeastWork is not worth it, nor are runs of less
  // than kLeastRun elements.
  static MachineCode find(const Program& program, program::ComputeType compute,
                          const Operand* inputs, const Operand* results,
                          int64_t work);
  static constexpr int64_t kLeastWork = 16384, kLeastRun = 64;

  bool exists() const { return kernel_ != nullptr; }
  // Some numbers it leaves to the interpreter: run() ends before them.
  bool stops() const { return kernel_->stops(); }
  int64_t unit() const { return kernel_->unit(); }
  // data: the first element of each input, then of each result. Returns how
  // many elements were computed: n, unless the code stops().
  int64_t run(char* const* data, const Uniform* uniforms, int64_t n) const {
    const int64_t whole = n / unit() * unit();
    if (whole > 0) {
      const int64_t done = kernel_->run(data, uniforms, whole);
      if (done < whole) return done;
    }
    if (whole == n) return n;
    return run_rest(data, uniforms, whole, n - whole) ? n : whole;
  }

 private:
  bool run_rest(char* const* data, const Uniform* uniforms, int64_t from,
                int64_t n) const;

  intrusive_ptr<cpu::jit::Kernel> kernel_;
  uint8_t n_inputs_ = 0, n_results_ = 0;
  // The bytes from one element to the next: of each input, then each result.
  uint8_t strides_[kMaxInputs + kMaxResults];
};

}  // namespace sy::cpu::tiles
