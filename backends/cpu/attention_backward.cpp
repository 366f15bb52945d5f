#include <limits>

#include "backends/cpu/attention.h"
#include "backends/cpu/attention_kernels_gen.h"
#include "c10/process/parallel.h"
#include "c10/tensor/storage.h"

namespace sy::cpu {

namespace {

// The memory that one thread keeps while it takes a head of key and value:
// tiles of weights and of their gradients, converted elements, and sums in T.
template <class T, class E>
struct Workspace {
  Storage storage;
  T *scores, *grads, *mask, *delta, *out, *grad_row, *grad_query;
  E *query, *key, *value, *grad_out, *weights;

  explicit Workspace(const AttentionSizes& s, bool converts) {
    constexpr bool kSame = std::is_same_v<T, E>;
    const int64_t q = s.query_block, k = s.key_block;
    const int64_t rows = converts ? 1 : 0, operands = kSame ? rows : 0;
    storage = allocate_arrays(ArrayPart{scores, q * k}, ArrayPart{grads, q * k},
                              ArrayPart{mask, k}, ArrayPart{delta, s.queries},
                              ArrayPart{out, rows * q * s.value_width},
                              ArrayPart{grad_row, rows * q * s.value_width},
                              ArrayPart{grad_query, s.queries * s.width},
                              ArrayPart{query, operands * q * s.width},
                              ArrayPart{key, operands * k * s.width},
                              ArrayPart{value, operands * k * s.value_width},
                              ArrayPart{grad_out, operands * q * s.value_width},
                              ArrayPart{weights, kSame ? 0 : q * k});
  }
};

// All of a head of a contiguous tensor.
template <class T>
void store_head(const Tensor& to, int64_t batch, int64_t head, const T* from) {
  const int64_t n = to.sizes()[2] * to.sizes()[3];
  const int64_t at = (batch * to.sizes()[1] + head) * n;
  const ConvertedTarget<T> target(to);
  if (target.converts()) {
    target.end(at, n, from);
  } else {
    std::copy_n(from, n, static_cast<T*>(to.raw_data()) + at);
  }
}

template <class T, class E>
struct Backward {
  const AttentionSizes& s;
  const AttentionKernel<T>& kernel;
  const AttentionOperand &grad_out, &query, &key, &value, &out;
  const AttentionMask& mask;
  const Tensor& log_sums;  // contiguous
  const Tensor& grad_query;
  // Zeros to add to, batch x heads x keys x width.
  const Tensor &key_sums, &value_sums;

  // One query head; what key and value get is added to their sums.
  void head(Workspace<T, E>& w, int64_t b, int64_t h) const {
    const int64_t shared = h / s.heads_per_key;
    const T* const sums = static_cast<const T*>(log_sums.raw_data()) +
                          (b * s.heads + h) * s.queries;
    for (int64_t row = 0; row < s.queries; row += s.query_block) {
      const int64_t n = std::min(s.query_block, s.queries - row);
      const HeadRows<T> o = out.rows(b, h, row, n, w.out);
      const HeadRows<T> g = grad_out.rows(b, h, row, n, w.grad_row);
      for (int64_t i = 0; i < n; ++i) {
        w.delta[row + i] = kernel.dot(o.data + i * o.stride,
                                      g.data + i * g.stride, s.value_width);
      }
    }
    std::fill_n(w.grad_query, s.queries * s.width, T{0});
    T* const dk = static_cast<T*>(key_sums.raw_data()) +
                  (b * (s.heads / s.heads_per_key) + shared) * s.keys * s.width;
    T* const dv =
        static_cast<T*>(value_sums.raw_data()) +
        (b * (s.heads / s.heads_per_key) + shared) * s.keys * s.value_width;
    for (int64_t at = 0; at < s.keys; at += s.key_block) {
      const int64_t m = std::min(s.key_block, s.keys - at);
      const HeadRows<E> k = key.rows(b, shared, at, m, w.key);
      const HeadRows<E> v = value.rows(b, shared, at, m, w.value);
      for (int64_t row = 0; row < s.queries; row += s.query_block) {
        const int64_t n = std::min(s.query_block, s.queries - row);
        if (s.causal && row + n <= at) continue;
        tile(w, b, h, row, n, at, m, k, v, sums + row, dk + at * s.width,
             dv + at * s.value_width);
      }
    }
    store_head(grad_query, b, h, w.grad_query);
  }

  void tile(Workspace<T, E>& w, int64_t b, int64_t h, int64_t row, int64_t n,
            int64_t at, int64_t m, HeadRows<E> k, HeadRows<E> v, const T* sums,
            T* dk, T* dv) const {
    const T scale = static_cast<T>(s.scale);
    const HeadRows<E> q = query.rows(b, h, row, n, w.query);
    const HeadRows<E> g = grad_out.rows(b, h, row, n, w.grad_out);
    product_of_rows<T, E>(n, m, s.width, q, k, w.scores, m, scale);
    product_of_rows<T, E>(n, m, s.value_width, g, v, w.grads, m, T{1});
    for (int64_t i = 0; i < n; ++i) {
      T* const scores = w.scores + i * m;
      const int64_t seen = s.seen(row + i, at, m);
      mask.apply(kernel, scores, b, h, row + i, at, seen, w.mask);
      std::fill(scores + seen, scores + m, -std::numeric_limits<T>::infinity());
      kernel.backward(scores, w.grads + i * m, m, sums[i], w.delta[row + i],
                      scale);
    }
    const HeadRows<E> p = multiplied(w.scores, n, m, w.weights);
    add_product_of_columns<T, E>(m, s.value_width, n, p, g, dv, s.value_width);
    const HeadRows<E> d = multiplied(w.grads, n, m, w.weights);
    add_product_of_columns<T, E>(m, s.width, n, d, q, dk, s.width);
    product<T, E>(n, s.width, m, d, k, w.grad_query + row * s.width, s.width,
                  1);
  }

  void run() const {
    const int64_t groups = s.heads / s.heads_per_key;
    parallel_for(0, s.batch * groups, 1, [&](int64_t begin, int64_t end) {
      Workspace<T, E> w(s, query.converts());
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / groups, shared = i % groups;
        for (int64_t j = 0; j < s.heads_per_key; ++j) {
          head(w, b, shared * s.heads_per_key + j);
        }
      }
    });
  }
};

Tensor like(const Tensor& t, ScalarType dtype) {
  return Tensor(make_tensor(t.sizes(), dtype, Device(kCPU)));
}
template <class T>
Tensor zeros_like(const Tensor& t) {
  Tensor z = like(t, std::is_same_v<T, double> ? kDouble : kFloat);
  std::fill_n(static_cast<T*>(z.raw_data()), z.numel(), T{0});
  return z;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> flash_attention_backward(
    const Tensor& grad_out, const Tensor& query, const Tensor& key,
    const Tensor& value, const Tensor& out, const Tensor& logsumexp, double,
    bool is_causal, const std::optional<Tensor>& attn_mask,
    std::optional<double> scale) {
  const AttentionSizes s(query, key, value, is_causal, scale);
  const Tensor grad_query = like(query, query.dtype());
  const Tensor log_sums = contiguous_cpu(logsumexp);
  const AttentionOperand g(grad_out), q(query), k(key), v(value), o(out);
  const AttentionMask mask(attn_mask);
  Tensor grad_key, grad_value;
  visit_attention(query.dtype(), [&]<class T, class E>() {
    const Tensor key_sums = zeros_like<T>(key);
    const Tensor value_sums = zeros_like<T>(value);
    Backward<T, E>{s,        attention_kernel<T>(),
                   g,        q,
                   k,        v,
                   o,        mask,
                   log_sums, grad_query,
                   key_sums, value_sums}
        .run();
    grad_key = contiguous_cpu(key_sums, key.dtype());
    grad_value = contiguous_cpu(value_sums, value.dtype());
  });
  return {grad_query, grad_key, grad_value};
}

}  // namespace sy::cpu
