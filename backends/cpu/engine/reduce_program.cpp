#include <algorithm>
#include <cstring>

#include "aten/engine/pointwise.h"
#include "backends/cpu/engine/accumulator.h"
#include "backends/cpu/engine/reduce_engine.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/tiles/runner.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int kMaxAccumulators = Combiner::kMaxAccumulators;
// Elements that are mapped at a time, or the most columns side by side.
constexpr int64_t kChunk = 512;

// The map of a reduction, and where its accumulators go.
class ProgramReduction {
 public:
  ProgramReduction(const ReduceOp& op, const ReduceArgs& args,
                   const ReduceLayout& layout, ScalarType compute)
      : op_(op),
        layout_(layout),
        k_(op.n_accumulators),
        type_(program::compute_type_of(compute)),
        loader_(
            args.self->dtype(),
            tiles::register_type((op.map.body.bool_inputs & 1) != 0, type_)) {
    eval_uniforms(op.map, args.scalars, 0, type_, map_uniforms_);
    eval_uniforms(op.combine, args.scalars, 0, type_, combine_uniforms_);
    for (int i = 0; i < k_; ++i) {
      dtypes_[i] = tiles::register_type(op.map.body.results[i].is_bool, type_);
      size_[i] = static_cast<int64_t>(element_size(dtypes_[i]));
    }
  }

  void run(char* const* accumulators) const {
    const Combiner combiner({&op_.combine.body, type_, combine_uniforms_,
                             op_.identity, k_, dtypes_});
    const int64_t outputs = layout_.kept.numel;
    const ReduceCut cut(layout_, kChunk);
    const int64_t pieces = cut.pieces();
    // Plane p holds accumulator a of piece p, as the combiner keeps it.
    ScratchBytes partial[kMaxAccumulators];
    for (int a = 0; a < k_ && pieces > 1; ++a) {
      partial[a].reset(
          static_cast<size_t>(pieces * outputs * combiner.size(a)));
    }
    const int64_t columns = layout_.inner() ? 0 : kChunk;
    parallel_for(
        0, cut.tasks(), cut.grain(16384), [&](int64_t begin, int64_t end) {
          Accumulator acc(combiner, columns);
          Buffers buffers;
          for (int64_t i = begin; i < end; ++i) {
            const ReduceCut::Task t = cut.task(i);
            acc.start(t.n);
            if (columns == 0) {
              add_elements(t, &buffers, &acc);
            } else {
              add_rows(t, &buffers, &acc);
            }
            acc.settle();
            if (pieces == 1) {
              write(acc, t.first, accumulators);
              continue;
            }
            for (int a = 0; a < k_; ++a) {
              const int64_t size = combiner.size(a);
              std::memcpy(
                  partial[a].get() + (t.piece * outputs + t.first) * size,
                  acc.data(a), static_cast<size_t>(t.n * size));
            }
          }
        });
    if (pieces > 1) merge(combiner, partial, pieces, accumulators);
  }

 private:
  struct Buffers {
    RowBuffers rows;
    alignas(64) char mapped[kMaxAccumulators][kChunk * 8];
  };

  // Writes the results of `acc`, of kept elements from `first` on.
  void write(const Accumulator& acc, int64_t first,
             char* const* accumulators) const {
    char* to[kMaxAccumulators];
    for (int a = 0; a < k_; ++a) to[a] = accumulators[a] + first * size_[a];
    acc.results(to);
  }

  // Adds the map's results for n elements.
  void add(const char* data, int64_t stride, int64_t n, Buffers* buffers,
           Accumulator* to) const {
    const void* in[] = {loader_.load(data, stride, n, &buffers->rows)};
    void* out[kMaxAccumulators];
    const char* mapped[kMaxAccumulators];
    const int64_t row_stride[kMaxAccumulators] = {};
    for (int i = 0; i < k_; ++i) out[i] = buffers->mapped[i];
    for (int i = 0; i < k_; ++i) mapped[i] = buffers->mapped[i];
    tiles::run_contiguous(op_.map.body, type_, in, 0, map_uniforms_, out, n);
    to->add(mapped, row_stride, 1, n);
  }

  // Elements of the reduced dims make one accumulator.
  void add_elements(const ReduceCut::Task& t, Buffers* buffers,
                    Accumulator* to) const {
    const DimGroup& r = layout_.reduced;
    const int64_t stride = r.n == 0 ? loader_.from_size : r.stride(0);
    for (int64_t from = t.from; from < t.upto;) {
      const int64_t at = from % r.size(0);
      const int64_t n = std::min({kChunk, t.upto - from, r.size(0) - at});
      add(t.data + r.offset(from, 0), stride, n, buffers, to);
      from += n;
    }
  }

  void add_rows(const ReduceCut::Task& t, Buffers* buffers,
                Accumulator* to) const {
    for (int64_t k = t.from; k < t.upto; ++k) {
      add(t.data + layout_.reduced.offset(k, 0), layout_.kept.stride(0), t.n,
          buffers, to);
    }
  }

  void merge(const Combiner& combiner, const ScratchBytes* partial,
             int64_t pieces, char* const* accumulators) const {
    const int64_t outputs = layout_.kept.numel;
    Accumulator acc(combiner, kChunk);
    for (int64_t at = 0; at < outputs; at += kChunk) {
      acc.start(std::min(kChunk, outputs - at));
      for (int64_t p = 0; p < pieces; ++p) {
        const char* parts[kMaxAccumulators];
        for (int a = 0; a < k_; ++a) {
          parts[a] = partial[a].get() + (p * outputs + at) * combiner.size(a);
        }
        acc.merge(parts);
      }
      write(acc, at, accumulators);
    }
  }

  const ReduceOp& op_;
  const ReduceLayout& layout_;
  const int k_;
  const program::ComputeType type_;
  const RowLoader loader_;
  ScalarType dtypes_[kMaxAccumulators];
  int64_t size_[kMaxAccumulators];
  program::Uniform map_uniforms_[program::kMaxUniforms];
  program::Uniform combine_uniforms_[program::kMaxUniforms];
};

}  // namespace

void reduce_by_program(const ReduceOp& op, const ReduceArgs& args,
                       const ReduceLayout& layout, ScalarType compute,
                       char* const* accumulators) {
  ProgramReduction(op, args, layout, compute).run(accumulators);
}

}  // namespace sy::cpu
