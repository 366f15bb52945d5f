#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "backends/cpu/program/runner.h"
#include "c10/array_ref.h"

// A program as a list of kernel calls on cells. A cell is the number of an
// address: each run gives the addresses. So little is left to do for a short
// run that rows of some hundred elements are not dominated by it.

namespace sy::cpu {

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
  explicit KernelCalls(std::pmr::memory_resource* memory) : calls_(memory) {}
  // Appends the program. Its numbers are in cells from `uniforms` on. It writes
  // cells of its own from `temporaries` on, as many as it returns. Each has
  // room for the elements of a run, of the widest type that the program meets.
  // A result may be in the very memory of an input with the same stride.
  int append(const program::Program& program, program::ComputeType type,
             ArrayRef<CellOperand> inputs, CellIndex uniforms,
             ArrayRef<CellOperand> results, CellIndex temporaries);
  size_t size() const { return calls_.size(); }
  // Calls `between` after each call.
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
          tiles::load_strided(c.size, cells[c.to], cells[c.a], c.stride, m);
          break;
        case kScatter:
          tiles::store_strided(c.size, cells[c.to], c.stride, cells[c.a], m);
      }
      between();
    }
  }

 private:
  enum Kind : uint8_t { kPrim, kConvert, kGather, kScatter };
  struct Call {
    union {
      tiles::PrimFn prim;
      tiles::ConvertFn convert;
    } fn;
    Kind kind;
    uint8_t mask;  // operands that are one element
    bool once;     // all are, and so is the value
    uint8_t size;  // of an element of kGather and kScatter
    CellIndex to, a, b, c;
    int64_t stride;
  };
  class Appender;

  void convert(CellIndex to, CellIndex from, ScalarType dtype, ScalarType as,
               bool once);
  void move(Kind kind, CellIndex to, CellIndex from, ScalarType dtype,
            int64_t stride);

  std::pmr::vector<Call> calls_;
};

}  // namespace sy::cpu
