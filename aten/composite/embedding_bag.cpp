#include "aten/contract/embedding_bag.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "aten/engine/guard.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/embedding_bag.h"
#include "aten/ops/embedding_bag_kernels.h"
#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/indexing.h"
#include "aten/ops/norm.h"
#include "aten/ops/shape.h"
#include "aten/ops/statistics.h"
#include "aten/ops/unique.h"

namespace sy::composite {

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  Dims sizes(self.sizes());
  if (self.numel() == 0) {
    SY_CHECK(num_classes > 0, Value,
             "[one_hot] num_classes: expected a positive number for an empty "
             "tensor, got {}",
             num_classes);
    sizes.push_back(num_classes);
    return sy::empty(sizes, self.options());
  }
  SY_CHECK(num_classes >= -1, Value,
           "[one_hot] num_classes: expected a number of classes or -1, got {}",
           num_classes);
  const int64_t least = sy::min(self).item<int64_t>();
  const int64_t most = sy::max(self).item<int64_t>();
  SY_CHECK(least >= 0 && most < INT64_MAX, Index,
           "[one_hot] self: expected classes from 0 on, got {}",
           least < 0 ? least : most);
  SY_CHECK(num_classes == -1 || most < num_classes, Index,
           "[one_hot] self: expected classes below {}, got {}", num_classes,
           most);
  sizes.push_back(num_classes == -1 ? most + 1 : num_classes);
  Tensor out = sy::zeros(sizes, self.options());
  return out.scatter_(-1, self.unsqueeze(-1), Scalar(1));
}

namespace {

// Bags of rows of a matrix, made of index_select, index_add and index_reduce:
// for backends that have no kernels of their own for them. Narrow floats are
// computed in float32.

using Optional = std::optional<Tensor>;
using Results = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Tensor longs(const char* op, const char* argument, const Tensor& t) {
  check_bag_vector(op, argument, t);
  return t.to(kLong);
}

// Values from `least` up to `end`, which is not one of them.
void check_values(const char* op, const char* argument, const Tensor& t,
                  int64_t least, int64_t end) {
  const Tensor wrong = sy::logical_or(t < least, t >= end);
  SY_CHECK(!wrong.any().item<bool>(), Index,
           "[{}] {}: expected values in [{}, {})", op, argument, least, end);
}

// The bag of each of so many indices; -1 for those after an end, which the last
// offset may be.
Tensor bag_of_each(const char* op, const Tensor& offsets, int64_t indices,
                   bool include_last, bool is_end) {
  const Tensor at = longs(op, "offsets", offsets);
  const int64_t n = at.numel(), bags = n - (include_last ? 1 : 0);
  SY_CHECK(bags >= 0, Value,
           "[{}] offsets: expected at least 1 with include_last_offset, got 0",
           op);
  if (n > 0) {
    const Tensor falls = at.narrow(0, 1, n - 1) < at.narrow(0, 0, n - 1);
    const auto last = at.select(0, -1).item<int64_t>();
    SY_CHECK(at.select(0, 0).item<int64_t>() == 0 && last <= indices &&
                 !falls.any().item<bool>(),
             Value,
             "[{}] offsets: expected numbers that rise from 0 to at most {}, "
             "the number of indices",
             op, indices);
  }
  const Tensor i = sy::arange(indices, at.options());
  const Tensor bag =
      sy::searchsorted(at.narrow(0, 0, bags), i, false, true) - 1;
  if (!include_last || !is_end) return bag;
  return sy::where(i < at.select(0, -1), bag, Scalar(-1));
}

// The indices that count: those of no padding that are in a bag.
struct Members {
  Tensor at, index, bag;

  Members(const Tensor& indices, const Tensor& of_index, int64_t padding_idx) {
    const Tensor counts =
        sy::logical_and(indices.ne(padding_idx), of_index >= 0);
    at = sy::nonzero(counts).reshape(-1);
    index = sy::index_select(indices, 0, at);
    bag = sy::index_select(of_index, 0, at);
  }
};

// The largest of the rows of each bag, and the index of the first that is.
std::tuple<Tensor, Tensor> largest(const Tensor& rows, const Members& m,
                                   int64_t bags) {
  const int64_t n = rows.size(0);
  const Tensor out = sy::zeros({bags, rows.size(1)}, rows.options())
                         .index_reduce(0, m.bag, rows, "amax", false);
  const Tensor place =
      sy::where(rows.eq(sy::index_select(out, 0, m.bag)),
                sy::arange(n, m.at.options()).unsqueeze(1), Scalar(n));
  const Tensor first = sy::full(out.sizes(), n, m.at.options())
                           .index_reduce(0, m.bag, place, "amin", true);
  // A last index for bags without rows.
  const Tensor index = sy::cat({m.index, sy::zeros({1}, m.index.options())}, 0);
  return {out,
          sy::index_select(index, 0, first.reshape(-1)).reshape(first.sizes())};
}

Results bag(const char* op, bool forward_only, const Tensor& weight,
            const Tensor& indices_, const Tensor& offsets, int64_t mode,
            const Optional& samples, bool include_last, int64_t padding_idx) {
  check_bag_mode(op, mode);
  check_bag_weight(op, weight);
  const Tensor indices = longs(op, "indices", indices_);
  check_bag_samples(op, samples, weight, indices, mode);
  check_values(op, "indices", indices, 0, weight.size(0));
  // Some sums leave the bag of each index out, as on the CPU, and take the last
  // offset for an end.
  const bool short_cut = mode != kBagMax && padding_idx < 0 &&
                         weight.dtype() != kDouble && weight.stride(1) == 1;
  const int64_t total = indices.numel(), n = weight.size(1);
  const int64_t bags = offsets.numel() - (include_last ? 1 : 0);
  const Tensor of_index = bag_of_each(op, offsets, total, include_last, false);
  const Members m(indices,
                  short_cut
                      ? bag_of_each(op, offsets, total, include_last, true)
                      : of_index,
                  padding_idx);
  Tensor rows = widened(sy::index_select(weight, 0, m.index));
  if (samples && samples->defined()) {
    rows = rows * widened(sy::index_select(*samples, 0, m.at)).unsqueeze(1);
  }
  const bool counts = mode != kBagSum;
  Tensor sizes = sy::zeros({counts || !forward_only ? bags : offsets.size(0)},
                           indices.options());
  if (counts) sizes = sizes.index_add(0, m.bag, sy::ones_like(m.bag));
  Tensor out, maxima;
  if (mode == kBagMax) {
    std::tie(out, maxima) = largest(rows, m, bags);
  } else {
    out = sy::zeros({bags, n}, rows.options()).index_add(0, m.bag, rows);
    if (mode == kBagMean) {
      out = out / sy::clamp_min(sizes, Scalar(1)).unsqueeze(1);
    }
    maxima = sizes.clone();
  }
  return {out.to(weight.scalar_type()),
          short_cut && mode == kBagSum ? sy::zeros({0}, indices.options())
                                       : of_index,
          sizes, maxima};
}

Tensor dense_gradient(const char* op, const Tensor& grad,
                      const Tensor& indices_, const Tensor& of_index,
                      const Tensor& bag_size, const Tensor& maxima,
                      int64_t num_weights, bool by_freq, int64_t mode,
                      const Optional& samples, int64_t padding_idx) {
  check_bag_mode(op, mode);
  SY_CHECK(grad.is_floating_point() && grad.dim() == 2, Value,
           "[{}] grad: expected a floating matrix, got {}", op, describe(grad));
  SY_CHECK(num_weights >= 0, Value,
           "[{}] num_weights: expected a number of rows, got {}", op,
           num_weights);
  const Tensor indices = longs(op, "indices", indices_);
  check_values(op, "indices", indices, 0, num_weights);
  check_bag_samples(op, samples, grad, indices, mode);
  const int64_t bags = grad.size(0);
  if (mode != kBagSum) check_per_bag(op, "bag_size", bag_size, bags);
  const Tensor g = widened(grad);
  const Tensor zeros = sy::zeros({num_weights, grad.size(1)}, g.options());
  if (mode == kBagMax) {
    SY_CHECK(maxima.dtype() == kLong && maxima.sizes() == grad.sizes(), Value,
             "[{}] maximum_indices: expected int64 indices of the sizes of "
             "grad, got {}",
             op, describe(maxima));
    check_values(op, "maximum_indices", maxima, 0, num_weights);
    // A bag without elements has no maximum.
    const Tensor own = sy::where(bag_size.unsqueeze(1) > 0, g, Scalar(0));
    return zeros.scatter_add(0, maxima, own).to(grad.scalar_type());
  }
  const Tensor each = longs(op, "offset2bag", of_index);
  SY_CHECK(each.numel() == indices.numel(), Value,
           "[{}] offset2bag: expected a bag for each of {} indices, got {}", op,
           indices.numel(), describe(of_index));
  check_values(op, "offset2bag", each, -1, bags);
  const Members m(indices, each, padding_idx);
  Tensor rows = sy::index_select(g, 0, m.bag);
  if (samples && samples->defined()) {
    rows = rows * widened(sy::index_select(*samples, 0, m.at)).unsqueeze(1);
  }
  if (by_freq) {
    const Tensor often = sy::zeros({num_weights}, indices.options())
                             .index_add(0, indices, sy::ones_like(indices));
    rows = rows / sy::index_select(often, 0, m.index).unsqueeze(1);
  }
  if (mode == kBagMean) {
    const Tensor size = sy::clamp_min(bag_size, Scalar(1));
    rows = rows / sy::index_select(size, 0, m.bag).unsqueeze(1);
  }
  return zeros.index_add(0, m.index, rows).to(grad.scalar_type());
}

// PyTorch's callers may leave out the bag of each index.
Tensor bags_or_computed(const char* op, const Tensor& of_index,
                        const Tensor& offsets, const Tensor& indices,
                        int64_t bags) {
  if (of_index.numel() != 0 || indices.numel() == 0) return of_index;
  const bool last = offsets.numel() == bags + 1;
  return bag_of_each(op, offsets, indices.numel(), last, true);
}

}  // namespace

Results embedding_bag_by_index(const Tensor& weight, const Tensor& indices,
                               const Tensor& offsets, bool, int64_t mode, bool,
                               const Optional& per_sample_weights,
                               bool include_last_offset, int64_t padding_idx) {
  return bag("_embedding_bag", false, weight, indices, offsets, mode,
             per_sample_weights, include_last_offset, padding_idx);
}

Results embedding_bag_forward_only_by_index(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool,
    int64_t mode, bool, const Optional& per_sample_weights,
    bool include_last_offset, int64_t padding_idx) {
  return bag("_embedding_bag_forward_only", true, weight, indices, offsets,
             mode, per_sample_weights, include_last_offset, padding_idx);
}

Tensor embedding_bag_dense_backward_by_index(
    const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
    const Tensor& bag_size, const Tensor& maximum_indices, int64_t num_weights,
    bool scale_grad_by_freq, int64_t mode, const Optional& per_sample_weights,
    int64_t padding_idx) {
  return dense_gradient("_embedding_bag_dense_backward", grad, indices,
                        offset2bag, bag_size, maximum_indices, num_weights,
                        scale_grad_by_freq, mode, per_sample_weights,
                        padding_idx);
}

Tensor embedding_bag_backward_by_index(
    const Tensor& grad, const Tensor& indices, const Tensor& offsets,
    const Tensor& offset2bag, const Tensor& bag_size,
    const Tensor& maximum_indices, int64_t num_weights, bool scale_grad_by_freq,
    int64_t mode, bool, const Optional& per_sample_weights,
    int64_t padding_idx) {
  constexpr const char* kOp = "_embedding_bag_backward";
  SY_CHECK(grad.dim() == 2, Value, "[{}] grad: expected a matrix, got {}", kOp,
           describe(grad));
  const Tensor bags =
      bags_or_computed(kOp, offset2bag, offsets, indices, grad.size(0));
  return dense_gradient(kOp, grad, indices, bags, bag_size, maximum_indices,
                        num_weights, scale_grad_by_freq, mode,
                        per_sample_weights, padding_idx);
}

Tensor embedding_bag_per_sample_weights_backward_by_index(
    const Tensor& grad, const Tensor& weight, const Tensor& indices_,
    const Tensor& offsets, const Tensor& offset2bag, int64_t mode,
    int64_t padding_idx) {
  constexpr const char* kOp = "_embedding_bag_per_sample_weights_backward";
  SY_CHECK(mode == kBagSum, Value, "[{}] mode: expected 0, got {}", kOp, mode);
  check_bag_weight(kOp, weight);
  SY_CHECK(grad.dim() == 2 && grad.size(1) == weight.size(1) &&
               grad.dtype() == weight.dtype(),
           Value,
           "[{}] grad: expected a matrix with the columns and dtype of weight, "
           "got {}",
           kOp, describe(grad));
  const Tensor indices = longs(kOp, "indices", indices_);
  check_values(kOp, "indices", indices, 0, weight.size(0));
  const int64_t bags = grad.size(0);
  const Tensor each =
      longs(kOp, "offset2bag",
            bags_or_computed(kOp, offset2bag, offsets, indices, bags));
  SY_CHECK(each.numel() == indices.numel(), Value,
           "[{}] offset2bag: expected a bag for each of {} indices, got {}",
           kOp, indices.numel(), describe(offset2bag));
  check_values(kOp, "offset2bag", each, -1, bags);
  const Members m(indices, each, padding_idx);
  const Tensor products = widened(sy::index_select(weight, 0, m.index)) *
                          widened(sy::index_select(grad, 0, m.bag));
  const Tensor sums = products.sum({1});
  return sy::zeros(indices.sizes(), sums.options())
      .index_copy(0, m.at, sums)
      .to(grad.scalar_type());
}

Tensor& embedding_renorm_by_index(Tensor& self, const Tensor& indices,
                                  double max_norm, double norm_type) {
  constexpr const char* kOp = "embedding_renorm_";
  const int64_t rows = self.size(0);
  const Tensor given = indices.to(kLong).reshape(-1);
  check_values(kOp, "indices", given, -rows, rows);
  if (given.numel() == 0 || self.size(1) == 0) return self;
  const Tensor at =
      std::get<0>(sy::_unique(sy::where(given < 0, given + rows, given)));
  const Tensor x = sy::index_select(self, 0, at).to(kDouble);
  const Tensor norm = sy::linalg_vector_norm(x, Scalar(norm_type), {1}, true);
  const Tensor scaled =
      sy::where(norm > max_norm, x * (max_norm / (norm + 1e-7)), x);
  self.index_copy_(0, at, scaled.to(self.scalar_type()));
  return self;
}

}  // namespace sy::composite
