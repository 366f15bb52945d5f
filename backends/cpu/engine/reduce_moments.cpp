#include <algorithm>
#include <memory>

#include "aten/ops/variance_desc.h"
#include "backends/cpu/engine/reduce_engine.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Columns whose moments stay in the first cache.
constexpr int64_t kColumns = 512;

struct Moments {
  double count = 0, mean = 0, m2 = 0;

  // Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for
  // Computing Sample Variances", 1979.
  void merge(const Moments& b) {
    const double n = count + b.count;
    const double d = b.mean - mean;
    const double share = b.count / n;
    mean = count == 0 ? b.mean : mean + d * share;
    m2 = count == 0 ? b.m2 : m2 + b.m2 + d * d * count * share;
    count = n;
  }
};

class MomentsReduction {
 public:
  MomentsReduction(const ReduceLayout& layout, ScalarType self)
      : layout_(layout),
        loader_(self, self == kDouble ? kDouble : kFloat),
        run_(tiles::moments_fn(program::compute_type_of(loader_.to))),
        run_rows_(
            tiles::moments_rows_fn(program::compute_type_of(loader_.to))) {}

  void run(double* count, double* mean, double* m2) const {
    const int64_t outputs = layout_.kept.numel;
    const ReduceCut cut(layout_, kColumns);
    const int64_t pieces = cut.pieces();
    std::unique_ptr<Moments[]> partial(
        new Moments[static_cast<size_t>(outputs * pieces)]);
    parallel_for(0, cut.tasks(), cut.grain(32768),
                 [&](int64_t begin, int64_t end) {
                   RowBuffers buffers;
                   for (int64_t i = begin; i < end; ++i) {
                     const ReduceCut::Task t = cut.task(i);
                     Moments* to = partial.get() + t.first * pieces + t.piece;
                     if (layout_.inner()) {
                       *to = one(t.data, t.from, t.upto, &buffers);
                     } else {
                       down(t.data, t.n, t.from, t.upto, to, pieces, &buffers);
                     }
                   }
                 });
    for (int64_t i = 0; i < outputs; ++i) {
      Moments all = partial[static_cast<size_t>(i * pieces)];
      for (int64_t p = 1; p < pieces; ++p) {
        all.merge(partial[static_cast<size_t>(i * pieces + p)]);
      }
      count[i] = all.count;
      mean[i] = all.mean;
      m2[i] = all.m2;
    }
  }

 private:
  // Elements [from, upto) of the reduced dims.
  Moments one(const char* data, int64_t from, int64_t upto,
              RowBuffers* buffers) const {
    const DimGroup& r = layout_.reduced;
    const int64_t stride = r.n == 0 ? loader_.from_size : r.stride(0);
    Moments all;
    while (from < upto) {
      const int64_t at = from % r.size(0);
      const int64_t n = std::min({kRowChunk, upto - from, r.size(0) - at});
      Moments chunk;
      chunk.count = static_cast<double>(n);
      run_(&chunk.mean, &chunk.m2,
           loader_.load(data + r.offset(from, 0), stride, n, buffers), n);
      all.merge(chunk);
      from += n;
    }
    return all;
  }

  // Rows [from, upto) of the reduced dims, n columns, to every step-th of `to`.
  void down(const char* data, int64_t n, int64_t from, int64_t upto,
            Moments* to, int64_t step, RowBuffers* buffers) const {
    const DimGroup& r = layout_.reduced;
    const int64_t stride = layout_.kept.stride(0);
    alignas(64) double mean[kColumns] = {}, m2[kColumns] = {};
    for (int64_t k = from; k < upto;) {
      int64_t rows = 1, row_stride = 0;
      const char* row = data + r.offset(k, 0);
      if (loader_.direct(stride)) {
        rows = std::min(upto - k, r.size(0) - k % r.size(0));
        row_stride = r.stride(0);
      } else {
        row = loader_.load(row, stride, n, buffers);
      }
      run_rows_(mean, m2, row, row_stride, k - from, rows, n);
      k += rows;
    }
    for (int64_t j = 0; j < n; ++j) {
      to[j * step] = {static_cast<double>(upto - from), mean[j], m2[j]};
    }
  }

  const ReduceLayout& layout_;
  RowLoader loader_;
  tiles::MomentsFn run_;
  tiles::MomentsRowsFn run_rows_;
};

}  // namespace

bool is_moments(const ReduceOp& op) {
  return &op == &desc::_var_mean || &op == &desc::_std_mean;
}

void reduce_moments(const ReduceLayout& layout, ScalarType self, double* count,
                    double* mean, double* m2) {
  MomentsReduction(layout, self).run(count, mean, m2);
}

}  // namespace sy::cpu
