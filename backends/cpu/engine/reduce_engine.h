#pragma once

#include "aten/engine/reduce.h"
#include "backends/cpu/engine/reduce_layout.h"
#include "backends/cpu/program/kernels.h"

// The ways of reducing, internal to reduce.cpp: by a kernel that combines a
// whole run, for the operators that have one, else by the operator's programs.

namespace sy::cpu {

// Elements that make a partial result; more are split, whatever the number of
// threads, so that results do not depend on it.
inline constexpr int64_t kReducePiece = int64_t{1} << 17;

// The tasks of a reduction: strips of results that lie side by side (one result
// where its elements lie closer together), and pieces of what is reduced.
class ReduceCut {
 public:
  // `width`: the most results of a strip.
  ReduceCut(const ReduceLayout& layout, int64_t width);

  struct Task {
    int64_t piece;
    int64_t first, n;    // results
    int64_t from, upto;  // reduced elements
    const char* data;    // of the first result
  };
  Task task(int64_t i) const;
  int64_t tasks() const { return others_ * strips_ * pieces_; }
  int64_t pieces() const { return pieces_; }
  // Tasks that have so many elements together.
  int64_t grain(int64_t elements) const;

 private:
  const ReduceLayout& layout_;
  bool inner_;
  int64_t columns_, width_, strips_, others_, in_piece_, pieces_;
};

// Elements converted or gathered at a time.
inline constexpr int64_t kRowChunk = 1024;

struct RowBuffers {
  alignas(64) char row[kRowChunk * 8];
  alignas(64) char gathered[kRowChunk * 8];
};

// Brings rows to contiguous elements of the kernel's type.
struct RowLoader {
  ScalarType from, to;
  int64_t from_size, to_size;
  bool converts;

  RowLoader(ScalarType self, ScalarType input)
      : from(self),
        to(input),
        from_size(static_cast<int64_t>(element_size(self))),
        to_size(static_cast<int64_t>(element_size(input))),
        converts(self != input) {}
  bool direct(int64_t stride) const { return !converts && stride == from_size; }
  // n <= kRowChunk. Points to the row itself if it is as it should be.
  const char* load(const char* row, int64_t stride, int64_t n,
                   RowBuffers* buffers) const {
    if (stride != from_size) {
      char* to_here = converts ? buffers->gathered : buffers->row;
      tiles::load_strided(static_cast<size_t>(from_size), to_here, row, stride,
                          n);
      row = to_here;
    }
    if (!converts) return row;
    tiles::convert_fn(from, to)(buffers->row, row, n);
    return buffers->row;
  }
};

struct KnownReduction {
  tiles::Reduction kind;
  ScalarType input;           // self is converted to it first, if it is not
  program::ComputeType type;  // of `input`
  program::ComputeType accumulator;
  // What elements become before they are combined, or nullptr: themselves.
  const ElementProgram* map = nullptr;
};

// Whether a kernel does what the operator's combine says of an accumulator by
// itself, after its map.
bool recognise(const ReduceOp& op, int accumulator, ScalarType self,
               ScalarType compute, KnownReduction* known);
// The accumulator of no elements, or of one for max and min (`first`, of the
// kernel's type).
void start_accumulator(const KnownReduction& known, const void* first,
                       void* accumulator);

// One accumulator for each kept element, in the order of layout.kept.
void reduce_known(const KnownReduction& known, const ReduceLayout& layout,
                  const ReduceArgs& args, void* accumulators);

// Whether it is an operator whose accumulators are a count, a mean and a sum of
// squared distances, which have a kernel; and these, in double.
bool is_moments(const ReduceOp& op);
void reduce_moments(const ReduceLayout& layout, ScalarType self, double* count,
                    double* mean, double* m2);

// The same by programs: accumulator i of kept element j is element j of
// accumulators[i], of the compute type or a bool. There are elements.
void reduce_by_program(const ReduceOp& op, const ReduceArgs& args,
                       const ReduceLayout& layout, ScalarType compute,
                       char* const* accumulators);

}  // namespace sy::cpu
