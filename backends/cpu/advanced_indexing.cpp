#include "aten/contract/index_list.h"

#include <algorithm>
#include <cstring>

#include "aten/engine/copy.h"
#include "aten/engine/view.h"
#include "aten/ops/indexing.h"
#include "backends/cpu/advanced_indexing_kernels_gen.h"
#include "backends/cpu/engine/scatter.h"
#include "backends/cpu/indexing.h"
#include "backends/cpu/support/dtype_switch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

Dims joined(const Dims& a, int64_t b, const Dims& c) {
  Dims all = a;
  all.push_back(b);
  for (const int64_t v : c) all.push_back(v);
  return all;
}

Dims only(int64_t at, int64_t value, int64_t ndim) {
  Dims d;
  for (int64_t i = 0; i < ndim; ++i) d.push_back(i == at ? value : 0);
  return d;
}

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

bool is_row(const Dims& sizes, const Dims& strides) {
  int64_t expected = 1;
  for (int64_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

// The distance of element i of dims with these strides.
int64_t distance(const Dims& sizes, const Dims& strides, int64_t i) {
  int64_t sum = 0;
  for (int64_t d = sizes.size(); d-- > 0;) {
    sum += i % sizes[d] * strides[d];
    i /= sizes[d];
  }
  return sum;
}

// Rows of `row` bytes, each in one piece in self and in out.
void read_rows(const Tensor& self, const IndexPlan& plan,
               const int64_t* offsets, int64_t row, char* to) {
  const auto* const base = static_cast<const char*>(self.raw_data());
  const auto item = static_cast<int64_t>(self.itemsize());
  const int64_t n = plan.count();
  parallel_for(
      0, product(plan.before) * n, std::max<int64_t>(1, 4 * kIndexGrain / row),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end;) {
          const char* const from =
              base + item * distance(plan.before, plan.before_strides, i / n);
          const int64_t stop = std::min(end, (i / n + 1) * n);
          for (int64_t k = i % n; i < stop; ++i, ++k) {
            std::memcpy(to + i * row, from + offsets[k],
                        static_cast<size_t>(row));
          }
        }
      });
}

// `values` with one stride for all dims of the indices; a copy where there is
// none.
Tensor with_flat_index(const char* op, const Tensor& values,
                       const IndexPlan& plan) {
  Tensor all = expand_for_kernel(op, values, plan.result_sizes());
  const Dims sizes = joined(plan.before, plan.count(), plan.after);
  Dims strides;
  if (!view_strides(all.sizes(), all.strides(), sizes, &strides)) {
    all = contiguous_cpu(all);
    strides.resize(sizes.size());
    contiguous_strides(sizes, strides.data());
  }
  return alias_without_view(all, sizes, strides, all.storage_offset());
}

void check_values(const char* op, const Tensor& values, const IndexPlan& plan) {
  const Dims sizes = plan.result_sizes();
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

const int64_t* data_of(const Tensor& t) {
  return static_cast<const int64_t*>(t.raw_data());
}

// The distance of elements that are counted in row-major order.
Tensor flat_offsets(const char* op, const Tensor& self, const Tensor& index) {
  const Tensor all = contiguous_cpu(index, kLong);
  const auto* const p = data_of(all);
  const int64_t count = all.numel(), n = self.numel();
  const Tensor out(make_tensor(all.sizes(), kLong, Device(kCPU)));
  auto* const to = static_cast<int64_t*>(out.raw_data());
  const bool direct = self.is_contiguous();
  const Dims sizes(self.sizes()), strides(self.strides());
  parallel_for(0, count, kIndexGrain, [&](int64_t begin, int64_t end) {
    bool good = true;
    for (int64_t i = begin; i < end; ++i) {
      to[i] = p[i] + (p[i] < 0 ? n : 0);
      good &= static_cast<uint64_t>(to[i]) < static_cast<uint64_t>(n);
    }
    for (int64_t i = begin; !good && i < end; ++i) {
      SY_CHECK(p[i] >= -n && p[i] < n, Index,
               "[{}] index: expected indices in [{}, {}] of a tensor of {} "
               "elements, got {}",
               op, -n, n - 1, n, p[i]);
    }
    for (int64_t i = begin; !direct && i < end; ++i) {
      to[i] = distance(sizes, strides, to[i]);
    }
  });
  return out;
}

// A mask that is the only index, and nothing if there is another.
const Tensor* only_mask(OptionalTensors indices) {
  const bool one = indices.size() == 1 && indices[0].has_value() &&
                   indices[0]->defined() && indices[0]->dtype() == kBool;
  return one ? &*indices[0] : nullptr;
}

}  // namespace

Tensor index_tensor(const Tensor& self, OptionalTensors indices) {
  const Tensor* const mask = only_mask(indices);
  if (mask != nullptr && mask->dim() > 0 && mask->sizes() == self.sizes()) {
    return masked_select(self, *mask);
  }
  const IndexPlan plan = plan_index("index", self, indices);
  const Tensor out(
      make_tensor(plan.result_sizes(), self.dtype(), Device(kCPU)));
  if (out.numel() == 0) return out;
  const auto item = static_cast<int64_t>(self.itemsize());
  const Tensor offsets = index_offsets("index", plan, item);
  const int64_t row = product(plan.after) * item;
  if (row >= 64 && is_row(plan.after, plan.after_strides)) {
    read_rows(self, plan, data_of(offsets), row,
              static_cast<char*>(out.raw_data()));
    return out;
  }
  const Dims sizes = joined(plan.before, plan.count(), plan.after);
  Dims to;
  to.resize(sizes.size());
  contiguous_strides(sizes, to.data());
  gather(self.itemsize(),
         {sizes, self.raw_data(),
          joined(plan.before_strides, 0, plan.after_strides), data_of(offsets),
          only(plan.before.size(), 1, sizes.size()), 1, out.raw_data(), to});
  return out;
}

void index_put_out(const Tensor& self, OptionalTensors indices,
                   const Tensor& values, bool accumulate, const Tensor& out) {
  const Tensor* const mask = only_mask(indices);
  if (mask != nullptr && mask->dim() > 0 && mask->sizes() == self.sizes() &&
      values.dim() == 0 && !accumulate) {
    start_result(out, self);
    Tensor written = out;
    sy::masked_fill_out(written, out, *mask, values);
    return;
  }
  // The indices are those of out, which has the sizes of self.
  const IndexPlan plan = plan_index("index_put", out, indices);
  check_values("index_put", values, plan);
  const Dims sizes = joined(plan.before, plan.count(), plan.after);
  const bool nothing = product(sizes) == 0;
  Tensor offsets, from;
  if (!nothing) {
    offsets =
        index_offsets("index_put", plan, static_cast<int64_t>(out.itemsize()));
    from = with_flat_index("index_put", values, plan);
  }
  start_result(out, self);
  if (nothing) return;
  const int64_t dim = plan.before.size();
  scatter("index_put", out.dtype(),
          {sizes, dim, data_of(offsets), only(dim, 1, sizes.size()), 1,
           from.raw_data(), strides_of(from), out.raw_data(),
           joined(plan.before_strides, 0, plan.after_strides)},
          accumulate ? Join::Add : Join::Assign);
}

void take_out(const Tensor& self, const Tensor& index, const Tensor& out) {
  const Tensor offsets = flat_offsets("take", self, index);
  if (out.numel() == 0) return;
  const Dims sizes = sizes_of(out);
  gather(self.itemsize(),
         {sizes, self.raw_data(), only(-1, 0, sizes.size()), data_of(offsets),
          strides_of(offsets), static_cast<int64_t>(self.itemsize()),
          out.raw_data(), strides_of(out)});
}

void put_out(const Tensor& self, const Tensor& index, const Tensor& source,
             bool accumulate, const Tensor& out) {
  const Tensor offsets = flat_offsets("put", out, index);
  const Tensor from = contiguous_cpu(source);
  start_result(out, self);
  if (index.numel() == 0) return;
  const Dims n = only(0, index.numel(), 1), one = only(0, 1, 1);
  scatter("put", out.dtype(),
          {n, 0, data_of(offsets), one, static_cast<int64_t>(out.itemsize()),
           from.raw_data(), one, out.raw_data(), only(0, 0, 1)},
          accumulate ? Join::Add : Join::Assign);
}

Tensor repeat_interleave(const Tensor& repeats,
                         std::optional<int64_t> output_size) {
  const Tensor all = contiguous_cpu(repeats, kLong);
  const int64_t* const p = data_of(all);
  int64_t total = 0;
  for (int64_t i = 0; i < all.numel(); ++i) {
    SY_CHECK(p[i] >= 0, Value,
             "[repeat_interleave] repeats: expected non-negative numbers, got "
             "{} at {}",
             p[i], i);
    SY_CHECK(!__builtin_add_overflow(total, p[i], &total), Value,
             "[repeat_interleave] repeats: the result is too large");
  }
  SY_CHECK(output_size.value_or(total) == total, Value,
           "[repeat_interleave] output_size: expected {}, the sum of repeats, "
           "got {}",
           total, output_size.value_or(total));
  const int64_t sizes[] = {total};
  const Tensor out(make_tensor(sizes, repeats.dtype(), Device(kCPU)));
  const auto fill = [&]<class T>(T* to) {
    for (int64_t i = 0; i < all.numel(); ++i) {
      to = std::fill_n(to, p[i], static_cast<T>(i));
    }
  };
  if (repeats.dtype() == kInt) {
    fill(static_cast<int32_t*>(out.raw_data()));
  } else {
    fill(static_cast<int64_t*>(out.raw_data()));
  }
  return out;
}

}  // namespace sy::cpu
