#include "aten/ops/advanced_indexing.h"

#include <algorithm>
#include <vector>

#include "aten/composite/indexing.h"
#include "aten/contract/index_list.h"
#include "aten/engine/view.h"
#include "aten/operators.h"
#include "aten/ops/advanced_indexing_kernels.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/indexing.h"
#include "aten/ops/reduction.h"
#include "aten/ops/scan.h"
#include "aten/ops/scatter.h"
#include "aten/ops/shape.h"
#include "aten/ops/unique.h"

namespace sy::composite {

namespace {

using Optional = std::optional<Tensor>;

// Indices that may lie outside of self, made such that do not.
std::vector<Optional> clamped(const char* op, const Tensor& self,
                              OptionalTensors indices) {
  SY_CHECK(static_cast<int64_t>(indices.size()) <= self.dim(), Index,
           "[{}] indices: expected at most {} indices for {}, got {}", op,
           self.dim(), describe(self), indices.size());
  std::vector<Optional> list;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d].has_value()) {
      list.emplace_back();
      continue;
    }
    const Tensor& index = *indices[d];
    SY_CHECK(index.dtype() == kLong || index.dtype() == kInt, Index,
             "[{}] indices: expected int64 or int32 tensors, got {}", op,
             describe(index));
    const int64_t n = self.sizes()[d];
    list.emplace_back(sy::clamp(index, Scalar(-n), Scalar(n - 1)));
  }
  return list;
}

// Elements of the lower triangle: row r has min(col, r + 1 + offset) of them.
int64_t triangle(const char* op, int64_t row, int64_t col, int64_t offset) {
  using Wide = __int128;
  const Wide rows = row, cols = col, off = offset;
  const Wide first = std::clamp<Wide>(-off, 0, rows);
  const Wide full = std::clamp<Wide>(cols - 1 - off, first, rows);
  const Wide partial = (full - first) * (first + off + 1 + full + off) / 2;
  const Wide all = partial + (rows - full) * cols;
  SY_CHECK(all <= INT64_MAX / 16, Value,
           "[{}] row, col: the result is too large, got {} and {}", op, row,
           col);
  return static_cast<int64_t>(all);
}

struct Options {
  std::optional<ScalarType> dtype;
  std::optional<Layout> layout;
  std::optional<Device> device;
  std::optional<bool> pin_memory;
};

// Rows and columns of the elements of a triangle, for the lower one those at
// most `offset` right of the diagonal.
Tensor triangle_indices(const char* op, bool lower, int64_t row, int64_t col,
                        int64_t offset, const Options& o) {
  SY_CHECK(row >= 0, Value, "[{}] row: expected at least 0, got {}", op, row);
  SY_CHECK(col >= 0, Value, "[{}] col: expected at least 0, got {}", op, col);
  // An offset beyond these takes all or nothing.
  offset = std::clamp(offset, -row, col);
  int64_t n = 0;
  if (lower) {
    n = triangle(op, row, col, offset);
  } else {
    int64_t all = 0;
    SY_CHECK(!__builtin_mul_overflow(row, col, &all) && all <= INT64_MAX / 16,
             Value, "[{}] row, col: the result is too large, got {} and {}", op,
             row, col);
    n = all - triangle(op, row, col, offset - 1);
  }
  const int64_t sizes[] = {2, n};
  const Tensor out(make_tensor(sizes, kLong, Device(kCPU)));
  auto* rows = static_cast<int64_t*>(out.raw_data());
  auto* cols = rows + n;
  for (int64_t r = lower ? std::max<int64_t>(0, -offset) : 0, i = 0; i < n;
       ++r) {
    const int64_t begin = lower ? 0 : std::max<int64_t>(0, r + offset);
    const int64_t end = lower ? std::min(col, r + offset + 1) : col;
    for (int64_t c = begin; c < end; ++c, ++i) {
      rows[i] = r;
      cols[i] = c;
    }
  }
  const auto options = TensorOptions()
                           .dtype(o.dtype.value_or(kLong))
                           .layout(o.layout)
                           .device(o.device)
                           .pinned_memory(o.pin_memory);
  return out.to(options);
}

// A tensor to repeat along a dim; all elements in a row if no dim is given.
Tensor along(const Tensor& self, std::optional<int64_t> dim, int64_t* d) {
  *d = dim.has_value() ? wrap_dim("repeat_interleave", *dim, self.dim()) : 0;
  return dim.has_value() && self.dim() > 0 ? self : self.reshape({-1});
}

}  // namespace

Tensor& index_put_impl_(Tensor& self, OptionalTensors indices,
                        const Tensor& values, bool accumulate, bool) {
  self.index_put_(indices, values, accumulate);
  return self;
}

Tensor unsafe_masked_index(const Tensor& self, const Tensor& mask,
                           OptionalTensors indices, const Scalar& fill) {
  const auto list = clamped("_unsafe_masked_index", self, indices);
  const Tensor result = sy::index(self, list);
  return sy::masked_fill(result, sy::logical_not(mask), fill);
}

Tensor unsafe_masked_index_put_accumulate(const Tensor& self,
                                          const Tensor& mask,
                                          OptionalTensors indices,
                                          const Tensor& values) {
  const auto list =
      clamped("_unsafe_masked_index_put_accumulate", self, indices);
  if (self.numel() == 0) return self.clone();
  const Tensor kept =
      sy::masked_fill(values, sy::logical_not(mask), Scalar(false));
  return sy::index_put(self, list, kept, true);
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices,
                      std::optional<int64_t> dim) {
  SY_CHECK(indices.dtype() == kLong, Type,
           "[take_along_dim] indices: expected int64, got {}",
           describe(indices));
  if (!dim.has_value()) {
    return self.reshape({-1}).gather(0, indices.reshape({-1}));
  }
  SY_CHECK(
      self.dim() == indices.dim(), Value,
      "[take_along_dim] indices: expected {} dims, as many as self, got {}",
      self.dim(), describe(indices));
  const int64_t d = wrap_dim("take_along_dim", *dim, self.dim());
  if (self.dim() == 0) return self.gather(d, indices);
  Dims from(self.sizes()), at(indices.sizes());
  from[d] = at[d] = 1;
  Dims sizes = broadcast_sizes("take_along_dim", from, at);
  sizes[d] = self.size(d);
  const Tensor whole = self.expand(sizes);
  sizes[d] = indices.size(d);
  return whole.gather(d, indices.expand(sizes));
}

Tensor masked_scatter_backward(const Tensor& grad_output, const Tensor& mask,
                               IntArrayRef sizes) {
  const int64_t n = checked_numel("masked_scatter_backward", sizes);
  const Tensor used = sy::masked_select(grad_output, mask);
  const int64_t rest = n - used.numel();
  SY_CHECK(
      rest >= 0, Value,
      "[masked_scatter_backward] sizes: expected {} elements at least, got {}",
      used.numel(), sizes);
  if (rest == 0) return used.reshape(sizes);
  const Tensor zeros = sy::zeros({rest}, grad_output.options());
  return sy::cat({used, zeros}, 0).reshape(sizes);
}

Tensor repeat_interleave_tensor(const Tensor& self, const Tensor& repeats,
                                std::optional<int64_t> dim,
                                std::optional<int64_t> output_size) {
  int64_t d = 0;
  const Tensor input = along(self, dim, &d);
  SY_CHECK(repeats.dim() <= 1, Value,
           "[repeat_interleave] repeats: expected at most one dim, got {}",
           describe(repeats));
  const int64_t n = input.size(d);
  SY_CHECK(repeats.numel() == 1 || repeats.numel() == n, Value,
           "[repeat_interleave] repeats: expected {} numbers, one for each "
           "index of dim {}, got {}",
           n, d, repeats.numel());
  const Tensor each = repeats.reshape({-1}).expand({n});
  return input.index_select(d, sy::repeat_interleave(each, output_size));
}

Tensor repeat_interleave_int(const Tensor& self, int64_t repeats,
                             std::optional<int64_t> dim,
                             std::optional<int64_t> output_size) {
  int64_t d = 0;
  const Tensor input = along(self, dim, &d);
  SY_CHECK(repeats >= 0, Value,
           "[repeat_interleave] repeats: expected at least 0, got {}", repeats);
  int64_t total = 0;
  SY_CHECK(!__builtin_mul_overflow(repeats, input.size(d), &total), Value,
           "[repeat_interleave] repeats: the result is too large, got {}",
           repeats);
  SY_CHECK(output_size.value_or(total) == total, Value,
           "[repeat_interleave] output_size: expected {}, got {}", total,
           output_size.value_or(total));
  Dims sizes, merged(input.sizes());
  for (int64_t k = 0; k < input.dim(); ++k) {
    sizes.push_back(input.size(k));
    if (k == d) sizes.push_back(repeats);
  }
  merged[d] = total;
  const Tensor out =
      input.unsqueeze(d + 1).expand(sizes).clone(MemoryFormat::Contiguous);
  return out.view(merged);
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset,
                    std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory) {
  return triangle_indices("tril_indices", true, row, col, offset,
                          {dtype, layout, device, pin_memory});
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset,
                    std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory) {
  return triangle_indices("triu_indices", false, row, col, offset,
                          {dtype, layout, device, pin_memory});
}

namespace {

// Reading and writing by index, made of gather, scatter and scatter_reduce: for
// backends that have no kernels of their own for the rest.

void check_places(const char* op, const Tensor& places, int64_t n) {
  const Tensor wrong = sy::logical_or(places < 0, places >= n);
  SY_CHECK(!wrong.any().item<bool>(), Index,
           "[{}] indices: expected indices in [{}, {}]", op, -n, n - 1);
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

// The place in self, contiguous, as a vector, that each index points to. A mask
// stands for the places of its true elements.
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
      SY_CHECK(
          static_cast<int64_t>(at) < self.dim() &&
              self.sizes()[at] == i->size(d),
          Index,
          "[{}] indices: expected a mask of sizes that are those of {}, got {}",
          op, describe(self), describe(*i));
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
           "[masked_scatter] source: expected at least {} elements, one for "
           "each that is masked, got {}",
           wanted, source.numel());
  if (wanted == 0) return x.clone();
  const Tensor place =
      sy::clamp_min(sy::cumsum(chosen.to(kLong), 0) - 1, Scalar(0));
  const Tensor from = sy::gather(source.reshape(-1), 0, place);
  return sy::where(chosen, from, x.reshape(-1)).reshape(IntArrayRef(sizes));
}

Tensor repeat_interleave_by_search(const Tensor& repeats,
                                   std::optional<int64_t> output_size) {
  if (repeats.numel() == 0) return sy::empty_like(repeats);
  // The first sum that does not fit is negative.
  const Tensor ends = sy::cumsum(repeats, 0, kLong);
  if (sy::logical_or(repeats < 0, ends < 0).any().item<bool>()) {
    SY_CHECK((repeats < 0).sum().item<int64_t>() == 0, Value,
             "[repeat_interleave] repeats: expected no negative numbers");
    fail(ErrorKind::Value,
         "[repeat_interleave] repeats: the result is too large");
  }
  const auto total = ends.select(0, -1).item<int64_t>();
  SY_CHECK(!output_size || *output_size == total, Value,
           "[repeat_interleave] output_size: expected {}, got {}", total,
           *output_size);
  return sy::searchsorted(ends, sy::arange(total, ends.options()), false, true)
      .to(repeats.scalar_type());
}

}  // namespace sy::composite
