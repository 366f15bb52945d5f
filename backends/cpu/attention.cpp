#include "backends/cpu/attention.h"

#include <cmath>
#include <limits>

#include "aten/view.h"
#include "backends/cpu/attention_kernels_gen.h"
#include "c10/parallel.h"
#include "c10/storage.h"

namespace sy::cpu {

AttentionOperand::AttentionOperand(const Tensor& t)
    : held_(t.sizes()[3] == 1 || t.strides()[3] == 1 ? t : contiguous_cpu(t)),
      data_(static_cast<const char*>(held_.data_ptr())),
      item_(static_cast<int64_t>(held_.itemsize())),
      batch_(held_.strides()[0]),
      head_(held_.strides()[1]),
      row_(held_.strides()[2]),
      width_(held_.sizes()[3]) {
  if (item_ == 2) convert_ = tile::convert_fn(held_.dtype(), kFloat);
}

AttentionMask::AttentionMask(const std::optional<Tensor>& mask) {
  if (!mask || !mask->defined()) return;
  const auto dims = static_cast<size_t>(mask->dim());
  const bool rows = dims == 0 || mask->sizes()[dims - 1] == 1 ||
                    mask->strides()[dims - 1] == 1;
  held_ = rows ? *mask : contiguous_cpu(*mask);
  data_ = static_cast<const char*>(held_.data_ptr());
  item_ = static_cast<int64_t>(held_.itemsize());
  dtype_ = held_.dtype();
  for (size_t d = 0; d < dims; ++d) {
    strides_[4 - dims + d] = held_.sizes()[d] == 1 ? 0 : held_.strides()[d];
  }
}

template <class T>
void AttentionMask::apply(const AttentionKernel<T>& kernel, T* scores,
                          int64_t batch, int64_t head, int64_t query,
                          int64_t key, int64_t n, T* room) const {
  if (data_ == nullptr || n == 0) return;
  const char* from = data_ + (batch * strides_[0] + head * strides_[1] +
                              query * strides_[2] + key * strides_[3]) *
                                 item_;
  const bool uniform = strides_[3] == 0;
  if (dtype_ == kBool) {
    if (!uniform) {
      kernel.hide(scores, reinterpret_cast<const uint8_t*>(from), n);
    } else if (*from == 0) {
      std::fill_n(scores, n, -std::numeric_limits<T>::infinity());
    }
    return;
  }
  const ScalarType t = std::is_same_v<T, double> ? kDouble : kFloat;
  if (dtype_ == t && !uniform) {
    kernel.add(scores, reinterpret_cast<const T*>(from), n);
    return;
  }
  tile::convert_fn(dtype_, t)(room, from, uniform ? 1 : n);
  if (uniform) std::fill_n(room + 1, n - 1, room[0]);
  kernel.add(scores, room, n);
}
template void AttentionMask::apply(const AttentionKernel<float>&, float*,
                                   int64_t, int64_t, int64_t, int64_t, int64_t,
                                   float*) const;
template void AttentionMask::apply(const AttentionKernel<double>&, double*,
                                   int64_t, int64_t, int64_t, int64_t, int64_t,
                                   double*) const;

AttentionSizes::AttentionSizes(const Tensor& query, const Tensor& key,
                               const Tensor& value, bool is_causal,
                               std::optional<double> given_scale)
    : batch(query.sizes()[0]),
      heads(query.sizes()[1]),
      queries(query.sizes()[2]),
      keys(key.sizes()[2]),
      width(query.sizes()[3]),
      value_width(value.sizes()[3]),
      heads_per_key(heads / key.sizes()[1]),
      scale(given_scale.value_or(1 / std::sqrt(static_cast<double>(width)))),
      causal(is_causal),
      query_block(queries >= 768   ? 256
                  : queries >= 192 ? 64
                                   : 32),
      key_block(std::min<int64_t>(512, std::max<int64_t>(keys, 1))) {
  query_block = std::min(query_block, std::max<int64_t>(queries, 1));
}

namespace {

// The softmax of rows so far.
template <class T>
struct Progress {
  T most, sum;
};

// What operands of 16 bits are multiplied as: converted to float, or bfloat16
// in pairs, for which weights are converted.
enum class Operands { as_given, converted, pairs };

Operands operands_of(ScalarType dtype) {
  if (dtype == kBFloat16 && has_bf16_products()) return Operands::pairs;
  return dtype == compute_dtype(dtype) ? Operands::as_given
                                       : Operands::converted;
}

// Memory for one thread: tiles of scores and of converted operands.
template <class T>
struct Workspace {
  Storage storage;
  T *scores, *mask, *query, *key, *value, *out, *weights;
  Progress<T>* progress;

  Workspace(const AttentionSizes& s, Operands operands) {
    const int64_t q = s.query_block, k = s.key_block;
    const int64_t convert = operands == Operands::converted ? 1 : 0;
    const int64_t pairs = operands == Operands::pairs ? 1 : 0;
    const int64_t sizes[] = {q * k,
                             k,
                             convert * q * s.width,
                             convert * k * s.width,
                             convert * k * s.value_width,
                             (convert + pairs) * q * s.value_width,
                             pairs * (q * k + 1) / 2,
                             2 * q};
    int64_t total = 0;
    for (const int64_t n : sizes) total += n;
    storage = StorageImpl::allocate(static_cast<size_t>(total) * sizeof(T),
                                    Device(kCPU));
    T* at = static_cast<T*>(storage->data());
    T** const parts[] = {&scores, &mask, &query, &key, &value, &out, &weights};
    for (size_t i = 0; i < 7; ++i) {
      *parts[i] = at;
      at += sizes[i];
    }
    progress = reinterpret_cast<Progress<T>*>(at);
  }
};

template <class T>
struct Forward {
  const AttentionSizes& s;
  const AttentionKernel<T>& kernel;
  const AttentionOperand &query, &key, &value;
  const AttentionMask& mask;
  const Tensor &out, &log_sums;  // batch x length x heads x width
  const Operands operands = operands_of(out.dtype());

  // Scores of rows of a head from `row` on with n keys from `at` on.
  void score(Workspace<T>& w, int64_t b, int64_t h, int64_t row, int64_t rows,
             int64_t at, int64_t n) const {
    const int64_t shared = h / s.heads_per_key;
    if (operands == Operands::pairs) {
      const HeadRows<BFloat16> q = query.pairs(b, h, row);
      const HeadRows<BFloat16> k = key.pairs(b, shared, at);
      gemm(GemmBf16{rows, n, s.width, q.data, q.stride, 1, k.data, 1, k.stride,
                    w.scores, n, true, static_cast<float>(s.scale), 0,
                    nullptr});
      return;
    }
    product_of_rows<T>(rows, n, s.width, query.rows(b, h, row, rows, w.query),
                       key.rows(b, shared, at, n, w.key), w.scores, n,
                       static_cast<T>(s.scale));
  }

  // acc = or += the weights, which lie in the scores, times n values from `at`.
  void weigh(Workspace<T>& w, int64_t b, int64_t h, int64_t rows, int64_t at,
             int64_t n, T* acc, int64_t acc_row) const {
    const int64_t shared = h / s.heads_per_key;
    const T beta = at == 0 ? 0 : 1;
    if (operands == Operands::pairs) {
      tile::convert_fn(kFloat, kBFloat16)(w.weights, w.scores, rows * n);
      const HeadRows<BFloat16> v = value.pairs(b, shared, at);
      gemm(GemmBf16{rows, s.value_width, n,
                    reinterpret_cast<const BFloat16*>(w.weights), n, 1, v.data,
                    v.stride, 1, acc, acc_row, true, 1,
                    static_cast<float>(beta), nullptr});
      return;
    }
    product<T>(rows, s.value_width, n, {w.scores, n},
               value.rows(b, shared, at, n, w.value), acc, acc_row, beta);
  }

  // Queries [row, row + rows) of a head.
  void block(Workspace<T>& w, int64_t b, int64_t h, int64_t row,
             int64_t rows) const {
    const int64_t width = s.value_width;
    const int64_t item = static_cast<int64_t>(out.itemsize());
    char* const target = static_cast<char*>(out.data_ptr()) +
                         ((b * s.queries + row) * s.heads + h) * width * item;
    const int64_t target_row = s.heads * width;
    const bool converts = operands != Operands::as_given;
    T* const acc = converts ? w.out : reinterpret_cast<T*>(target);
    const int64_t acc_row = converts ? width : target_row;
    for (int64_t i = 0; i < rows; ++i) {
      w.progress[i] = {-std::numeric_limits<T>::infinity(), 0};
    }
    const int64_t last = s.causal ? std::min(s.keys, row + rows) : s.keys;
    for (int64_t at = 0; at < last; at += s.key_block) {
      const int64_t n = std::min(s.key_block, last - at);
      score(w, b, h, row, rows, at, n);
      for (int64_t i = 0; i < rows; ++i) {
        T* const row_scores = w.scores + i * n;
        const int64_t seen = s.seen(row + i, at, n);
        mask.apply(kernel, row_scores, b, h, row + i, at, seen, w.mask);
        Progress<T>& p = w.progress[i];
        const T factor = kernel.take(row_scores, seen, &p.most, &p.sum);
        std::fill(row_scores + seen, row_scores + n, T{0});
        if (at > 0 && factor != 1)
          kernel.scale(acc + i * acc_row, width, factor);
      }
      weigh(w, b, h, rows, at, n, acc, acc_row);
    }
    for (int64_t i = 0; i < rows; ++i) {
      const Progress<T>& p = w.progress[i];
      T* const from = acc + i * acc_row;
      if (last == 0) {
        std::fill_n(from, width, T{0});
      } else {
        kernel.scale(from, width, p.sum == 0 ? T{0} : 1 / p.sum);
      }
      if (converts && width > 0) {
        tile::convert_fn(kFloat, out.dtype())(target + i * target_row * item,
                                              from, width);
      }
      static_cast<T*>(
          log_sums.data_ptr())[(b * s.heads + h) * s.queries + row + i] =
          p.sum == 0 ? T{0} : p.most + std::log(p.sum);
    }
  }

  void run() const {
    const int64_t blocks = (s.queries + s.query_block - 1) / s.query_block;
    parallel_for(0, s.batch * s.heads * blocks, 1,
                 [&](int64_t begin, int64_t end) {
                   Workspace<T> w(s, operands);
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t row = i % blocks * s.query_block;
                     const int64_t head = i / blocks;
                     block(w, head / s.heads, head % s.heads, row,
                           std::min(s.query_block, s.queries - row));
                   }
                 });
  }
};

}  // namespace

std::tuple<Tensor, Tensor> flash_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, double,
    bool is_causal, const std::optional<Tensor>& attn_mask,
    std::optional<double> scale) {
  const AttentionSizes s(query, key, value, is_causal, scale);
  const ScalarType compute = compute_dtype(query.dtype());
  // Heads side by side, as what follows attention reads them.
  const Tensor out(make_tensor({s.batch, s.queries, s.heads, s.value_width},
                               query.dtype(), Device(kCPU)));
  const Tensor log_sums(
      make_tensor({s.batch, s.heads, s.queries}, compute, Device(kCPU)));
  const AttentionOperand q(query), k(key), v(value);
  const AttentionMask mask(attn_mask);
  visit_compute_type(query.dtype(), [&]<class T>() {
    Forward<T>{s, attention_kernel<T>(), q, k, v, mask, out, log_sums}.run();
  });
  const int64_t sizes[] = {s.batch, s.heads, s.queries, s.value_width};
  const int64_t strides[] = {s.queries * s.heads * s.value_width, s.value_width,
                             s.heads * s.value_width, 1};
  return {alias_without_view(out, sizes, strides, 0), log_sums};
}

}  // namespace sy::cpu
