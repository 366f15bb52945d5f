#pragma once

#include <initializer_list>
#include <optional>
#include <type_traits>

#include "aten/tensor.h"

// The indices that may stand between the brackets of x[…] in Python, for
// Tensor::index and Tensor::index_put_:
//
//   using namespace sy::indexing;
//   x.index({Slice(1, None), "...", 0, mask})

namespace sy {

namespace indexing {

// A new dim of size 1. It means no bound in a Slice.
inline constexpr std::nullopt_t None = std::nullopt;

// Stands for all dims that the other indices do not name.
struct EllipsisIndexType final {};
inline constexpr EllipsisIndexType Ellipsis;

// start:stop:step. Each of them may be None.
class Slice {
 public:
  explicit Slice(std::optional<int64_t> start = std::nullopt,
                 std::optional<int64_t> stop = std::nullopt,
                 std::optional<int64_t> step = std::nullopt)
      : start_(start), stop_(stop), step_(step.value_or(1)) {}
  std::optional<int64_t> start() const { return start_; }
  std::optional<int64_t> stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  std::optional<int64_t> start_, stop_;
  int64_t step_;
};

// One index of any kind.
class SY_API TensorIndex {
 public:
  enum class Kind : uint8_t { None, Ellipsis, Integer, Boolean, Slice, Tensor };

  TensorIndex(std::nullopt_t) : kind_(Kind::None) {}
  TensorIndex(EllipsisIndexType) : kind_(Kind::Ellipsis) {}
  // "...". Throws ValueError for any other text.
  TensorIndex(const char* text);
  template <class T>
  requires std::is_integral_v<T> TensorIndex(T v)
      : integer_(static_cast<int64_t>(v)),
        kind_(std::is_same_v<T, bool> ? Kind::Boolean : Kind::Integer) {}
  TensorIndex(class Slice s) : slice_(s), kind_(Kind::Slice) {}
  TensorIndex(sy::Tensor t) : tensor_(std::move(t)), kind_(Kind::Tensor) {}

  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const class Slice& slice() const { return slice_; }
  const sy::Tensor& tensor() const { return tensor_; }

 private:
  sy::Tensor tensor_;
  class Slice slice_;
  int64_t integer_ = 0;
  Kind kind_;
};

// x[indices]: a copy if an index is a mask or a tensor of several indices, else
// a view. Throws IndexError for too many indices and for indices out of range.
SY_API Tensor get_item(const Tensor& x, ArrayRef<TensorIndex> indices);
// x[indices] = value, which broadcasts.
SY_API void set_item(const Tensor& x, ArrayRef<TensorIndex> indices,
                     const Tensor& value);
SY_API void set_item(const Tensor& x, ArrayRef<TensorIndex> indices,
                     const Scalar& value);

// The tensors x[0], x[1], … for range-based for.
class RowIterator {
 public:
  using value_type = Tensor;
  using difference_type = std::ptrdiff_t;

  RowIterator() = default;
  RowIterator(const Tensor& x, int64_t row) : x_(&x), row_(row) {}
  Tensor operator*() const;
  RowIterator& operator++() {
    ++row_;
    return *this;
  }
  RowIterator operator++(int) {
    RowIterator before = *this;
    ++row_;
    return before;
  }
  bool operator==(const RowIterator& o) const { return row_ == o.row_; }

 private:
  const Tensor* x_ = nullptr;
  int64_t row_ = 0;
};

}  // namespace indexing

// Iterates over the first dim: for (const Tensor row : x). Rows are views.
// Throws IndexError for a tensor without dims. x must outlive the loop.
inline indexing::RowIterator begin(const Tensor& x) {
  static_cast<void>(x.size(0));
  return {x, 0};
}
inline indexing::RowIterator end(const Tensor& x) { return {x, x.size(0)}; }

}  // namespace sy
