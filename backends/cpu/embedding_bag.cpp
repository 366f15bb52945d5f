#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "aten/contract/embedding_bag.h"
#include "aten/engine/guard.h"
#include "backends/cpu/embedding_bag_kernels_gen.h"
#include "backends/cpu/kernel/embedding_bag_kernel.h"
#include "backends/cpu/support/converted.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 16384;

Tensor int64_vector(const char* op, const char* name, const Tensor& t) {
  check_bag_vector(op, name, t);
  return contiguous_cpu(t, kLong);
}
const int64_t* ints(const Tensor& t) {
  return static_cast<const int64_t*>(t.raw_data());
}
Tensor zeros(IntArrayRef sizes, ScalarType dtype) {
  Tensor t(make_tensor(sizes, dtype, Device(kCPU)));
  std::fill_n(static_cast<char*>(t.raw_data()),
              t.numel() * static_cast<int64_t>(t.itemsize()), 0);
  return t;
}

void check_indices(const char* op, const Tensor& indices, int64_t rows) {
  const int64_t* const data = ints(indices);
  for (int64_t i = 0; i < indices.numel(); ++i) {
    SY_CHECK(data[i] >= 0 && data[i] < rows, Index,
             "[{}] indices: expected values in [0, {}), got {}", op, rows,
             data[i]);
  }
}

// The begin and the end of each bag. The last bag ends with the indices, or at
// the last offset.
struct Bags {
  Tensor offsets;
  int64_t count, total, last;

  Bags(const char* op, const Tensor& offsets_, int64_t indices,
       bool include_last, bool is_end)
      : offsets(int64_vector(op, "offsets", offsets_)),
        count(offsets.numel() - (include_last ? 1 : 0)),
        total(indices),
        last(indices) {
    SY_CHECK(
        count >= 0, Value,
        "[{}] offsets: expected at least 1 with include_last_offset, got 0",
        op);
    const int64_t* const data = ints(offsets);
    int64_t before = 0;
    for (int64_t i = 0; i < offsets.numel(); ++i) {
      SY_CHECK(data[i] >= before && data[i] <= total && (i > 0 || data[i] == 0),
               Value,
               "[{}] offsets: expected numbers that rise from 0 to at most {}, "
               "the number of indices, got {} at {}",
               op, total, data[i], i);
      before = data[i];
    }
    if (include_last && is_end) last = before;
  }
  int64_t begin(int64_t bag) const { return ints(offsets)[bag]; }
  int64_t end(int64_t bag) const {
    return bag + 1 < count ? ints(offsets)[bag + 1] : last;
  }
  // -1 for an index in no bag.
  Tensor of_each_index() const {
    Tensor t(make_tensor({total}, kLong, Device(kCPU)));
    auto* const data = static_cast<int64_t*>(t.raw_data());
    std::fill_n(data, total, -1);
    for (int64_t b = 0; b < count; ++b) {
      std::fill(data + begin(b), data + end(b), b);
    }
    return t;
  }
};

// acc += by * row, and the like; simple enough for the compiler.
template <class T>
void add_row(T* acc, const T* row, T by, int64_t n) {
  for (int64_t j = 0; j < n; ++j) acc[j] += by * row[j];
}
template <class T>
void take_larger(T* acc, int64_t* where, const T* row, int64_t index,
                 bool first, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    if (first || row[j] > acc[j]) {
      acc[j] = row[j];
      where[j] = index;
    }
  }
}

struct Bag {
  int64_t mode, padding_idx;
};

// The sum of the rows of a bag, in their order, added to acc; returns how many
// they are.
template <class T>
class BagSum {
 public:
  // `total` is the number of indices in all bags.
  BagSum(const ConvertedSource<T>& rows, const T* samples, int64_t padding_idx,
         int64_t n, int64_t total)
      : rows_(rows),
        samples_(samples),
        padding_idx_(padding_idx),
        n_(n),
        total_(total),
        room_(rows.converts() ? static_cast<size_t>(n * kRows) : 0) {}

  int64_t add(const int64_t* index, int64_t begin, int64_t end, T* acc) {
    const T* row[kRows];
    T by[kRows];
    int64_t count = 0, held = 0;
    const auto flush = [&] {
      add_rows_(row, samples_ == nullptr ? nullptr : by, held, n_, acc);
      count += std::exchange(held, 0);
    };
    for (int64_t i = begin; i < end; ++i) {
      if (i + kRows < total_) send_for(index[i + kRows]);
      if (index[i] == padding_idx_) continue;
      row[held] = rows_.read(index[i] * n_, n_, room_.data() + held * n_);
      if (samples_ != nullptr) by[held] = samples_[i];
      if (++held == kRows) flush();
    }
    flush();
    return count;
  }

 private:
  static constexpr int64_t kRows = 16;

  // The begin of a row that is soon read: the rest follows it by itself.
  void send_for(int64_t index) const {
    constexpr int64_t kLine = 64 / sizeof(T), kLines = 16;
    if (rows_.converts()) return;
    const T* const row = rows_.read(index * n_, n_, nullptr);
    for (int64_t j = 0; j < std::min(n_, kLines * kLine); j += kLine) {
      __builtin_prefetch(row + j);
    }
  }

  const ConvertedSource<T>& rows_;
  const T* samples_;
  int64_t padding_idx_, n_, total_;
  ScratchVector<T> room_;
  AddRowsFn<T> add_rows_ = add_rows_fn<T>();
};

template <class T>
void fill_bags(const Bag& how, const Bags& bags, const Tensor& weight,
               const Tensor& indices, const Tensor& samples, const Tensor& out,
               int64_t* sizes, int64_t* maxima) {
  const int64_t n = weight.sizes()[1];
  const ConvertedSource<T> rows(weight);
  const ConvertedTarget<T> results(out);
  const T* const by =
      samples.defined() ? static_cast<const T*>(samples.raw_data()) : nullptr;
  const int64_t* const index = ints(indices);
  const int64_t each =
      n * std::max<int64_t>(1, bags.total / std::max<int64_t>(1, bags.count));
  parallel_for(
      0, bags.count, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, each)),
      [&](int64_t begin, int64_t end) {
        const size_t room = rows.converts() ? static_cast<size_t>(n) : 0;
        ScratchVector<T> row_room(room), out_room(room);
        BagSum<T> sum(rows, by, how.padding_idx, n, bags.total);
        for (int64_t b = begin; b < end; ++b) {
          T* const acc = results.begin(b * n, out_room.data());
          std::fill_n(acc, n, T{0});
          int64_t count = 0;
          if (how.mode != kBagMax) {
            count = sum.add(index, bags.begin(b), bags.end(b), acc);
          } else {
            for (int64_t i = bags.begin(b); i < bags.end(b); ++i) {
              if (index[i] == how.padding_idx) continue;
              const T* const row = rows.read(index[i] * n, n, row_room.data());
              take_larger(acc, maxima + b * n, row, index[i], count == 0, n);
              ++count;
            }
          }
          if (how.mode == kBagMean && count > 1) {
            const T share = T{1} / static_cast<T>(count);
            for (int64_t j = 0; j < n; ++j) acc[j] *= share;
          }
          if (sizes != nullptr) sizes[b] = count;
          results.end(b * n, n, out_room.data());
        }
      });
}

using Results = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Results bag(const char* op, bool forward_only, const Tensor& weight,
            const Tensor& indices_, const Tensor& offsets, int64_t mode,
            const std::optional<Tensor>& samples_, bool include_last,
            int64_t padding_idx) {
  check_bag_mode(op, mode);
  check_bag_weight(op, weight);
  const Tensor indices = int64_vector(op, "indices", indices_);
  check_bag_samples(op, samples_, weight, indices, mode);
  check_indices(op, indices, weight.sizes()[0]);
  // PyTorch has a kernel for these bags that does not need the bag of each
  // index. So sums leave it out, and the last offset may be an end: callers see
  // both.
  const bool short_cut = mode != kBagMax && padding_idx < 0 &&
                         weight.dtype() != kDouble && weight.strides()[1] == 1;
  const Bags bags(op, offsets, indices.numel(), include_last, short_cut);
  const int64_t n = weight.sizes()[1];
  const Tensor of_index =
      short_cut && mode == kBagSum
          ? zeros({0}, kLong)
          : Bags(op, offsets, indices.numel(), include_last, false)
                .of_each_index();
  const bool counts = mode != kBagSum;
  const Tensor sizes =
      zeros({counts || !forward_only ? bags.count : offsets.sizes()[0]}, kLong);
  Tensor maxima;
  if (mode == kBagMax) maxima = zeros({bags.count, n}, kLong);
  const Tensor out(make_tensor({bags.count, n}, weight.dtype(), Device(kCPU)));
  const Tensor rows = contiguous_cpu(weight);
  visit_compute_type(weight.dtype(), [&]<class T>() {
    const Tensor samples =
        samples_ && samples_->defined()
            ? contiguous_cpu(*samples_, compute_dtype(weight.dtype()))
            : Tensor();
    fill_bags<T>(
        {mode, padding_idx}, bags, rows, indices, samples, out,
        counts ? static_cast<int64_t*>(sizes.raw_data()) : nullptr,
        mode == kBagMax ? static_cast<int64_t*>(maxima.raw_data()) : nullptr);
  });
  if (mode != kBagMax) {
    maxima = Tensor(make_tensor(sizes.sizes(), kLong, Device(kCPU)));
    copy_cpu(maxima, sizes);
  }
  return {out, of_index, sizes, maxima};
}

Tensor checked_bags(const char* op, const Tensor& of_index, int64_t indices,
                    int64_t bags) {
  const Tensor t = int64_vector(op, "offset2bag", of_index);
  SY_CHECK(t.numel() == indices, Value,
           "[{}] offset2bag: expected a bag for each of {} indices, got {}", op,
           indices, describe(of_index));
  for (int64_t i = 0; i < indices; ++i) {
    SY_CHECK(ints(t)[i] >= -1 && ints(t)[i] < bags, Index,
             "[{}] offset2bag: expected values in [-1, {}), got {}", op, bags,
             ints(t)[i]);
  }
  return t;
}

// Rows of the result are shared among threads by their index, so that each
// gets its terms in order.
template <class T>
void add_gradients(const Tensor& grad, const Tensor& indices,
                   const Tensor& of_index, const Tensor& samples,
                   const ScratchVector<T>& scales, int64_t padding_idx,
                   const Tensor& out) {
  const int64_t n = grad.sizes()[1], count = indices.numel();
  const T* const g = static_cast<const T*>(grad.raw_data());
  T* const to = static_cast<T*>(out.raw_data());
  ScratchVector<int64_t> order(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) order[static_cast<size_t>(i)] = i;
  const int64_t* const index = ints(indices);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return index[a] < index[b]; });
  const T* const by =
      samples.defined() ? static_cast<const T*>(samples.raw_data()) : nullptr;
  parallel_for(
      0, count, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n)),
      [&](int64_t begin, int64_t end) {
        const auto row_at = [&](int64_t k) {
          return index[order[static_cast<size_t>(k)]];
        };
        // A row belongs to the range in which its first term lies.
        if (begin > 0) {
          while (begin < count && row_at(begin) == row_at(begin - 1)) ++begin;
        }
        if (begin >= end) return;
        while (end < count && row_at(end) == row_at(end - 1)) ++end;
        for (int64_t k = begin; k < end; ++k) {
          const int64_t i = order[static_cast<size_t>(k)];
          if (index[i] == padding_idx || ints(of_index)[i] < 0) continue;
          T scale = scales.empty() ? T{1} : scales[static_cast<size_t>(i)];
          if (by != nullptr) scale *= by[i];
          add_row(to + index[i] * n, g + ints(of_index)[i] * n, scale, n);
        }
      });
}

template <class T>
Tensor dense_gradient(const char* op, const Tensor& grad, const Tensor& indices,
                      const Tensor& of_index, const Tensor& bag_size,
                      const Tensor& maxima, int64_t num_weights, bool by_freq,
                      int64_t mode, const Tensor& samples,
                      int64_t padding_idx) {
  const int64_t bags = grad.sizes()[0], n = grad.sizes()[1];
  Tensor out = zeros({num_weights, n}, grad.dtype());
  if (mode == kBagMax) {
    const Tensor held = contiguous_cpu(maxima);
    const T* const g = static_cast<const T*>(grad.raw_data());
    T* const to = static_cast<T*>(out.raw_data());
    for (int64_t i = 0; i < bags * n; ++i) {
      const int64_t row = ints(held)[i];
      SY_CHECK(row >= 0 && row < num_weights, Index,
               "[{}] maximum_indices: expected values in [0, {}), got {}", op,
               num_weights, row);
      // A bag without elements has no maximum.
      if (ints(bag_size)[i / n] > 0) to[row * n + i % n] += g[i];
    }
    return out;
  }
  const int64_t count = indices.numel();
  ScratchVector<T> scales;
  if (by_freq || mode == kBagMean) {
    scales.assign(static_cast<size_t>(count), T{1});
    ScratchVector<int64_t> freq(by_freq ? static_cast<size_t>(num_weights) : 0);
    for (int64_t i = 0; by_freq && i < count; ++i) {
      ++freq[static_cast<size_t>(ints(indices)[i])];
    }
    for (int64_t i = 0; i < count; ++i) {
      T& s = scales[static_cast<size_t>(i)];
      if (by_freq) {
        s /= static_cast<T>(freq[static_cast<size_t>(ints(indices)[i])]);
      }
      if (mode == kBagMean && ints(of_index)[i] >= 0) {
        s /= static_cast<T>(
            std::max<int64_t>(1, ints(bag_size)[ints(of_index)[i]]));
      }
    }
  }
  add_gradients<T>(grad, indices, of_index, samples, scales, padding_idx, out);
  return out;
}

Tensor dense_backward(const char* op, const Tensor& grad,
                      const Tensor& indices_, const Tensor& of_index_,
                      const Tensor& bag_size_, const Tensor& maxima,
                      int64_t num_weights, bool by_freq, int64_t mode,
                      const std::optional<Tensor>& samples_,
                      int64_t padding_idx) {
  check_bag_mode(op, mode);
  SY_CHECK(grad.is_floating_point() && grad.dim() == 2, Value,
           "[{}] grad: expected a floating matrix, got {}", op, describe(grad));
  SY_CHECK(num_weights >= 0, Value,
           "[{}] num_weights: expected a number of rows, got {}", op,
           num_weights);
  const Tensor indices = int64_vector(op, "indices", indices_);
  check_indices(op, indices, num_weights);
  check_bag_samples(op, samples_, grad, indices, mode);
  const int64_t bags = grad.sizes()[0];
  Tensor bag_size;
  if (mode != kBagSum) {
    check_per_bag(op, "bag_size", bag_size_, bags);
    bag_size = contiguous_cpu(bag_size_);
  }
  Tensor of_index;
  if (mode == kBagMax) {
    SY_CHECK(maxima.dtype() == kLong && maxima.sizes() == grad.sizes(), Value,
             "[{}] maximum_indices: expected int64 indices of the sizes of "
             "grad, got {}",
             op, describe(maxima));
  } else {
    of_index = checked_bags(op, of_index_, indices.numel(), bags);
  }
  const ScalarType compute = compute_dtype(grad.dtype());
  Tensor out;
  visit_compute_type(grad.dtype(), [&]<class T>() {
    const Tensor samples = samples_ && samples_->defined()
                               ? contiguous_cpu(*samples_, compute)
                               : Tensor();
    out = dense_gradient<T>(op, contiguous_cpu(grad, compute), indices,
                            of_index, bag_size, maxima, num_weights, by_freq,
                            mode, samples, padding_idx);
  });
  return contiguous_cpu(out, grad.dtype());
}

// PyTorch's callers may leave out the bag of each index.
Tensor bags_or_computed(const char* op, const Tensor& of_index,
                        const Tensor& offsets, const Tensor& indices,
                        int64_t bags) {
  if (of_index.numel() != 0 || indices.numel() == 0) return of_index;
  const bool last = offsets.numel() == bags + 1;
  return Bags(op, offsets, indices.numel(), last, true).of_each_index();
}

}  // namespace

Results embedding_bag(const Tensor& weight, const Tensor& indices,
                      const Tensor& offsets, bool, int64_t mode, bool,
                      const std::optional<Tensor>& per_sample_weights,
                      bool include_last_offset, int64_t padding_idx) {
  return bag("_embedding_bag", false, weight, indices, offsets, mode,
             per_sample_weights, include_last_offset, padding_idx);
}

Results embedding_bag_forward_only(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool,
    int64_t mode, bool, const std::optional<Tensor>& per_sample_weights,
    bool include_last_offset, int64_t padding_idx) {
  return bag("_embedding_bag_forward_only", true, weight, indices, offsets,
             mode, per_sample_weights, include_last_offset, padding_idx);
}

Tensor embedding_bag_dense_backward(
    const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
    const Tensor& bag_size, const Tensor& maximum_indices, int64_t num_weights,
    bool scale_grad_by_freq, int64_t mode,
    const std::optional<Tensor>& per_sample_weights, int64_t padding_idx) {
  return dense_backward("_embedding_bag_dense_backward", grad, indices,
                        offset2bag, bag_size, maximum_indices, num_weights,
                        scale_grad_by_freq, mode, per_sample_weights,
                        padding_idx);
}

Tensor embedding_bag_backward(const Tensor& grad, const Tensor& indices,
                              const Tensor& offsets, const Tensor& offset2bag,
                              const Tensor& bag_size,
                              const Tensor& maximum_indices,
                              int64_t num_weights, bool scale_grad_by_freq,
                              int64_t mode, bool,
                              const std::optional<Tensor>& per_sample_weights,
                              int64_t padding_idx) {
  constexpr const char* kOp = "_embedding_bag_backward";
  SY_CHECK(grad.dim() == 2, Value, "[{}] grad: expected a matrix, got {}", kOp,
           describe(grad));
  const Tensor bags =
      bags_or_computed(kOp, offset2bag, offsets, indices, grad.sizes()[0]);
  return dense_backward(kOp, grad, indices, bags, bag_size, maximum_indices,
                        num_weights, scale_grad_by_freq, mode,
                        per_sample_weights, padding_idx);
}

Tensor embedding_bag_per_sample_weights_backward(
    const Tensor& grad, const Tensor& weight, const Tensor& indices_,
    const Tensor& offsets, const Tensor& offset2bag, int64_t mode,
    int64_t padding_idx) {
  constexpr const char* kOp = "_embedding_bag_per_sample_weights_backward";
  SY_CHECK(mode == kBagSum, Value, "[{}] mode: expected 0, got {}", kOp, mode);
  check_bag_weight(kOp, weight);
  SY_CHECK(grad.dim() == 2 && grad.sizes()[1] == weight.sizes()[1] &&
               grad.dtype() == weight.dtype(),
           Value,
           "[{}] grad: expected a matrix with the columns and dtype of weight, "
           "got {}",
           kOp, describe(grad));
  const Tensor indices = int64_vector(kOp, "indices", indices_);
  check_indices(kOp, indices, weight.sizes()[0]);
  const int64_t bags = grad.sizes()[0], n = grad.sizes()[1];
  const Tensor of_index = checked_bags(
      kOp, bags_or_computed(kOp, offset2bag, offsets, indices, bags),
      indices.numel(), bags);
  const ScalarType compute = compute_dtype(grad.dtype());
  const Tensor out(make_tensor({indices.numel()}, compute, Device(kCPU)));
  const Tensor rows = contiguous_cpu(weight);
  visit_compute_type(grad.dtype(), [&]<class T>() {
    const Tensor g_held = contiguous_cpu(grad, compute);
    const T* const g = static_cast<const T*>(g_held.raw_data());
    const ConvertedSource<T> source(rows);
    parallel_for(
        0, indices.numel(),
        std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n)),
        [&](int64_t begin, int64_t end) {
          ScratchVector<T> room(source.converts() ? static_cast<size_t>(n) : 0);
          for (int64_t i = begin; i < end; ++i) {
            const int64_t row = ints(indices)[i];
            T sum = 0;
            if (row != padding_idx && ints(of_index)[i] >= 0) {
              const T* const w = source.read(row * n, n, room.data());
              const T* const d = g + ints(of_index)[i] * n;
              for (int64_t j = 0; j < n; ++j) sum += w[j] * d[j];
            }
            static_cast<T*>(out.raw_data())[i] = sum;
          }
        });
  });
  return contiguous_cpu(out, grad.dtype());
}

Tensor& embedding_renorm_(Tensor& self, const Tensor& indices_, double max_norm,
                          double norm_type) {
  constexpr const char* kOp = "embedding_renorm_";
  const Tensor indices = contiguous_cpu(indices_, kLong);
  const int64_t rows = self.sizes()[0], n = self.sizes()[1];
  ScratchVector<int64_t> list(ints(indices), ints(indices) + indices.numel());
  for (int64_t& i : list) {
    SY_CHECK(i >= -rows && i < rows, Index,
             "[{}] indices: expected values in [{}, {}), got {}", kOp, -rows,
             rows, i);
    if (i < 0) i += rows;
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  const Tensor target = contiguous_cpu(self);
  const ConvertedSource<double> source(target);
  const ConvertedTarget<double> result(target);
  ScratchVector<double> room(static_cast<size_t>(n));
  for (const int64_t i : list) {
    const double* const row = source.read(i * n, n, room.data());
    double norm = 0;
    for (int64_t j = 0; j < n; ++j) {
      const double v = std::abs(row[j]);
      if (norm_type == 2) {
        norm += v * v;
      } else if (norm_type == 1) {
        norm += v;
      } else if (std::isinf(norm_type)) {
        const double most = std::fmax(norm, v), least = std::fmin(norm, v);
        norm = j == 0 ? v : norm_type > 0 ? most : least;
      } else if (norm_type == 0) {
        norm += v != 0;
      } else {
        norm += std::pow(v, norm_type);
      }
    }
    if (norm_type == 2) {
      norm = std::sqrt(norm);
    } else if (norm_type != 1 && norm_type != 0 && !std::isinf(norm_type)) {
      norm = std::pow(norm, 1 / norm_type);
    }
    if (!(norm > max_norm)) continue;
    const double scale = max_norm / (norm + 1e-7);
    double* const to = result.begin(i * n, room.data());
    for (int64_t j = 0; j < n; ++j) to[j] = row[j] * scale;
    result.end(i * n, n, room.data());
  }
  if (!target.is_same(self)) copy_cpu(self, target);
  return self;
}

}  // namespace sy::cpu
