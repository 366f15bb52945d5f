#pragma once

#include <cstdint>
#include <memory>

#include "aten/program/program.h"
#include "backends/cpu/program/kernels.h"
#include "backends/cpu/program/machine_code.h"

// Runs element programs (aten/program/program.h) over tiles of memory.

namespace sy::tiles {

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
// many rows. It is cheap to make (tens of ns, no allocation up to 48 steps).
// Each thread needs its own. It keeps pointers to the program's arrays and to
// the uniforms, which must outlive it. A result may be in the very memory of an
// input with the same stride. Their dtypes may then differ only if elements
// have the same size.
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
    if (!direct_) code_ = find_code(work);
  }

  // data: the first element of each input, then of each result. The results of
  // a one-step program bypass the caches if they have kStreamBytes or more.
  void run(char* const* data, int64_t n) const {
    if (direct_) {
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
  enum class Mode : uint8_t { direct, uniform, convert, gather };
  struct Port {  // how an operand reaches its register
    Mode mode;
    uint8_t size;  // of an element in memory
    bool strided;
    ScalarType dtype;
    int64_t stride;
    ConvertFn convert;
  };
  struct Prepared {
    PrimFn fn;
    uint8_t dst, a, b, c;
    uint8_t mask;
    bool once;  // all operands are uniform, and so is the value
  };
  static constexpr int kInlineSteps = 48;

  void prepare_steps(ComputeType compute);
  void prepare_results(const Operand* results, ComputeType compute);
  bool run_compiled(char* const* data, const int64_t* outer_strides, int64_t n,
                    int64_t outer) const;
  MachineCode find_code(int64_t work) const;
  void run_code(const MachineCode& code, char* const* data, int64_t n) const;
  void run_direct(char* const* data, int64_t n) const;
  void call_direct(char* const* data, int64_t n, bool stream) const;
  void run_tiles(char* const* data, int64_t n) const;
  void store_result(const Port& port, char* at, const char* from,
                    bool is_uniform, int64_t n, char* staging) const;

  const Program* program_;
  const Uniform* uniforms_;
  Prepared* steps_;
  uint64_t uniform_[4];  // bit r: register r holds one element at the end
  int tile_;
  int slots_;  // tile buffers in use
  int staging_;
  int last_result_;  // index of the result that the last step writes, or -1
  uint8_t size_;     // of an element of the compute type
  ComputeType compute_;
  bool direct_;
  MachineCode code_;
  uint8_t slot_[256];  // the tile buffer of a register
  Port inputs_[kMaxInputs];
  Port results_[kMaxResults];
  Prepared inline_steps_[kInlineSteps];
  std::unique_ptr<Prepared[]> many_steps_;
};

// Makes a Runner and runs it once.
SY_API void run(const Program& program, ComputeType compute,
                const Operand* inputs, const Uniform* uniforms,
                const Operand* results, int64_t n);

}  // namespace sy::tiles
