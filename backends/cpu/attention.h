#pragma once

#include <algorithm>
#include <type_traits>

#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/kernel/attention_kernel.h"
#include "backends/cpu/support/converted.h"
#include "c10/storage.h"

// What the tiles of attention and of its derivative are made of. Tensors are
// batch x heads x length x width; all is computed in T.

namespace sy::cpu {

// Rows of one head, at any distance from each other.
template <class T>
struct HeadRows {
  const T* data;
  int64_t stride;
};

// A 4-dim tensor whose rows lie close together (they are copied if not).
class AttentionOperand {
 public:
  explicit AttentionOperand(const Tensor& t);

  // Rows [row, row + n) of a head as T: in place, or in `room` of n x width.
  // BFloat16 is asked for where it is the dtype.
  template <class T>
  HeadRows<T> rows(int64_t batch, int64_t head, int64_t row, int64_t n,
                   T* room) const {
    const char* from =
        data_ + (batch * batch_ + head * head_ + row * row_) * item_;
    if (convert_ == nullptr || std::is_same_v<T, BFloat16>) {
      return {reinterpret_cast<const T*>(from), row_};
    }
    for (int64_t i = 0; i < (width_ == 0 ? 0 : n); ++i) {
      convert_(room + i * width_, from + i * row_ * item_, width_);
    }
    return {room, width_};
  }
  bool converts() const { return convert_ != nullptr; }
  int64_t width() const { return width_; }

 private:
  Tensor held_;
  const char* data_;
  int64_t item_, batch_, head_, row_, width_;
  tiles::ConvertFn convert_ = nullptr;
};

// A mask that broadcasts to batch x heads x queries x keys, or none.
class AttentionMask {
 public:
  explicit AttentionMask(const std::optional<Tensor>& mask);

  // Hides or adds to n scores of a query from a key on. room: n elements.
  template <class T>
  void apply(const AttentionKernel<T>& kernel, T* scores, int64_t batch,
             int64_t head, int64_t query, int64_t key, int64_t n,
             T* room) const;
  bool given() const { return data_ != nullptr; }

 private:
  Tensor held_;
  const char* data_ = nullptr;
  int64_t item_ = 0, strides_[4] = {};
  ScalarType dtype_ = kBool;
};

struct AttentionSizes {
  int64_t batch, heads, queries, keys, width, value_width;
  int64_t heads_per_key;  // query heads that share one of key and value
  double scale;
  bool causal;
  // The sizes of a tile: how many queries and how many keys it takes at a time.
  int64_t query_block, key_block;

  AttentionSizes(const Tensor& query, const Tensor& key, const Tensor& value,
                 bool is_causal, std::optional<double> given_scale);
  // How many of n keys from `key` on a query sees.
  int64_t seen(int64_t query, int64_t key, int64_t n) const {
    return causal ? std::clamp<int64_t>(query - key + 1, 0, n) : n;
  }
};

// Arrays in one piece of memory: where each begins is set.
template <class U>
struct ArrayPart {
  U*& begin;
  int64_t n;
  size_t bytes() const {
    return (static_cast<size_t>(n) * sizeof(U) + 63) / 64 * 64;
  }
};
template <class... U>
Storage allocate_arrays(ArrayPart<U>... parts) {
  Storage s = StorageImpl::allocate((parts.bytes() + ...), Device(kCPU));
  char* at = static_cast<char*>(s->data());
  ((parts.begin = reinterpret_cast<U*>(at), at += parts.bytes()), ...);
  return s;
}

// The type of the factors: T, or BFloat16 where T is float and the machine
// multiplies pairs of BFloat16 (has_bf16_products).
template <class T, class E>
void multiply(int64_t m, int64_t n, int64_t k, const E* a, int64_t a_row,
              int64_t a_col, const E* b, int64_t b_row, int64_t b_col, T* c,
              int64_t c_row, T alpha, T beta) {
  if constexpr (std::is_same_v<E, BFloat16>) {
    gemm(GemmBf16{m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row, true,
                  alpha, beta, nullptr});
  } else {
    gemm(Gemm<T>{m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row, alpha,
                 beta});
  }
}
// c = alpha * a bᵀ, c = a b + beta * c, and c += aᵀ b, of n x m results.
template <class T, class E>
void product_of_rows(int64_t n, int64_t m, int64_t k, HeadRows<E> a,
                     HeadRows<E> b, T* c, int64_t c_row, T alpha) {
  multiply<T, E>(n, m, k, a.data, a.stride, 1, b.data, 1, b.stride, c, c_row,
                 alpha, 0);
}
template <class T, class E>
void product(int64_t n, int64_t m, int64_t k, HeadRows<E> a, HeadRows<E> b,
             T* c, int64_t c_row, T beta) {
  multiply<T, E>(n, m, k, a.data, a.stride, 1, b.data, b.stride, 1, c, c_row, 1,
                 beta);
}
template <class T, class E>
void add_product_of_columns(int64_t n, int64_t m, int64_t k, HeadRows<E> a,
                            HeadRows<E> b, T* c, int64_t c_row) {
  multiply<T, E>(n, m, k, a.data, 1, a.stride, b.data, b.stride, 1, c, c_row, 1,
                 1);
}
// Rows of n results as they are multiplied: in place, or in `room`.
template <class T, class E>
HeadRows<E> multiplied(const T* from, int64_t rows, int64_t n, E* room) {
  if constexpr (std::is_same_v<T, E>) {
    return {from, n};
  } else {
    tiles::convert_fn(kFloat, kBFloat16)(room, from, rows * n);
    return {room, n};
  }
}

// Calls f<T, E>() with what attention of a dtype computes in and multiplies.
template <class F>
void visit_attention(ScalarType dtype, const F& f) {
  if (dtype == kBFloat16 && has_bf16_products()) {
    f.template operator()<float, BFloat16>();
  } else {
    visit_compute_type(dtype,
                       [&]<class T>() { f.template operator()<T, T>(); });
  }
}

}  // namespace sy::cpu
