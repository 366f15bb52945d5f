#pragma once

#include "aten/engine/reduce.h"
#include "backends/cpu/engine/reduce_layout.h"
#include "backends/cpu/tiles/kernels.h"

// The ways of reducing, internal to reduce.cpp. Some operators have a kernel
// that combines a whole run. The others use the operator's programs.

namespace sy::cpu {

// How many elements make a partial result. More elements are split, whatever
// the number of threads, so that results do not depend on it.
inline constexpr int64_t kReducePiece = int64_t{1} << 17;

// The tasks of a reduction. Each has a strip of neighbouring results and a
// piece of what is reduced. A strip is a single result if the elements of a
// result lie closer together than results do.
class ReduceCut {
 public:
  // `width`: the most results in a strip.
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
  // How many tasks have `elements` elements together.
  int64_t grain(int64_t elements) const;

 private:
  const ReduceLayout& layout_;
  bool inner_;
  int64_t columns_, width_, strips_, others_, in_piece_, pieces_;
};

// How many elements are converted or gathered at a time.
inline constexpr int64_t kRowChunk = 1024;

struct RowBuffers {
  alignas(64) char row[kRowChunk * 8];
  alignas(64) char gathered[kRowChunk * 8];
};

// Brings rows into contiguous memory, in the dtype that the kernel reads.
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
  // n <= kRowChunk. Returns the row itself if it is so already.
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
  // Maps elements before they are combined; nullptr: they stay as they are.
  const ElementProgram* map = nullptr;
};

// Whether a kernel combines this accumulator as the operator's combine does,
// independently of the other accumulators. `known` then describes the kernel
// and the map that runs before it.
bool recognise(const ReduceOp& op, int accumulator, ScalarType self,
               ScalarType compute, KnownReduction* known);
// The accumulator of no elements. For max and min it is that of one element:
// `first`, of the kernel's type.
void start_accumulator(const KnownReduction& known, const void* first,
                       void* accumulator);

// Makes one accumulator for each kept element, in the order of layout.kept.
void reduce_known(const KnownReduction& known, const ReduceLayout& layout,
                  const ReduceArgs& args, void* accumulators);

// Whether the operator's accumulators are a count, a mean and a sum of squared
// distances. These have a kernel, reduce_moments(), which makes them in double.
bool is_moments(const ReduceOp& op);
void reduce_moments(const ReduceLayout& layout, ScalarType self, double* count,
                    double* mean, double* m2);

// The same by programs. accumulators[i][j] is accumulator i of kept element j,
// of the compute type or a bool. There must be elements.
void reduce_by_program(const ReduceOp& op, const ReduceArgs& args,
                       const ReduceLayout& layout, ScalarType compute,
                       char* const* accumulators);

}  // namespace sy::cpu
