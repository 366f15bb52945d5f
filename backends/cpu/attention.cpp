#include "backends/cpu/attention.h"

#include <cmath>
#include <limits>

#include "aten/engine/view.h"
#include "backends/cpu/attention_kernels_gen.h"
#include "c10/process/parallel.h"
#include "c10/tensor/storage.h"

namespace sy::cpu {

AttentionOperand::AttentionOperand(const Tensor& t)
    : held_(t.sizes()[3] == 1 || t.strides()[3] == 1 ? t : contiguous_cpu(t)),
      data_(static_cast<const char*>(held_.raw_data())),
      item_(static_cast<int64_t>(held_.itemsize())),
      batch_(held_.strides()[0]),
      head_(held_.strides()[1]),
      row_(held_.strides()[2]),
      width_(held_.sizes()[3]) {
  if (item_ == 2) convert_ = tiles::convert_fn(held_.dtype(), kFloat);
}

AttentionMask::AttentionMask(const std::optional<Tensor>& mask) {
  if (!mask || !mask->defined()) return;
  const auto dims = static_cast<size_t>(mask->dim());
  const bool rows = dims == 0 || mask->sizes()[dims - 1] == 1 ||
                    mask->strides()[dims - 1] == 1;
  held_ = rows ? *mask : contiguous_cpu(*mask);
  data_ = static_cast<const char*>(held_.raw_data());
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
  tiles::convert_fn(dtype_, t)(room, from, uniform ? 1 : n);
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

// Memory for one thread: tiles of scores, and of what is converted.
template <class T, class E>
struct Workspace {
  Storage storage;
  T *scores, *mask, *out;
  E *query, *key, *value, *weights;
  Progress<T>* progress;

  Workspace(const AttentionSizes& s, bool converts) {
    constexpr bool kSame = std::is_same_v<T, E>;
    const int64_t q = s.query_block, k = s.key_block;
    const int64_t results = converts ? 1 : 0, operands = kSame ? results : 0;
    storage = allocate_arrays(ArrayPart{scores, q * k}, ArrayPart{mask, k},
                              ArrayPart{out, results * q * s.value_width},
                              ArrayPart{query, operands * q * s.width},
                              ArrayPart{key, operands * k * s.width},
                              ArrayPart{value, operands * k * s.value_width},
                              ArrayPart{weights, kSame ? 0 : q * k},
                              ArrayPart{progress, q});
  }
};

template <class T, class E>
struct Forward {
  const AttentionSizes& s;
  const AttentionKernel<T>& kernel;
  const AttentionOperand &query, &key, &value;
  const AttentionMask& mask;
  const Tensor &out, &log_sums;  // batch x length x heads x width

  // Queries [row, row + rows) of a head.
  void block(Workspace<T, E>& w, int64_t b, int64_t h, int64_t row,
             int64_t rows) const {
    const int64_t shared = h / s.heads_per_key, width = s.value_width;
    const HeadRows<E> q = query.rows(b, h, row, rows, w.query);
    const int64_t item = static_cast<int64_t>(out.itemsize());
    char* const target = static_cast<char*>(out.raw_data()) +
                         ((b * s.queries + row) * s.heads + h) * width * item;
    const int64_t target_row = s.heads * width;
    const bool converts = query.converts();
    T* const acc = converts ? w.out : reinterpret_cast<T*>(target);
    const int64_t acc_row = converts ? width : target_row;
    for (int64_t i = 0; i < rows; ++i) {
      w.progress[i] = {-std::numeric_limits<T>::infinity(), 0};
    }
    const int64_t last = s.causal ? std::min(s.keys, row + rows) : s.keys;
    for (int64_t at = 0; at < last; at += s.key_block) {
      const int64_t n = std::min(s.key_block, last - at);
      product_of_rows<T, E>(rows, n, s.width, q,
                            key.rows(b, shared, at, n, w.key), w.scores, n,
                            static_cast<T>(s.scale));
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
      product<T, E>(rows, width, n, multiplied(w.scores, rows, n, w.weights),
                    value.rows(b, shared, at, n, w.value), acc, acc_row,
                    at == 0 ? 0 : 1);
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
        tiles::convert_fn(kFloat, out.dtype())(target + i * target_row * item,
                                               from, width);
      }
      static_cast<T*>(
          log_sums.raw_data())[(b * s.heads + h) * s.queries + row + i] =
          p.sum == 0 ? T{0} : p.most + std::log(p.sum);
    }
  }

  void run() const {
    const int64_t blocks = (s.queries + s.query_block - 1) / s.query_block;
    parallel_for(0, s.batch * s.heads * blocks, 1,
                 [&](int64_t begin, int64_t end) {
                   Workspace<T, E> w(s, query.converts());
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
  visit_attention(query.dtype(), [&]<class T, class E>() {
    Forward<T, E>{s, attention_kernel<T>(), q, k, v, mask, out, log_sums}.run();
  });
  const int64_t sizes[] = {s.batch, s.heads, s.queries, s.value_width};
  const int64_t strides[] = {s.queries * s.heads * s.value_width, s.value_width,
                             s.heads * s.value_width, 1};
  return {alias_without_view(out, sizes, strides, 0), log_sums};
}

}  // namespace sy::cpu
