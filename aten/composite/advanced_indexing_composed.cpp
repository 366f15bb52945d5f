// Reading and writing by index, made of gather, scatter and scatter_reduce: for
// backends that have no kernels of their own for the rest.

#include "aten/contract/index_list.h"
#include "aten/engine/view.h"
#include "aten/operators.h"
#include "aten/ops/advanced_indexing.h"
#include "aten/ops/advanced_indexing_kernels.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/indexing.h"
#include "aten/ops/indexing_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/scan.h"
#include "aten/ops/scatter.h"
#include "aten/ops/scatter_kernels.h"
#include "aten/ops/shape.h"
#include "aten/ops/unique.h"
#include "aten/ops/unique_kernels.h"
#include "aten/ops/view.h"

namespace sy::composite {

namespace {

// A tensor without dims is a vector of one element here.
Tensor with_dims(const Tensor& t) { return t.dim() == 0 ? t.reshape(1) : t; }

// A vector of indices along `dim` for every element of `sizes`.
Tensor along(const char* op, const Tensor& index, int64_t dim,
             IntArrayRef sizes) {
  std::vector<int64_t> shape(sizes.size(), 1);
  const int64_t d = wrap_dim(op, dim, static_cast<int64_t>(sizes.size()));
  shape[static_cast<size_t>(d)] = index.numel();
  return index.to(kLong).reshape(shape).expand(sizes);
}

// How scatter_reduce names what scatter names otherwise.
std::string_view reduction_name(std::string_view reduce) {
  if (reduce == "add") return "sum";
  if (reduce == "multiply") return "prod";
  return reduce;
}

// The same places counted from the start; those outside stay outside.
Tensor from_start(const Tensor& index, int64_t n) {
  const Tensor i = index.to(kLong);
  return sy::where(i < 0, i + n, i);
}

void check_places(const char* op, const Tensor& places, int64_t n) {
  const Tensor wrong = sy::logical_or(places < 0, places >= n);
  SY_CHECK(!wrong.any().item<bool>(), Index, "[", op,
           "] indices: expected indices in [", -n, ", ", n - 1, "]");
}

// The places of `sizes` and `strides`, with `behind` more dims of one element.
Tensor grid(const Dims& sizes, const Dims& strides, int behind,
            const TensorOptions& options) {
  Tensor sum = sy::zeros({}, options);
  for (int d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> shape(static_cast<size_t>(sizes.size() - d + behind),
                               1);
    shape[0] = sizes[d];
    sum = sum + (sy::arange(sizes[d], options) * strides[d]).reshape(shape);
  }
  return sum;
}

// Where in self, contiguous, as a vector, each index points. Masks are the
// places of what is true in them.
Tensor linear_index(const char* op, const Tensor& self,
                    OptionalTensors indices) {
  std::vector<std::optional<Tensor>> places;
  for (const std::optional<Tensor>& i : indices) {
    const bool mask = i && i->defined() && i->dim() > 0 &&
                      (i->scalar_type() == kBool || i->scalar_type() == kByte);
    if (!mask) {
      places.push_back(i);
      continue;
    }
    for (int64_t d = 0; d < i->dim(); ++d) {
      const size_t at = places.size();
      SY_CHECK(static_cast<int64_t>(at) < self.dim() &&
                   self.sizes()[at] == i->size(d),
               Index, "[", op, "] indices: expected a mask of sizes that are ",
               "those of ", describe(self), ", got ", describe(*i));
      places.emplace_back(sy::nonzero(*i).select(1, d));
    }
  }
  const IndexPlan plan = plan_index(op, self, places);
  const TensorOptions options = self.options().dtype(kLong);
  const int before = plan.index.size() + plan.after.size();
  Tensor at = grid(plan.before, plan.before_strides, before, options) +
              grid(plan.after, plan.after_strides, 0, options);
  for (const IndexedDim& d : plan.dims) {
    const Tensor i = from_start(d.index, d.size);
    check_places(op, i, d.size);
    std::vector<int64_t> shape = i.sizes().vec();
    shape.resize(shape.size() + static_cast<size_t>(plan.after.size()), 1);
    at = at + i.reshape(shape) * d.stride;
  }
  return at.expand(IntArrayRef(plan.result_sizes()));
}

}  // namespace

Tensor index_select_by_gather(const Tensor& self, int64_t dim,
                              const Tensor& index) {
  const Tensor x = with_dims(self);
  Dims sizes(x.sizes());
  sizes[static_cast<int>(wrap_dim("index_select", dim, x.dim()))] =
      index.numel();
  const Tensor out =
      sy::gather(x, dim, along("index_select", index, dim, sizes));
  return self.dim() == 0 ? out.reshape(self.sizes()) : out;
}

Tensor index_add_by_scatter(const Tensor& self, int64_t dim,
                            const Tensor& index, const Tensor& source,
                            const Scalar& alpha) {
  const Tensor x = with_dims(self), from = with_dims(source);
  return sy::scatter_add(x, dim, along("index_add", index, dim, from.sizes()),
                         from * alpha)
      .reshape(self.sizes());
}

Tensor scatter_add_by_reduce(const Tensor& self, int64_t dim,
                             const Tensor& index, const Tensor& src) {
  return sy::scatter_reduce(self, dim, index, src, "sum", true);
}

Tensor index_copy_by_scatter(const Tensor& self, int64_t dim,
                             const Tensor& index, const Tensor& source) {
  const Tensor x = with_dims(self), from = with_dims(source);
  return sy::scatter(x, dim, along("index_copy", index, dim, from.sizes()),
                     from)
      .reshape(self.sizes());
}

Tensor index_fill_by_scatter(const Tensor& self, int64_t dim,
                             const Tensor& index, const Scalar& value) {
  return sy::index_fill(self, dim, index, sy::full({}, value, self.options()));
}

Tensor index_fill_tensor_by_scatter(const Tensor& self, int64_t dim,
                                    const Tensor& index, const Tensor& value) {
  const Tensor x = with_dims(self);
  Dims sizes(x.sizes());
  sizes[static_cast<int>(wrap_dim("index_fill", dim, x.dim()))] = index.numel();
  const Tensor at =
      along("index_fill", from_start(index, x.size(dim)), dim, sizes);
  const Tensor filler = value.to(self.options()).expand(IntArrayRef(sizes));
  return sy::scatter(x, dim, at, filler).reshape(self.sizes());
}

Tensor index_reduce_by_scatter(const Tensor& self, int64_t dim,
                               const Tensor& index, const Tensor& source,
                               std::string_view reduce, bool include_self) {
  const Tensor x = with_dims(self), from = with_dims(source);
  return sy::scatter_reduce(x, dim,
                            along("index_reduce", index, dim, from.sizes()),
                            from, reduce, include_self)
      .reshape(self.sizes());
}

Tensor scatter_value_by_scatter(const Tensor& self, int64_t dim,
                                const Tensor& index, const Scalar& value) {
  return sy::scatter(self, dim, index,
                     sy::full({}, value, self.options()).expand(index.sizes()));
}

Tensor scatter_by_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& src, std::string_view reduce) {
  return sy::scatter_reduce(self, dim, index, src, reduction_name(reduce),
                            true);
}

Tensor scatter_value_by_reduce(const Tensor& self, int64_t dim,
                               const Tensor& index, const Scalar& value,
                               std::string_view reduce) {
  return sy::scatter_reduce(
      self, dim, index,
      sy::full({}, value, self.options()).expand(index.sizes()),
      reduction_name(reduce), true);
}

Tensor take_by_gather(const Tensor& self, const Tensor& index) {
  const Tensor at = from_start(index, self.numel()).reshape(-1);
  return sy::gather(self.reshape(-1), 0, at).reshape(index.sizes());
}

Tensor put_by_scatter(const Tensor& self, const Tensor& index,
                      const Tensor& source, bool accumulate) {
  const Tensor flat = self.reshape(-1), from = source.reshape(-1);
  const Tensor at = from_start(index, self.numel()).reshape(-1);
  return (accumulate ? sy::scatter_add(flat, 0, at, from)
                     : sy::scatter(flat, 0, at, from))
      .reshape(self.sizes());
}

Tensor index_by_take(const Tensor& self, OptionalTensors indices) {
  const Tensor x = self.contiguous();
  const Tensor at = linear_index("index", x, indices);
  return sy::gather(x.reshape(-1), 0, at.reshape(-1)).reshape(at.sizes());
}

Tensor index_put_by_put(const Tensor& self, OptionalTensors indices,
                        const Tensor& values, bool accumulate) {
  const Tensor x = self.contiguous();
  const Tensor at = linear_index("index_put", x, indices);
  return sy::put(x, at, values.expand(at.sizes()), accumulate);
}

Tensor masked_select_by_index(const Tensor& self, const Tensor& mask) {
  const Dims sizes =
      broadcast_sizes("masked_select", self.sizes(), mask.sizes());
  const Tensor chosen =
      sy::nonzero(mask.expand(IntArrayRef(sizes)).reshape(-1)).reshape(-1);
  return sy::gather(self.expand(IntArrayRef(sizes)).reshape(-1), 0, chosen);
}

Tensor masked_scatter_by_gather(const Tensor& self, const Tensor& mask,
                                const Tensor& source) {
  const Dims sizes =
      broadcast_sizes("masked_scatter", self.sizes(), mask.sizes());
  const Tensor chosen = mask.to(kBool).expand(IntArrayRef(sizes)).reshape(-1);
  const Tensor x = self.expand(IntArrayRef(sizes));
  const auto wanted = chosen.sum().item<int64_t>();
  SY_CHECK(wanted <= source.numel(), Value,
           "[masked_scatter] source: expected at least ", wanted,
           " elements, one for each that is masked, got ", source.numel());
  if (wanted == 0) return x.clone();
  const Tensor place =
      sy::clamp_min(sy::cumsum(chosen.to(kLong), 0) - 1, Scalar(0));
  const Tensor from = sy::gather(source.reshape(-1), 0, place);
  return sy::where(chosen, from, x.reshape(-1)).reshape(IntArrayRef(sizes));
}

Tensor repeat_interleave_by_search(const Tensor& repeats,
                                   std::optional<int64_t> output_size) {
  if (repeats.numel() == 0) return sy::empty_like(repeats);
  SY_CHECK((repeats < 0).sum().item<int64_t>() == 0, Value,
           "[repeat_interleave] repeats: expected no negative numbers");
  const Tensor ends = sy::cumsum(repeats, 0, kLong);
  const auto total = ends.select(0, -1).item<int64_t>();
  SY_CHECK(!output_size || *output_size == total, Value,
           "[repeat_interleave] output_size: expected ", total, ", got ",
           *output_size);
  return sy::searchsorted(ends, sy::arange(total, ends.options()), false, true)
      .to(repeats.scalar_type());
}

Tensor nonzero_static_by_nonzero(const Tensor& self, int64_t size,
                                 int64_t fill_value) {
  const Tensor found = sy::nonzero(self);
  const int64_t n = std::min(found.size(0), size);
  const Tensor rest =
      sy::full({size - n, found.size(1)}, Scalar(fill_value), found.options());
  return sy::cat({found.narrow(0, 0, n), rest}, 0);
}

}  // namespace sy::composite
