#include "aten/contract/index_list.h"
#include "aten/engine/apart.h"
#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "aten/engine/view.h"
#include "aten/ops/indexing.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/scatter.h"
#include "backends/cuda/support/compact.h"

namespace sy::cuda {

namespace {

constexpr int kIndexArgument = 1;  // of all that are here

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

Dims joined(const Dims& a, IntArrayRef b, const Dims& c) {
  Dims all = a;
  for (const int64_t v : b) all.push_back(v);
  for (const int64_t v : c) all.push_back(v);
  return all;
}

Dims zeros(int64_t n) {
  Dims d;
  for (int64_t i = 0; i < n; ++i) d.push_back(0);
  return d;
}

int64_t count_of(const IndexPlan& plan) { return product(plan.index); }
Dims result_sizes(const IndexPlan& plan) {
  return joined(plan.before, plan.index, plan.after);
}

// A mask that is the only index, and nothing if there is another.
const Tensor* only_mask(OptionalTensors indices) {
  const bool one = indices.size() == 1 && indices[0].has_value() &&
                   indices[0]->defined() && indices[0]->dtype() == kBool;
  return one ? &*indices[0] : nullptr;
}

bool is_mask(const Tensor& t) {
  return t.dtype() == kBool || t.dtype() == kByte;
}

// Each index with strides over the dims of all indices, and `around` others.
std::vector<IndexUse> uses_of(const char* op, const IndexPlan& plan,
                              int64_t before, int64_t after) {
  std::vector<IndexUse> uses;
  for (const IndexedDim& d : plan.dims) {
    IndexUse use;
    use.index = d.index;
    const Tensor all = expand_for_kernel(op, d.index, plan.index);
    use.strides = joined(zeros(before), all.strides(), zeros(after));
    use.low = -d.size;
    use.size = d.size;
    use.step = d.stride;
    uses.push_back(use);
  }
  return uses;
}

// Returns one IndexUse, over one dim, that stands for all indices.
IndexUse one_use(const char* op, const IndexPlan& plan, Device device) {
  const int64_t count = count_of(plan);
  IndexUse use;
  if (plan.dims.size() == 1 && plan.dims[0].index.is_contiguous()) {
    const IndexedDim& d = plan.dims[0];
    use.index = d.index;
    use.low = -d.size;
    use.size = d.size;
    use.step = d.stride;
  } else if (plan.dims.empty()) {
    use.index = empty_on(device, 1, kLong);
    fill(use.index, 0);
    use.size = kAnywhere;
  } else {
    use.index = fold_indices(device, plan.index, zeros(plan.index.size()),
                             uses_of(op, plan, 0, 0), kIndexArgument);
    use.size = kAnywhere;
    use.step = 1;
  }
  use.index = alias_without_view(use.index, count, int64_t{1},
                                 use.index.storage_offset());
  return use;
}

// `values` with one stride for all dims of the indices; a copy where there is
// none.
Source with_flat_index(const char* op, const Tensor& values,
                       const IndexPlan& plan) {
  Tensor all = expand_for_kernel(op, values, result_sizes(plan));
  const Dims sizes = joined(plan.before, count_of(plan), plan.after);
  Dims strides;
  if (!view_strides(all.sizes(), all.strides(), sizes, &strides)) {
    all = copy_of(all);
    strides.resize(sizes.size());
    contiguous_strides(sizes, strides.data());
  }
  return {all, strides};
}

void check_values(const char* op, const Tensor& values, const IndexPlan& plan) {
  const Dims sizes = result_sizes(plan);
  const int64_t extra = sizes.size() - values.dim();
  bool good = extra >= 0;
  for (int64_t d = 0; good && d < values.dim(); ++d) {
    const int64_t s = values.size(d);
    good = s == 1 || s == sizes[d + extra];
  }
  SY_CHECK(good, Value,
           "[{}] values: expected sizes that broadcast to those that are "
           "indexed, {}, got {}",
           op, IntArrayRef(sizes), values.sizes());
}

// Indices of elements that are counted in row-major order.
IndexUse flat_use(const Tensor& index, int64_t n, Device device) {
  const Tensor at = on_device(index, device);
  return {at, strides_of(at), -n, n, 1};
}

int64_t span_of(const TensorBase& t) {
  return static_cast<int64_t>(storage_span(t).bytes / t.itemsize());
}

void check_on_device(const char* op, const Tensor& self) {
  SY_CHECK(self.is_cuda(), Value,
           "[{}] self: expected a tensor on the device of the indices, got {}",
           op, describe(self));
}

}  // namespace

std::vector<std::optional<Tensor>> without_masks(const char* op,
                                                 const Tensor& self,
                                                 OptionalTensors indices) {
  std::vector<std::optional<Tensor>> list;
  for (const std::optional<Tensor>& i : indices) {
    if (!i.has_value() || !i->defined()) {
      list.push_back(i);
      continue;
    }
    SY_CHECK(i->is_cpu() || i->device() == self.device(), Value,
             "[{}] indices: expected a tensor on {}, got {}", op, self.device(),
             describe(*i));
    if (!is_mask(*i)) {
      list.emplace_back(on_device(*i, self.device()));
      continue;
    }
    SY_CHECK(i->dim() > 0, Index,
             "[{}] indices: expected a mask of at least one dim, got {}", op,
             describe(*i));
    const size_t first = list.size();
    for (int64_t d = 0; d < i->dim(); ++d) {
      const size_t at = first + static_cast<size_t>(d);
      SY_CHECK(at < self.sizes().size() && self.sizes()[at] == i->size(d),
               Index,
               "[{}] indices: expected a mask of the sizes of self, {}, from "
               "dim {} on, got {}",
               op, self.sizes(), first, i->sizes());
    }
    const Tensor all = nonzero(on_device(*i, self.device()));
    for (int64_t d = 0; d < i->dim(); ++d) {
      const int64_t rows = all.size(0), step = i->dim();
      list.emplace_back(alias_without_view(all, rows, step, d));
    }
  }
  return list;
}

Tensor index_Tensor(const Tensor& given, OptionalTensors indices) {
  Tensor self = given;
  if (self.is_cpu()) self = copy_of(self);
  const Tensor* const mask = only_mask(indices);
  if (mask != nullptr && mask->dim() > 0 && mask->sizes() == self.sizes()) {
    return masked_select(self, *mask);
  }
  const auto list = without_masks("index", self, indices);
  const IndexPlan plan = plan_index("index", self, list);
  const Tensor out = empty_on(self.device(), result_sizes(plan), self.dtype());
  if (out.numel() == 0) return out;
  if (plan.dims.empty()) {
    copy_strided(out, self);
    return out;
  }
  const Dims sizes = joined(plan.before, plan.index, plan.after);
  read_at({sizes, &out, Dims(out.strides()), &self,
           joined(plan.before_strides, zeros(plan.index.size()),
                  plan.after_strides),
           uses_of("index", plan, plan.before.size(), plan.after.size()),
           kIndexArgument});
  return out;
}

Tensor& index_put_(Tensor& self, OptionalTensors indices,
                   const Tensor& given_values, bool accumulate) {
  check_on_device("index_put", self);
  const Tensor* const mask = only_mask(indices);
  if (mask != nullptr && mask->dim() > 0 && mask->sizes() == self.sizes() &&
      given_values.dim() == 0 && !accumulate) {
    const Tensor where = on_device(*mask, self.device());
    return sy::masked_fill_out(self, self, where, given_values);
  }
  auto list = without_masks("index_put", self, indices);
  for (auto& i : list) {
    if (i.has_value() && i->defined()) *i = generated::apart(*i, self);
  }
  const IndexPlan plan = plan_index("index_put", self, list);
  check_values("index_put", given_values, plan);
  const Dims sizes = joined(plan.before, count_of(plan), plan.after);
  if (product(sizes) == 0) return self;
  const Tensor values =
      generated::apart(on_device(given_values, self.device()), self);
  Route r;
  r.op = "index_put";
  r.sizes = sizes;
  r.dim = plan.before.size();
  r.argument = kIndexArgument;
  r.at = one_use("index_put", plan, self.device());
  r.at.strides = zeros(sizes.size());
  r.at.strides[r.dim] = 1;
  const int64_t none = 0;
  r.to_strides =
      joined(plan.before_strides, IntArrayRef(none), plan.after_strides);
  r.span = span_of(self);
  const Source from = with_flat_index("index_put", values, plan);
  if (!accumulate) {
    assign(r, self, from);
  } else {
    join(r, self, from, kJoinAdd, {});
  }
  return self;
}

Tensor index_put(const Tensor& self, OptionalTensors indices,
                 const Tensor& values, bool accumulate) {
  Tensor out = copy_of(self);
  return index_put_(out, indices, values, accumulate);
}

Tensor take(const Tensor& given, const Tensor& index) {
  const Tensor self = contiguous_on_device(on_device(given, index.device()));
  const Tensor out = empty_on(self.device(), index.sizes(), self.dtype());
  if (out.numel() == 0) return out;
  check_not_empty("take", self.numel());
  const Dims sizes = sizes_of(out);
  read_at({sizes,
           &out,
           strides_of(out),
           &self,
           zeros(sizes.size()),
           {flat_use(index, self.numel(), self.device())},
           kIndexArgument});
  return out;
}

Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source,
             bool accumulate) {
  check_on_device("put", self);
  assert_no_internal_overlap("put_", "self", self);
  const int64_t n = index.numel();
  if (n == 0) return self;
  check_not_empty("put", self.numel());
  const Tensor out = contiguous_on_device(self);
  const auto row = [&](const Tensor& t) {
    const Tensor all = contiguous_on_device(
        generated::apart(on_device(t, self.device()), self));
    return alias_without_view(all, n, int64_t{1}, all.storage_offset());
  };
  Route r;
  r.op = "put";
  r.sizes = Dims(IntArrayRef(n));
  r.argument = kIndexArgument;
  r.at = flat_use(row(index), self.numel(), self.device());
  r.to_strides = zeros(1);
  r.span = self.numel();
  const Tensor from = row(source);
  if (!accumulate) {
    assign(r, out, {from, Dims(from.strides())});
  } else {
    join(r, out, {from, Dims(from.strides())}, kJoinAdd, {});
  }
  if (!out.is_same(self)) copy_strided(self, out);
  return self;
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source,
           bool accumulate) {
  Tensor out = copy_of(self);
  return put_(out, index, source, accumulate);
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  const Device device = self.is_cpu() ? mask.device() : self.device();
  const Dims sizes =
      broadcast_sizes("masked_select", self.sizes(), mask.sizes());
  const CountedMask where = count_true(
      expand_for_kernel("masked_select", on_device(mask, device), sizes));
  const Tensor out = empty_on(device, number_true(where), self.dtype());
  if (out.numel() == 0) return out;
  select_true(
      where, expand_for_kernel("masked_select", on_device(self, device), sizes),
      out);
  return out;
}

Tensor& masked_scatter_(Tensor& self, const Tensor& mask,
                        const Tensor& source) {
  check_on_device("masked_scatter", self);
  const CountedMask where = count_true(expand_for_kernel(
      "masked_scatter", generated::apart(on_device(mask, self.device()), self),
      self.sizes()));
  const int64_t wanted = number_true(where);
  SY_CHECK(wanted <= source.numel(), Value,
           "[masked_scatter] source: expected at least {} elements, as many as "
           "the mask is true for, got {}",
           wanted, describe(source));
  if (wanted == 0) return self;
  spread_true(where,
              contiguous_on_device(
                  generated::apart(on_device(source, self.device()), self)),
              self);
  return self;
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask,
                      const Tensor& source) {
  const Dims sizes =
      broadcast_sizes("masked_scatter", self.sizes(), mask.sizes());
  const Tensor x =
      self.is_cpu()
          ? on_device(self, source.is_cpu() ? mask.device() : source.device())
          : self;
  Tensor out = empty_on(x.device(), sizes, x.dtype());
  copy_strided(out, expand_for_kernel("masked_scatter", x, sizes));
  return masked_scatter_(out, mask, source);
}

}  // namespace sy::cuda
