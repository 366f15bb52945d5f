#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "aten/engine/pointwise.h"
#include "backends/cpu/engine/reduce_engine.h"
#include "backends/cpu/program/runner.h"
#include "backends/cpu/support/scratch.h"
#include "c10/parallel.h"

namespace sy::cpu {

namespace {

constexpr int kMaxAccumulators = 8;
// Partial accumulators of one result side by side, and elements at a time.
constexpr int64_t kLanes = 512;

// k arrays of kLanes accumulators.
struct Lanes {
  alignas(64) char data[kMaxAccumulators][kLanes * 8];
};

class ProgramReduction {
 public:
  ProgramReduction(const ReduceOp& op, const ReduceArgs& args,
                   const ReduceLayout& layout, ScalarType compute)
      : op_(op),
        layout_(layout),
        k_(op.n_accumulators),
        self_(args.self->dtype()),
        type_(program::compute_type_of(compute)),
        input_((op.map.body.bool_inputs & 1) != 0 ? kBool
                                                  : program::storage_of(type_)),
        convert_(tiles::convert_fn(self_, input_)) {
    SY_INTERNAL_ASSERT(k_ <= kMaxAccumulators);
    eval_uniforms(op.map, args.scalars, 0, type_, map_uniforms_);
    eval_uniforms(op.combine, args.scalars, 0, type_, combine_uniforms_);
    for (int i = 0; i < k_; ++i) {
      size_[i] = op.map.body.results[i].is_bool
                     ? 1
                     : static_cast<int64_t>(compute_type_size(type_));
    }
  }

  void run(char* const* accumulators) const {
    const int64_t outputs = layout_.kept.numel;
    const ReduceCut cut(layout_, kLanes);
    const int64_t pieces = cut.pieces();
    // Plane p holds the accumulators of piece p; the first is the result.
    ScratchBytes rest[kMaxAccumulators];
    for (int i = 0; i < k_ && pieces > 1; ++i) {
      rest[i].reset(static_cast<size_t>((pieces - 1) * outputs * size_[i]));
    }
    parallel_for(
        0, cut.tasks(), cut.grain(16384), [&](int64_t begin, int64_t end) {
          const auto scratch = std::make_unique<Scratch>();
          for (int64_t i = begin; i < end; ++i) {
            const ReduceCut::Task t = cut.task(i);
            char* to[kMaxAccumulators];
            for (int a = 0; a < k_; ++a) {
              char* const plane =
                  t.piece == 0
                      ? accumulators[a]
                      : rest[a].get() + (t.piece - 1) * outputs * size_[a];
              to[a] = plane + t.first * size_[a];
            }
            if (layout_.inner()) {
              reduce_one(t.data, t.from, t.upto, to, scratch.get());
            } else {
              reduce_columns(t.data, t.n, t.from, t.upto, to, scratch.get());
            }
          }
        });
    merge_planes(accumulators, rest, outputs, pieces);
  }

 private:
  struct Scratch {
    Lanes lanes[3];
    alignas(64) char row[kLanes * 8];
    alignas(64) char gathered[kLanes * 8];
  };

  // Contiguous elements as the map takes them.
  const char* load(const char* row, int64_t stride, int64_t n,
                   Scratch* s) const {
    const auto size = static_cast<int64_t>(element_size(self_));
    if (stride != size) {
      tiles::load_strided(static_cast<size_t>(size), s->gathered, row, stride,
                          n);
      row = s->gathered;
    }
    if (self_ == input_) return row;
    convert_(s->row, row, n);
    return s->row;
  }

  void map(const char* x, int64_t n, Lanes* to) const {
    const void* in[] = {x};
    void* out[kMaxAccumulators];
    for (int i = 0; i < k_; ++i) out[i] = to->data[i];
    tiles::run_contiguous(op_.map.body, type_, in, 0, map_uniforms_, out, n);
  }
  void combine(const char* const* a, const char* const* b, char* const* to,
               int64_t n) const {
    const void* in[2 * kMaxAccumulators];
    void* out[kMaxAccumulators];
    for (int i = 0; i < k_; ++i) {
      in[i] = a[i];
      in[k_ + i] = b[i];
      out[i] = to[i];
    }
    tiles::run_contiguous(op_.combine.body, type_, in, 0, combine_uniforms_,
                          out, n);
  }
  // *a = combine(*a, *b) for n lanes, with *spare as room; a and spare swap.
  void combine(Lanes** a, const Lanes* b, Lanes** spare, int64_t n) const {
    const char* x[kMaxAccumulators];
    const char* y[kMaxAccumulators];
    char* to[kMaxAccumulators];
    for (int i = 0; i < k_; ++i) {
      x[i] = (*a)->data[i];
      y[i] = b->data[i];
      to[i] = (*spare)->data[i];
    }
    combine(x, y, to, n);
    std::swap(*a, *spare);
  }
  void copy_tail(Lanes* to, const Lanes* from, int64_t begin,
                 int64_t end) const {
    for (int i = 0; i < k_; ++i) {
      std::memcpy(to->data[i] + begin * size_[i],
                  from->data[i] + begin * size_[i],
                  static_cast<size_t>((end - begin) * size_[i]));
    }
  }

  // Elements [from, upto) of the reduced dims make one accumulator.
  void reduce_one(const char* data, int64_t from, int64_t upto, char* const* to,
                  Scratch* s) const {
    const DimGroup& r = layout_.reduced;
    Lanes *acc = &s->lanes[0], *mapped = &s->lanes[1], *spare = &s->lanes[2];
    int64_t lanes = 0;
    while (from < upto) {
      const int64_t at = from % r.size(0);
      const int64_t n = std::min({kLanes, upto - from, r.size(0) - at});
      const int64_t stride =
          r.n == 0 ? static_cast<int64_t>(element_size(self_)) : r.stride(0);
      map(load(data + r.offset(from, 0), stride, n, s), n,
          lanes == 0 ? acc : mapped);
      if (lanes == 0) {
        lanes = n;
      } else if (n <= lanes) {
        copy_tail(spare, acc, n, lanes);
        combine(&acc, mapped, &spare, n);
      } else {
        copy_tail(spare, mapped, lanes, n);
        combine(&acc, mapped, &spare, lanes);
        lanes = n;
      }
      from += n;
    }
    while (lanes > 1) {
      const int64_t half = lanes / 2, rest = lanes - 2 * half;
      const char* x[kMaxAccumulators];
      const char* y[kMaxAccumulators];
      char* out[kMaxAccumulators];
      for (int i = 0; i < k_; ++i) {
        x[i] = acc->data[i];
        y[i] = acc->data[i] + half * size_[i];
        out[i] = spare->data[i];
        if (rest != 0) {
          std::memcpy(spare->data[i] + half * size_[i],
                      acc->data[i] + 2 * half * size_[i],
                      static_cast<size_t>(size_[i]));
        }
      }
      combine(x, y, out, half);
      std::swap(acc, spare);
      lanes = half + rest;
    }
    for (int i = 0; i < k_; ++i) {
      std::memcpy(to[i], acc->data[i], static_cast<size_t>(size_[i]));
    }
  }

  void reduce_columns(const char* data, int64_t n, int64_t from, int64_t upto,
                      char* const* to, Scratch* s) const {
    const DimGroup& r = layout_.reduced;
    Lanes *acc = &s->lanes[0], *mapped = &s->lanes[1], *spare = &s->lanes[2];
    for (int64_t k = from; k < upto; ++k) {
      map(load(data + r.offset(k, 0), layout_.kept.stride(0), n, s), n,
          k == from ? acc : mapped);
      if (k != from) combine(&acc, mapped, &spare, n);
    }
    for (int i = 0; i < k_; ++i) {
      std::memcpy(to[i], acc->data[i], static_cast<size_t>(n * size_[i]));
    }
  }

  void merge_planes(char* const* accumulators, const ScratchBytes* rest,
                    int64_t outputs, int64_t pieces) const {
    if (pieces == 1) return;
    const auto room = std::make_unique<Lanes>();
    for (int64_t at = 0; at < outputs; at += kLanes) {
      const int64_t n = std::min(kLanes, outputs - at);
      for (int64_t p = 0; p + 1 < pieces; ++p) {
        const char* x[kMaxAccumulators];
        const char* y[kMaxAccumulators];
        char* out[kMaxAccumulators];
        for (int i = 0; i < k_; ++i) {
          x[i] = accumulators[i] + at * size_[i];
          y[i] = rest[i].get() + (p * outputs + at) * size_[i];
          out[i] = room->data[i];
        }
        combine(x, y, out, n);
        for (int i = 0; i < k_; ++i) {
          std::memcpy(accumulators[i] + at * size_[i], room->data[i],
                      static_cast<size_t>(n * size_[i]));
        }
      }
    }
  }

  const ReduceOp& op_;
  const ReduceLayout& layout_;
  int k_;
  ScalarType self_;
  program::ComputeType type_;
  ScalarType input_;
  tiles::ConvertFn convert_;
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
