#pragma once

#include <algorithm>

#include "backends/cpu/attention_kernel.h"
#include "backends/cpu/converted.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_bf16.h"

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
  template <class T>
  HeadRows<T> rows(int64_t batch, int64_t head, int64_t row, int64_t n,
                   T* room) const {
    const char* from =
        data_ + (batch * batch_ + head * head_ + row * row_) * item_;
    if (convert_ == nullptr) return {reinterpret_cast<const T*>(from), row_};
    for (int64_t i = 0; i < (width_ == 0 ? 0 : n); ++i) {
      convert_(room + i * width_, from + i * row_ * item_, width_);
    }
    return {room, width_};
  }
  bool converts() const { return convert_ != nullptr; }
  // The same rows as they are.
  HeadRows<BFloat16> pairs(int64_t batch, int64_t head, int64_t row) const {
    return {reinterpret_cast<const BFloat16*>(data_) + batch * batch_ +
                head * head_ + row * row_,
            row_};
  }
  int64_t width() const { return width_; }

 private:
  Tensor held_;
  const char* data_;
  int64_t item_, batch_, head_, row_, width_;
  tile::ConvertFn convert_ = nullptr;
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
  // Of tiles: queries that are taken at a time, and keys.
  int64_t query_block, key_block;

  AttentionSizes(const Tensor& query, const Tensor& key, const Tensor& value,
                 bool is_causal, std::optional<double> given_scale);
  // How many of n keys from `key` on a query sees.
  int64_t seen(int64_t query, int64_t key, int64_t n) const {
    return causal ? std::clamp<int64_t>(query - key + 1, 0, n) : n;
  }
};

// c = alpha * a bᵀ, c = a b + beta * c, and c += aᵀ b, of n x m results.
template <class T>
void product_of_rows(int64_t n, int64_t m, int64_t k, HeadRows<T> a,
                     HeadRows<T> b, T* c, int64_t c_row, T alpha) {
  gemm(Gemm<T>{n, m, k, a.data, a.stride, 1, b.data, 1, b.stride, c, c_row,
               alpha, 0});
}
template <class T>
void product(int64_t n, int64_t m, int64_t k, HeadRows<T> a, HeadRows<T> b,
             T* c, int64_t c_row, T beta) {
  gemm(Gemm<T>{n, m, k, a.data, a.stride, 1, b.data, b.stride, 1, c, c_row, 1,
               beta});
}
template <class T>
void add_product_of_columns(int64_t n, int64_t m, int64_t k, HeadRows<T> a,
                            HeadRows<T> b, T* c, int64_t c_row) {
  gemm(Gemm<T>{n, m, k, a.data, 1, a.stride, b.data, b.stride, 1, c, c_row, 1,
               1});
}

}  // namespace sy::cpu
