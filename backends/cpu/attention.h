#pragma once

#include <algorithm>
#include <type_traits>

#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/kernel/attention_kernel.h"
#include "backends/cpu/support/converted.h"
#include "c10/tensor/storage.h"

// The parts of attention and its derivative, which work tile by tile. Tensors
// are batch x heads x length x width. T is the type that everything is computed
// in.

namespace sy::cpu {

// Rows of one head, `stride` elements apart.
template <class T>
struct HeadRows {
  const T* data;
  int64_t stride;
};

// A 4-dim tensor with contiguous rows. It is copied if its rows are not.
class AttentionOperand {
 public:
  explicit AttentionOperand(const Tensor& t);

  // Rows [row, row + n) of a head as T: in place, or in `room` of n x width
  // elements. T may be BFloat16 if that is the dtype.
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

// A mask that broadcasts to batch x heads x queries x keys, or no mask.
class AttentionMask {
 public:
  explicit AttentionMask(const std::optional<Tensor>& mask);

  // Applies the mask to n scores of a query, from key `key` on: hides them or
  // adds to them. room: n elements.
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
  // How many of the n keys from `key` on the query sees.
  int64_t seen(int64_t query, int64_t key, int64_t n) const {
    return causal ? std::clamp<int64_t>(query - key + 1, 0, n) : n;
  }
};

// One array in a block of memory. allocate_arrays() sets `begin`.
template <class U>
struct ArrayPart {
  U*& begin;
  int64_t n;
  size_t bytes() const {
    return (static_cast<size_t>(n) * sizeof(U) + 63) / 64 * 64;
  }
};
// clang 16 deduces nothing for aggregates.
template <class U>
ArrayPart(U*&, int64_t) -> ArrayPart<U>;
template <class... U>
Storage allocate_arrays(ArrayPart<U>... parts) {
  Storage s = StorageImpl::allocate((parts.bytes() + ...), Device(kCPU));
  char* at = static_cast<char*>(s->data());
  ((parts.begin = reinterpret_cast<U*>(at), at += parts.bytes()), ...);
  return s;
}

// E is the type of the factors: T, or BFloat16 if T is float and the machine
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
// product_of_rows: c = alpha * a bᵀ. product: c = a b + beta * c.
// add_product_of_columns: c += aᵀ b. Results are n x m.
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
// Rows of n results in the type of factors: in place, or in `room`.
template <class T, class E>
HeadRows<E> multiplied(const T* from, int64_t rows, int64_t n, E* room) {
  if constexpr (std::is_same_v<T, E>) {
    return {from, n};
  } else {
    tiles::convert_fn(kFloat, kBFloat16)(room, from, rows * n);
    return {room, n};
  }
}

// Calls f<T, E>(). Attention of that dtype is computed in T and multiplies E.
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
