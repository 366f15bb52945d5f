#pragma once

#include <cstdint>
#include <memory>

#include "aten/program/op_desc.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/tiles/kernels.h"

// The accumulators of a reduction while elements are read: of one operator
// (reduce_program.cpp), or of a region (region/reduce_loop.h). If kernels for
// whole runs know the reduction's program, they combine the elements; else the
// program itself does.

namespace sy::cpu {

// The kernel that combines accumulator i of a program with another one, if the
// program does that and nothing else to it. Its inputs are one side's
// accumulators, then the other's.
bool find_kernel(const program::Program& combine, int i,
                 tiles::Reduction* kind);
constexpr bool is_logical(tiles::Reduction kind) {
  return kind == tiles::Reduction::any || kind == tiles::Reduction::all;
}
// Max and min of elements begin with one of them.
constexpr bool begins_with_element(tiles::Reduction kind) {
  return kind == tiles::Reduction::max || kind == tiles::Reduction::min;
}
// Whether a kernel's accumulators hold what accumulators of the type would:
// sums in a narrower type wrap around, which the kernels' int64 does not.
bool agrees(tiles::Reduction kind, program::ComputeType type);
// The kernel's accumulator of no elements, unless it begins with one.
program::Uniform none_of(tiles::Reduction kind,
                         program::ComputeType accumulator);

// Writes n accumulators of no elements.
void fill_identity(const lang::Uniform& identity, ScalarType dtype, char* to,
                   int64_t n);

// What a reduction with `count` accumulators does.
struct Combination {
  const program::Program* program;  // of 2 * count inputs
  program::ComputeType type;
  const program::Uniform* uniforms;
  const lang::Uniform* identity;  // of each accumulator, or nullptr
  int count;
  // The dtypes of the values to combine, and of the results.
  const ScalarType* dtypes;
};

// How the accumulators of a reduction are combined. Shared by all threads of a
// run. Keeps the program, its uniforms and the identities.
class Combiner {
 public:
  static constexpr int kMaxAccumulators = 8;

  explicit Combiner(const Combination& c);
  int count() const { return k_; }
  bool is_known() const { return known_; }
  // The bytes of accumulator i as it is kept.
  int64_t size(int i) const { return size_[i]; }
  ScalarType dtype(int i) const { return dtypes_[i]; }

 private:
  friend class Accumulator;

  const program::Program& program_;
  const program::ComputeType type_;
  const program::Uniform* uniforms_;
  const lang::Uniform* identity_;
  int k_;
  bool known_;
  tiles::Reduction kinds_[kMaxAccumulators];
  ScalarType dtypes_[kMaxAccumulators];  // of the values
  ScalarType kept_[kMaxAccumulators];    // as they are kept
  int64_t size_[kMaxAccumulators];
  tiles::ConvertFn results_[kMaxAccumulators];
  // The kernels for a program that they know, and the accumulator of no
  // elements.
  tiles::ReduceFn reduce_[kMaxAccumulators];
  tiles::ReduceRowsFn reduce_rows_[kMaxAccumulators];
  program::Uniform none_[kMaxAccumulators];
};

// The accumulators of one row, or of `width` columns side by side. For one
// thread.
class Accumulator {
 public:
  // `columns`: the largest width; 0 for rows.
  Accumulator(const Combiner& combiner, int64_t columns);
  const Combiner& combiner() const { return c_; }

  void start(int64_t width) {
    width_ = width;
    empty_ = true;
    lanes_ = 0;
  }
  // Adds rows x n elements of each source, from `data` on. Rows of a source are
  // `row_stride` bytes apart. For a row, `rows` is 1; else n is the width.
  void add(const char* const* data, const int64_t* row_stride, int64_t rows,
           int64_t n);
  // Ends adding. Returns whether anything was added.
  bool settle();
  // After settle(): `width` accumulators, for merge() and results().
  const char* data(int i) const { return kept_[i]; }
  // Merges what another accumulator of the kind has after its settle().
  void merge(const char* const* other);
  // Writes the results in their dtypes, `width` of them.
  void results(char* const* out) const;
  // All of these for a row that is there as a whole, of n > 0 elements, if the
  // combiner is known.
  void reduce_row(const char* const* data, int64_t n, char* const* out) const;
  // Writes the results of no elements.
  void identity(char* const* out) const;

 private:
  void add_row(const char* const* data, int64_t n);
  void begin(int i, const char* first);
  void combine(const char* const* a, const char* const* b, char* const* to,
               int64_t n);

  const Combiner& c_;
  const bool of_row_;
  int64_t width_ = 1;
  bool empty_ = true;
  int64_t lanes_ = 0;  // used by a row whose program combines
  ScratchBytes memory_;
  char* kept_[Combiner::kMaxAccumulators];
  char* spare_[Combiner::kMaxAccumulators];
};

}  // namespace sy::cpu
