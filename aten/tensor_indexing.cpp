#include "aten/tensor_indexing.h"

#include <string_view>
#include <vector>

#include "aten/contract/index_list.h"
#include "aten/ops/advanced_indexing.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "aten/scalar_tensor.h"

namespace sy::indexing {

namespace {

using Kind = TensorIndex::Kind;

bool is_mask(const Tensor& t) {
  return t.scalar_type() == kBool || t.scalar_type() == kByte;
}

// How many dims of a tensor an index names.
int64_t dims_of(const TensorIndex& i) {
  switch (i.kind()) {
    case Kind::Integer:
    case Kind::Slice: return 1;
    case Kind::Tensor: return is_mask(i.tensor()) ? i.tensor().dim() : 1;
    default: return 0;
  }
}

// Indices as tensors for dims of `result`, the others done as views.
class Applied {
 public:
  Applied(const Tensor& x, ArrayRef<TensorIndex> indices) : result_(x) {
    SY_CHECK(x.defined(), Value,
             "[index] self: expected a tensor, got an undefined one");
    int64_t named = 0;
    bool ellipsis = false;
    for (const TensorIndex& i : indices) {
      named += dims_of(i);
      SY_CHECK(i.kind() != Kind::Ellipsis || !ellipsis, Index,
               "[index] indices: expected one ellipsis at most, got several");
      ellipsis |= i.kind() == Kind::Ellipsis;
    }
    SY_CHECK(named <= x.dim(), Index,
             "[index] indices: expected at most {} indices for {}, got {}",
             x.dim(), describe(x), named);
    for (const TensorIndex& i : indices) {
      if (i.kind() == Kind::Ellipsis) {
        dim_ += x.dim() - named;
      } else {
        apply(i);
      }
    }
  }

  const Tensor& result() const { return result_; }
  bool is_view() const { return tensors_.empty(); }
  const std::vector<std::optional<Tensor>>& tensors() const { return tensors_; }

 private:
  void apply(const TensorIndex& i) {
    switch (i.kind()) {
      case Kind::None: result_ = result_.unsqueeze(dim_++); return;
      case Kind::Integer: result_ = select(i.integer()); return;
      case Kind::Boolean: boolean(i.boolean()); return;
      case Kind::Slice: slice(i.slice()); return;
      default: tensor(i.tensor());
    }
  }

  Tensor select(int64_t i) const {
    const int64_t n = result_.size(dim_);
    SY_CHECK(i >= -n && i < n, Index,
             "[index] indices: expected an index in [{}, {}] for dim {} of "
             "size {}, got {}",
             -n, n - 1, dim_, n, i);
    return result_.select(dim_, i);
  }

  void slice(const Slice& s) {
    SY_CHECK(s.step() > 0, Value,
             "[index] indices: expected a step of at least 1, got {}",
             s.step());
    if (s.start().value_or(0) != 0 || s.stop().has_value() || s.step() != 1) {
      result_ = result_.slice(dim_, s.start(), s.stop(), s.step());
    }
    ++dim_;
  }

  // A new dim, kept or left empty.
  void boolean(bool keep) {
    result_ = result_.unsqueeze(dim_);
    record(sy::zeros({keep ? 1 : 0}, result_.options().dtype(kLong)), 1);
  }

  void tensor(const Tensor& t) {
    if (t.dim() != 0 || t.is_floating_point()) {
      record(t, is_mask(t) ? t.dim() : 1);
    } else if (is_mask(t)) {
      boolean(t.item().to_bool());
    } else {
      result_ = select(t.item().to<int64_t>());
    }
  }

  void record(const Tensor& t, int64_t dims) {
    while (covered_ < dim_) {
      tensors_.emplace_back();
      ++covered_;
    }
    tensors_.emplace_back(t);
    covered_ += dims;
    dim_ += dims;
  }

  Tensor result_;
  int64_t dim_ = 0;
  int64_t covered_ = 0;  // dims that tensors_ stand for
  std::vector<std::optional<Tensor>> tensors_;
};

// `value` without its leading dims of size 1. It may have more of these than
// the place it goes to.
Tensor without_leading_ones(const Tensor& value, int64_t dims) {
  int64_t ones = 0;
  while (value.dim() - ones > dims && value.size(ones) == 1) ++ones;
  return ones == 0 ? value
                   : value.reshape(value.sizes().slice(
                         static_cast<size_t>(ones),
                         static_cast<size_t>(value.dim() - ones)));
}

}  // namespace

TensorIndex::TensorIndex(const char* text) : kind_(Kind::Ellipsis) {
  SY_CHECK(text != nullptr && std::string_view(text) == "...", Value,
           "[index] indices: expected \"...\", got \"{}\"",
           text == nullptr ? "" : text);
}

Tensor get_item(const Tensor& x, ArrayRef<TensorIndex> indices) {
  const Applied a(x, indices);
  if (!a.is_view()) return sy::index(a.result(), a.tensors());
  return a.result().is_same(x) ? x.alias() : a.result();
}

void set_item(const Tensor& x, ArrayRef<TensorIndex> indices,
              const Tensor& value) {
  const Applied a(x, indices);
  const Tensor& to = a.result();
  if (a.is_view()) {
    to.copy_(without_leading_ones(value, to.dim()));
    return;
  }
  int64_t dims = to.dim(), most = 0, indexed = 0;
  for (const auto& t : a.tensors()) {
    if (!t.has_value()) continue;
    const bool mask = is_mask(*t);
    indexed += mask ? t->dim() : 1;
    most = std::max<int64_t>(most, mask ? 1 : t->dim());
  }
  dims += most - indexed;
  to.index_put_(OptionalTensors(a.tensors()),
                without_leading_ones(value, dims));
}

void set_item(const Tensor& x, ArrayRef<TensorIndex> indices,
              const Scalar& value) {
  set_item(x, indices, scalar_to_tensor(value, x.scalar_type()).to(x.device()));
}

Tensor RowIterator::operator*() const { return x_->select(0, row_); }

}  // namespace sy::indexing

namespace sy {

using indexing::TensorIndex;
using Indices = std::initializer_list<TensorIndex>;

Tensor Tensor::operator[](int64_t i) const { return index({i}); }
TensorItem Tensor::operator[](const Tensor& i) const {
  return {index({i}), *this, i};
}

Tensor& Tensor::operator=(const Tensor& value) && { return copy_(value); }
Tensor& Tensor::operator=(const Scalar& value) && { return fill_(value); }

Tensor& TensorItem::operator=(const Tensor& value) && {
  return of_.index_put_({at_}, value);
}
Tensor& TensorItem::operator=(const Scalar& value) && {
  return of_.index_put_({at_}, value);
}

Tensor Tensor::index(ArrayRef<TensorIndex> indices) const {
  return indexing::get_item(*this, indices);
}
Tensor Tensor::index(Indices indices) const {
  return index(ArrayRef<TensorIndex>(indices));
}

Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices,
                           const Tensor& value) const {
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices,
                           const Scalar& value) const {
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}
Tensor& Tensor::index_put_(Indices indices, const Tensor& value) const {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}
Tensor& Tensor::index_put_(Indices indices, const Scalar& value) const {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}

}  // namespace sy
