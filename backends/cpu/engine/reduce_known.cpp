#include <algorithm>
#include <cstring>
#include <memory>

#include "aten/engine/guard.h"
#include "aten/engine/pointwise.h"
#include "backends/cpu/engine/accumulator.h"
#include "backends/cpu/engine/reduce_engine.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/tiles/compiled.h"
#include "backends/cpu/tiles/narrow.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

using program::ComputeType;

// Columns whose accumulators stay in the first cache.
constexpr int64_t kColumns = 4096;

class Known {
 public:
  Known(const KnownReduction& known, const ReduceLayout& layout,
        const ReduceArgs& args, char* accumulators)
      : known_(known),
        layout_(layout),
        loader_(args.self->dtype(), known.input),
        accumulators_(accumulators),
        acc_size_(static_cast<int64_t>(compute_type_size(known.accumulator))),
        run_(tiles::reduce_fn(known.kind, known.type)),
        run_rows_(tiles::reduce_rows_fn(known.kind, known.type)),
        merge_(tiles::reduce_fn(known.kind, known.accumulator)),
        merge_rows_(tiles::reduce_rows_fn(known.kind, known.accumulator)) {
    if (known.map != nullptr) {
      eval_uniforms(*known.map, args.scalars, 0, known.type, uniforms_);
      run_mapped_ = tiles::mapped_reduce_fn(known.kind, known.map->body,
                                            uniforms_, known.type);
    } else if (is_reduced_floating_type(loader_.from) &&
               known.type == ComputeType::f32) {
      run_narrow_ = tiles::narrow_reduce_fn(known.kind, loader_.from);
      run_narrow_rows_ = tiles::narrow_reduce_rows_fn(known.kind, loader_.from);
    }
  }

  void inner() const {
    const DimGroup& r = layout_.reduced;
    // A piece is part of a row, or whole rows.
    const int64_t row = r.size(0), rows = r.numel / row;
    const int64_t row_pieces = (row + kReducePiece - 1) / kReducePiece;
    const int64_t rows_in_piece =
        row_pieces > 1 ? 1 : std::max<int64_t>(1, kReducePiece / row);
    const int64_t pieces =
        row_pieces * ((rows + rows_in_piece - 1) / rows_in_piece);
    const int64_t outputs = layout_.kept.numel;
    ScratchBytes partial;
    char* results = accumulators_;
    if (pieces > 1) {
      partial.reset(static_cast<size_t>(outputs * pieces * acc_size_));
      results = partial.get();
    }
    const int64_t work = std::max<int64_t>(1, r.numel / pieces);
    parallel_for(0, outputs * pieces, std::max<int64_t>(1, 32768 / work),
                 [&](int64_t begin, int64_t end) {
                   RowBuffers buffers;
                   for (int64_t i = begin; i < end; ++i) {
                     const char* data =
                         layout_.data + layout_.kept.offset(i / pieces, 0);
                     const int64_t piece = i % pieces;
                     char* acc = results + i * acc_size_;
                     if (row_pieces > 1) {
                       const int64_t from = piece % row_pieces * kReducePiece;
                       data +=
                           r.offset(piece / row_pieces, 1) + from * r.stride(0);
                       start(data, acc, &buffers);
                       reduce_row(data, std::min(kReducePiece, row - from), acc,
                                  &buffers);
                       continue;
                     }
                     const int64_t first = piece * rows_in_piece;
                     const int64_t last = std::min(rows, first + rows_in_piece);
                     start(data + r.offset(first, 1), acc, &buffers);
                     for (int64_t k = first; k < last; ++k) {
                       reduce_row(data + r.offset(k, 1), row, acc, &buffers);
                     }
                   }
                 });
    if (pieces == 1) return;
    for (int64_t i = 0; i < outputs; ++i) {
      const char* parts = results + i * pieces * acc_size_;
      char* acc = accumulators_ + i * acc_size_;
      std::memcpy(acc, parts, static_cast<size_t>(acc_size_));
      merge_(acc, parts + acc_size_, pieces - 1);
    }
  }

  void outer() const {
    const bool direct =
        is_direct(layout_.kept.stride(0)) || is_narrow(layout_.kept.stride(0));
    const ReduceCut cut(layout_, direct ? kColumns : kRowChunk);
    const int64_t outputs = layout_.kept.numel, pieces = cut.pieces();
    const int64_t plane = outputs * acc_size_;
    ScratchBytes partial;
    if (pieces > 1) {
      partial.reset(static_cast<size_t>(plane * pieces));
    }
    parallel_for(
        0, cut.tasks(), cut.grain(32768), [&](int64_t begin, int64_t end) {
          RowBuffers buffers;
          for (int64_t i = begin; i < end; ++i) {
            const ReduceCut::Task t = cut.task(i);
            char* const all =
                pieces > 1 ? partial.get() + t.piece * plane : accumulators_;
            reduce_rows(t.data, t.n, t.from, t.upto, all + t.first * acc_size_,
                        &buffers);
          }
        });
    if (pieces == 1) return;
    std::memcpy(accumulators_, partial.get(), static_cast<size_t>(plane));
    merge_rows_(accumulators_, partial.get() + plane, plane, pieces - 1,
                outputs);
  }

 private:
  bool is_direct(int64_t stride) const {
    return known_.map == nullptr && loader_.direct(stride);
  }

  // Narrow floats, which kernels read as they are.
  bool is_narrow(int64_t stride) const {
    return run_narrow_ != nullptr && stride == loader_.from_size;
  }

  // Elements as they are combined.
  const char* load(const char* row, int64_t stride, int64_t n,
                   RowBuffers* buffers) const {
    const char* const x = loader_.load(row, stride, n, buffers);
    if (known_.map == nullptr) return x;
    const void* in[] = {x};
    void* out[] = {buffers->row};
    tiles::run_contiguous(known_.map->body, known_.type, in, 0, uniforms_, out,
                          n);
    return buffers->row;
  }

  void start(const char* data, char* acc, RowBuffers* buffers) const {
    const void* first = nullptr;
    if (begins_with_element(known_.kind))
      first = load(data, loader_.from_size, 1, buffers);
    start_accumulator(known_, first, acc);
  }

  void reduce_row(const char* data, int64_t n, char* acc,
                  RowBuffers* buffers) const {
    const int64_t stride =
        layout_.reduced.n == 0 ? loader_.from_size : layout_.reduced.stride(0);
    if (is_direct(stride)) return run_(acc, data, n);
    if (is_narrow(stride)) return run_narrow_(acc, data, n);
    const bool mapped = run_mapped_ != nullptr;
    if (mapped && loader_.direct(stride)) return run_mapped_(acc, data, n);
    for (int64_t i = 0; i < n; i += kRowChunk) {
      const int64_t m = std::min(kRowChunk, n - i);
      if (mapped) {
        run_mapped_(acc, loader_.load(data + i * stride, stride, m, buffers),
                    m);
        continue;
      }
      run_(acc, load(data + i * stride, stride, m, buffers), m);
    }
  }

  // Rows [first, last) of the reduced dims, n columns.
  void reduce_rows(const char* data, int64_t n, int64_t first, int64_t last,
                   char* acc, RowBuffers* buffers) const {
    const DimGroup& r = layout_.reduced;
    const int64_t stride = layout_.kept.stride(0);
    const char* const top = data + r.offset(first, 0);
    for (int64_t j = 0; j < n; ++j) {
      start(top + j * stride, acc + j * acc_size_, buffers);
    }
    const bool narrow = is_narrow(stride);
    if (!narrow && !is_direct(stride)) {
      for (int64_t k = first; k < last; ++k) {
        run_rows_(acc, load(data + r.offset(k, 0), stride, n, buffers), 0, 1,
                  n);
      }
      return;
    }
    // Runs of rows that are one dim apart.
    for (int64_t k = first; k < last;) {
      const int64_t at = k % r.size(0);
      const int64_t m = std::min(last - k, r.size(0) - at);
      (narrow ? run_narrow_rows_ : run_rows_)(acc, data + r.offset(k, 0),
                                              r.stride(0), m, n);
      k += m;
    }
  }

  const KnownReduction& known_;
  const ReduceLayout& layout_;
  RowLoader loader_;
  char* accumulators_;
  int64_t acc_size_;
  tiles::ReduceFn run_;
  tiles::ReduceRowsFn run_rows_;
  tiles::ReduceFn run_narrow_ = nullptr;
  tiles::ReduceFn run_mapped_ = nullptr;
  tiles::ReduceRowsFn run_narrow_rows_ = nullptr;
  tiles::ReduceFn merge_;
  tiles::ReduceRowsFn merge_rows_;
  program::Uniform uniforms_[program::kMaxUniforms];
};

// The step that makes a result, or nullptr.
const program::Step* step_of(const program::Program& p, int result) {
  for (int i = 0; i < p.n_steps; ++i) {
    if (p.steps[i].dst == p.results[result].reg) return &p.steps[i];
  }
  return nullptr;
}

bool is_identity(const ElementProgram& map, int accumulator,
                 lang::Prim conversion) {
  const program::Step* const s = step_of(map.body, accumulator);
  if (s == nullptr) return map.body.results[accumulator].reg == 0;
  return s->op == conversion && s->a == 0;
}

}  // namespace

bool recognise(const ReduceOp& op, int accumulator, ScalarType self,
               ScalarType compute, KnownReduction* known) {
  if (op.n_accumulators != op.combine.body.n_results ||
      !find_kernel(op.combine.body, accumulator, &known->kind)) {
    return false;
  }
  const bool logical = is_logical(known->kind);
  using lang::Prim;
  known->map = nullptr;
  if (!is_identity(op.map, accumulator, logical ? Prim::truth : Prim::copy)) {
    // Other maps run first, of floats to floats.
    if (op.n_accumulators != 1 || logical || !is_floating_type(compute) ||
        op.map.body.bool_inputs != 0 || op.map.body.results[0].is_bool) {
      return false;
    }
    known->map = &op.map;
  }
  // Integers are summed as they are, where the sum is to be int64.
  ScalarType input = compute;
  if (compute == kLong && is_integral_type(self, false) &&
      (known->kind == tiles::Reduction::sum ||
       known->kind == tiles::Reduction::prod)) {
    input = self;
  }
  known->type = program::compute_type_of(input);
  if (input == compute && !agrees(known->kind, known->type)) return false;
  known->input = program::storage_of(known->type);
  known->accumulator = tiles::accumulator_type(known->kind, known->type);
  return tiles::reduce_fn(known->kind, known->type) != nullptr &&
         tiles::reduce_fn(known->kind, known->accumulator) != nullptr;
}

void start_accumulator(const KnownReduction& known, const void* first,
                       void* accumulator) {
  if (begins_with_element(known.kind)) {
    std::memcpy(accumulator, first, compute_type_size(known.type));
    return;
  }
  const program::Uniform none = none_of(known.kind, known.accumulator);
  std::memcpy(accumulator, &none, compute_type_size(known.accumulator));
}

void reduce_known(const KnownReduction& known, const ReduceLayout& layout,
                  const ReduceArgs& args, void* accumulators) {
  const Known engine(known, layout, args, static_cast<char*>(accumulators));
  if (layout.inner()) {
    engine.inner();
  } else {
    engine.outer();
  }
}

}  // namespace sy::cpu
