#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/linalg_products_kernels.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"

namespace sy::composite {

namespace {

using Sizes = std::vector<int64_t>;

// The sizes of groups that end before `offs`, and what is left of `total`.
Sizes sizes_of_groups(const Tensor& offs, int64_t total) {
  const Tensor ends = contiguous_cpu(offs.to(Device(kCPU)), kLong);
  const auto* const p = static_cast<const int64_t*>(ends.raw_data());
  Sizes sizes;
  int64_t at = 0;
  for (int64_t i = 0; i < ends.numel(); ++i) {
    SY_CHECK(p[i] >= at && p[i] <= total, Value,
             "[_grouped_mm] offs: expected ends of groups that do not fall, up "
             "to {}, got {} after {}",
             total, p[i], at);
    sizes.push_back(p[i] - at);
    at = p[i];
  }
  sizes.push_back(total - at);
  return sizes;
}

// The parts of a tensor: along a dim that is cut, or the matrices of a batch.
// Each has one node of the gradient.
std::vector<Tensor> parts_of(const Tensor& t, int64_t cut, const Sizes& sizes) {
  if (t.dim() == 3) return sy::unbind(t, 0);
  std::vector<Tensor> parts = t.split_with_sizes(sizes, cut);
  parts.pop_back();  // what is behind the last group
  return parts;
}

void check(const Tensor& self, const Tensor& mat2,
           const std::optional<Tensor>& offs) {
  const auto is_fit = [](const Tensor& t) {
    return t.defined() && (t.dim() == 2 || t.dim() == 3);
  };
  SY_CHECK(is_fit(self), Value,
           "[_grouped_mm] self: expected 2 or 3 dims, got {}", describe(self));
  SY_CHECK(is_fit(mat2) && mat2.size(-2) == self.size(-1), Value,
           "[_grouped_mm] mat2: expected 2 or 3 dims and {} rows, got {}",
           self.size(-1), describe(mat2));
  SY_CHECK(mat2.dtype() == self.dtype(), Type,
           "[_grouped_mm] mat2: expected the dtype of self, {}, got {}",
           self.dtype(), mat2.dtype());
  const bool batches = self.dim() == 3 && mat2.dim() == 3;
  const bool has_offs = offs && offs->defined();
  SY_CHECK(
      has_offs != batches, Value, "[_grouped_mm] offs: expected {}",
      batches ? "None beside two batches" : "the ends of groups, got None");
  if (batches) return;
  SY_CHECK(
      offs->dim() == 1 && (offs->dtype() == kInt || offs->dtype() == kLong),
      Value,
      "[_grouped_mm] offs: expected int32 or int64 of one dim, "
      "got {}",
      describe(*offs));
  const Tensor& batch = self.dim() == 3 ? self : mat2;
  SY_CHECK(
      batch.dim() == 2 || batch.size(0) == offs->size(0), Value,
      "[_grouped_mm] offs: expected an end for each of {} matrices, got {}",
      batch.size(0), offs->size(0));
}

Tensor zeros_beside(const Tensor& t, int64_t rows, int64_t columns) {
  return sy::zeros({rows, columns}, t.options());
}

Tensor product_of_groups(const Tensor& self, const Tensor& mat2,
                         const Tensor& offs) {
  const bool by_row = mat2.dim() == 3, by_column = self.dim() == 3;
  const int64_t rows = self.size(-2), columns = mat2.size(-1);
  if (offs.device().type() == kMeta) {
    return by_row || by_column
               ? zeros_beside(self, rows, columns)
               : sy::zeros({offs.size(0), rows, columns}, self.options());
  }
  const Sizes sizes = sizes_of_groups(offs, by_row      ? rows
                                            : by_column ? columns
                                                        : self.size(-1));
  const std::vector<Tensor> left = parts_of(self, by_row ? 0 : 1, sizes);
  const std::vector<Tensor> right = parts_of(mat2, by_column ? 1 : 0, sizes);
  std::vector<Tensor> products;
  for (size_t i = 0; i < left.size(); ++i) {
    products.push_back(sy::mm(left[i], right[i]));
  }
  if (!by_row && !by_column) {
    return products.empty() ? sy::zeros({0, rows, columns}, self.options())
                            : sy::stack(products, 0);
  }
  products.push_back(by_row ? zeros_beside(self, sizes.back(), columns)
                            : zeros_beside(self, rows, sizes.back()));
  return sy::cat(products, by_row ? 0 : 1);
}

}  // namespace

Tensor grouped_mm(const Tensor& self, const Tensor& mat2,
                  const std::optional<Tensor>& offs,
                  const std::optional<Tensor>& bias,
                  std::optional<ScalarType> out_dtype) {
  check(self, mat2, offs);
  SY_CHECK(!bias || !bias->defined(), NotImplemented,
           "[_grouped_mm] bias: expected None; add it to the result");
  const Tensor out = offs && offs->defined()
                         ? product_of_groups(self, mat2, *offs)
                         : sy::bmm(self, mat2);
  return out.to(out_dtype.value_or(out.scalar_type()));
}

}  // namespace sy::composite
