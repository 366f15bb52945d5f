#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "aten/program/program.h"
#include "backends/cpu/tiles/calls.h"
#include "backends/cpu/tiles/kernels.h"
#include "backends/cpu/tiles/machine_code.h"

// Runs element programs (aten/program/program.h) over tiles of memory.

namespace sy::cpu::tiles {

// Runs every step at once over n elements, without conversions and strides. Bit
// i of uniform_inputs: input i is one element. Inputs have the compute type
// (bool inputs are bytes), results have the type that Result::is_bool says. A
// result may be an input. A program of one step costs little more than a call
// of its kernel. Throws InternalError if a step has no kernel for the type.
SY_API void run_contiguous(const Program& program, ComputeType compute,
                           const void* const* inputs, uint64_t uniform_inputs,
                           const Uniform* uniforms, void* const* results,
                           int64_t n);

// A program prepared for operands of given dtypes and strides, to be run on
// many rows. It is cheap to make (tens of ns, no allocation up to some 48
// steps). Each thread needs its own. It keeps pointers to the program's arrays
// and to the uniforms, which must outlive it. A result may be in the very
// memory of an input with the same stride. Their dtypes may then differ only if
// elements have the same size.
class SY_API Runner {
 public:
  // Operand::data is ignored. Throws InternalError if the program exceeds the
  // limits above, or if a step has no kernel for the compute type.
  Runner(const Program& program, ComputeType compute, const Operand* inputs,
         const Uniform* uniforms, const Operand* results);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Takes machine code for all runs, if there is some. `work`: what they will
  // do together, in elements times steps. Without this, long runs look for it.
  void take_code(int64_t work) {
    if (!is_direct()) code_ = find_code(work);
  }

  // data: the first element of each input, then of each result. The results of
  // a one-step program bypass the caches if they have kStreamBytes or more.
  void run(char* const* data, int64_t n) const {
    if (is_direct()) {
      run_direct(data, n);
    } else if (!run_compiled(data, nullptr, n, 1)) {
      run_tiles(data, n);
    }
  }
  // Runs `outer` such rows. Operand k of the next row is outer_strides[k] bytes
  // further.
  void run_2d(char* const* data, const int64_t* outer_strides, int64_t n,
              int64_t outer) const;
  // The same for inputs that lie the other way round: those whose bit is set in
  // `transposed`. Their next row is one element further, and the next element
  // of a row is inner_strides[k] bytes further (read for those inputs alone).
  // The Runner must be made with the stride of contiguous data for them, and
  // they must not overlap a result. It works in tiles and fetches the next one
  // meanwhile. Results of kStreamBytes or more bypass the caches.
  void run_2d_transposed(char* const* data, const int64_t* inner_strides,
                         const int64_t* outer_strides, int64_t n, int64_t outer,
                         uint64_t transposed) const;

 private:
  struct Port {
    int64_t stride;
    ConvertFn convert;  // of an input that is one element, or nullptr
    ScalarType dtype;
    uint8_t size;  // of an element in memory
  };
  // The only call of a program that takes its operands as they are.
  struct DirectCall {
    PrimFn fn = nullptr;
    uint8_t operands[3] = {};  // registers; 0 beyond the arity
    uint8_t mask = 0;          // those that are one element
  };
  // Room for the calls of some 48 steps and their operands.
  static constexpr size_t kInlineBytes = 2048;

  bool is_direct() const { return direct_.fn != nullptr; }
  int n_operands() const { return program_->n_inputs + program_->n_results; }
  void find_direct(const Operand* inputs, const Operand* results);
  void prepare_calls();
  bool run_compiled(char* const* data, const int64_t* outer_strides, int64_t n,
                    int64_t outer) const;
  MachineCode find_code(int64_t work) const;
  void run_code(const MachineCode& code, char* const* data, int64_t n) const;
  void run_direct(char* const* data, int64_t n) const;
  void call_direct(char* const* data, int64_t n, bool stream) const;
  void run_tiles(char* const* data, int64_t n) const;

  const Program* program_;
  const Uniform* uniforms_;
  ComputeType compute_;
  int temporaries_ = 0;  // tile buffers
  int tile_ = 0;         // elements
  int slot_bytes_ = 0;   // of a tile buffer
  DirectCall direct_;
  MachineCode code_;
  Port ports_[kMaxInputs + kMaxResults];
  alignas(8) std::byte room_[kInlineBytes];
  std::pmr::monotonic_buffer_resource memory_{room_, sizeof room_};
  // On cells: the operands, the uniforms, the tile buffers.
  KernelCalls calls_{&memory_};
};

// Makes a Runner and runs it once.
SY_API void run(const Program& program, ComputeType compute,
                const Operand* inputs, const Uniform* uniforms,
                const Operand* results, int64_t n);

}  // namespace sy::cpu::tiles
