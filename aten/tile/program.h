#pragma once

#include <cstdint>
#include <memory>

#include "aten/tile/tile.h"

// Tile programs and what runs them. A program is a view of static (or
// otherwise owned) arrays; it computes element by element on registers, of
// which register i < n_inputs is tensor operand i, the next n_uniforms are
// numbers, and the rest temporaries.

namespace sy::tiles {

struct Step {
  lang::Prim op;
  uint8_t dst = 0;
  uint8_t a = 0;
  uint8_t b = 0;
  uint8_t c = 0;
};

struct Result {
  uint8_t reg = 0;
  bool is_bool = false;  // the register holds bools, else the compute type
};

// Steps write temporaries only. Result registers may be inputs or uniforms.
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
};
inline constexpr int kMaxInputs = 64;
inline constexpr int kMaxUniforms = 64;
inline constexpr int kMaxResults = 16;

// One tensor operand along the inner dimension.
struct Operand {
  void* data;
  int64_t stride;  // in bytes; 0 reads one element throughout
  ScalarType dtype;
};

// A number in the compute type (or a bool), as the registers hold it.
union Uniform {
  float f32;
  double f64;
  uint8_t u8;  // and b8
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
};
static_assert(sizeof(Uniform) == 8);

// A number given as an integer or as a double, converted. Doubles truncate to
// integer types, integers wrap around; is_bool gives x != 0.
SY_API Uniform make_uniform(TileType type, bool is_bool,
                            int64_t value) noexcept;
SY_API Uniform make_uniform(TileType type, bool is_bool, double value) noexcept;

// Every step at once over n elements: no conversion, nothing strided. Bit i of
// uniform_inputs: input i is one element. Inputs are of the compute type (bool
// inputs bytes), results as Result::is_bool says. A result may be an input. A
// program of one step is little more than a call of its kernel.
// Throws InternalError if a step has no kernel for the type.
SY_API void run_contiguous(const Program& program, TileType compute,
                           const void* const* inputs, uint64_t uniform_inputs,
                           const Uniform* uniforms, void* const* results,
                           int64_t n);

// A program prepared for operands of given dtypes and strides, to be run on
// many rows. Cheap to make (tens of ns, no allocation up to 48 steps); one for
// each thread. Keeps pointers to the program's arrays and to the uniforms: they
// outlive it. A result may be the very memory of an input (same stride); the
// dtype may then differ only with the same element size.
class SY_API Runner {
 public:
  // Operand::data is ignored. Throws InternalError if the program goes beyond
  // the limits above or a step has no kernel for the compute type.
  Runner(const Program& program, TileType compute, const Operand* inputs,
         const Uniform* uniforms, const Operand* results);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // data: the first element of each input, then of each result. Results of a
  // one-step program larger than kStreamBytes bypass the caches.
  void run(char* const* data, int64_t n) const {
    if (direct_) {
      run_direct(data, n);
    } else {
      run_tiles(data, n);
    }
  }
  // `outer` such rows; operand k of the next one is outer_strides[k] bytes on.
  void run_2d(char* const* data, const int64_t* outer_strides, int64_t n,
              int64_t outer) const;
  // The same where inputs whose bit is set in `transposed` lie the other way
  // round: the next row is one element on, the next element of the row
  // inner_strides[k] bytes (read for those inputs alone). The Runner was made
  // for them with the stride of contiguous data; they do not overlap a result.
  // Works in tiles, fetching the next one meanwhile; results larger than
  // kStreamBytes bypass the caches.
  void run_2d_transposed(char* const* data, const int64_t* inner_strides,
                         const int64_t* outer_strides, int64_t n, int64_t outer,
                         uint64_t transposed) const;

 private:
  enum class Mode : uint8_t { direct, uniform, convert, gather };
  struct Port {  // how an operand reaches its register
    Mode mode;
    uint8_t size;  // of an element in memory
    bool strided;
    int64_t stride;
    ConvertFn convert;
  };
  struct Prepared {
    PrimFn fn;
    uint8_t dst, a, b, c;
    uint8_t mask;
    bool once;  // every operand uniform: so is the value
  };
  static constexpr int kInlineSteps = 48;

  void prepare_steps(TileType compute);
  void prepare_results(const Operand* results, TileType compute);
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
  bool direct_;
  uint8_t slot_[256];  // the tile buffer of a register
  Port inputs_[kMaxInputs];
  Port results_[kMaxResults];
  Prepared inline_steps_[kInlineSteps];
  std::unique_ptr<Prepared[]> many_steps_;
};

// A Runner made and run once.
SY_API void run(const Program& program, TileType compute, const Operand* inputs,
                const Uniform* uniforms, const Operand* results, int64_t n);

}  // namespace sy::tiles
