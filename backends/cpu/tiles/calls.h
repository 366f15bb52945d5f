#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "backends/cpu/tiles/kernels.h"
#include "backends/cpu/tiles/machine_code.h"
#include "c10/tensor/array_ref.h"

// A program as a list of kernel calls on cells. A cell is the number of an
// address: each run gives the addresses. So little is left to do for a short
// run that rows of some hundred elements are not dominated by it. This is the
// one interpreter of programs here: Runner (runner.h) leads it over strided
// rows, the reductions of a region (region/reduce_loop.h) over theirs.

namespace sy::cpu::tiles {

using CellIndex = uint16_t;

// One operand of a program.
struct CellOperand {
  CellIndex cell = 0;
  bool is_memory = false;  // others are written by nobody else
  ScalarType dtype = ScalarType::Undefined;
  int64_t stride = 0;  // in bytes; 0 reads one element throughout
};

class KernelCalls {
 public:
  explicit KernelCalls(std::pmr::memory_resource* memory)
      : calls_(memory), codes_(memory) {}
  // Makes room for so much that append() of the program allocates nothing.
  void reserve(const Program& program) {
    calls_.reserve(static_cast<size_t>(program.n_steps + 2 * program.n_inputs +
                                       3 * program.n_results));
  }
  // The most cells that append() of a program writes as its own.
  static constexpr int kMostTemporaries =
      kMaxRegisters + kMaxInputs + 2 * kMaxResults;
  // Appends the program. Its numbers are in cells from `uniforms` on. It writes
  // cells of its own from `temporaries` on, as many as it returns. Each has
  // room for the elements of a run, of the widest type that the program meets.
  // A result may be in the very memory of an input with the same stride. Throws
  // InternalError if the program exceeds the limits, or if a step has no kernel
  // for the type.
  int append(const Program& program, ComputeType type,
             ArrayRef<CellOperand> inputs, CellIndex uniforms,
             ArrayRef<CellOperand> results, CellIndex temporaries);
  // Puts the machine code of the program, if there is some, in the place of the
  // calls from `first` on, which are the same program. `work`: what all runs
  // will do, in elements times steps.
  void take_code(size_t first, const Program& program, ComputeType type,
                 ArrayRef<CellOperand> inputs, const Uniform* uniforms,
                 ArrayRef<CellOperand> results, int64_t work);
  size_t size() const { return calls_.size(); }
  // Runs all calls on n elements, and `between` after each.
  template <class F>
  void run(char* const* cells, int64_t n, const F& between) const {
    for (const Call& c : calls_) {
      const int64_t m = c.once ? 1 : n;
      switch (c.kind) {
        case kPrim:
          c.fn.prim(cells[c.to], cells[c.a], cells[c.b], cells[c.c], c.mask, m);
          break;
        case kConvert: c.fn.convert(cells[c.to], cells[c.a], m); break;
        case kGather:
          load_strided(c.size, cells[c.to], cells[c.a], c.stride, m);
          break;
        case kScatter:
          store_strided(c.size, cells[c.to], c.stride, cells[c.a], m);
          break;
        case kCode: run_code(codes_[static_cast<size_t>(c.stride)], cells, n);
      }
      between();
    }
  }

 private:
  enum Kind : uint8_t { kPrim, kConvert, kGather, kScatter, kCode };
  struct Call {
    union {
      PrimFn prim;
      ConvertFn convert;
    } fn;
    Kind kind;
    uint8_t mask;  // operands that are one element
    bool once;     // all are, and so is the value
    uint8_t size;  // of an element of kGather and kScatter
    CellIndex to, a, b, c;
    int64_t stride;  // of kCode: which
  };
  struct Code {
    MachineCode code;
    const Uniform* uniforms;
    int operands;
    CellIndex cells[kMaxInputs + kMaxResults];
  };
  class Appender;

  void convert(CellIndex to, CellIndex from, ScalarType dtype, ScalarType as,
               bool once);
  void move(Kind kind, CellIndex to, CellIndex from, ScalarType dtype,
            int64_t stride);

  static void run_code(const Code& code, char* const* cells, int64_t n);

  std::pmr::vector<Call> calls_;
  std::pmr::vector<Code> codes_;
};

}  // namespace sy::cpu::tiles
