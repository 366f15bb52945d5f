#include "aten/contract/index_list.h"

#include <algorithm>

#include "aten/engine/copy.h"
#include "aten/engine/view.h"
#include "c10/process/parallel.h"

namespace sy {

namespace {

constexpr int64_t kGrain = 32768;

Tensor int64_vector(int64_t n) {
  const int64_t sizes[] = {n};
  return Tensor(make_tensor(sizes, kLong, Device(kCPU)));
}

int64_t* data_of(const Tensor& t) {
  return static_cast<int64_t*>(t.raw_data());
}

bool is_mask(const Tensor& t) {
  return t.dtype() == kBool || t.dtype() == kByte;
}

void check_index(const char* op, const Tensor& self, const Tensor& index) {
  SY_CHECK(index.defined() && (is_mask(index) || index.dtype() == kLong ||
                               index.dtype() == kInt),
           Index,
           "[{}] indices: expected int64, int32, bool or uint8 tensors, got {}",
           op, index.defined() ? describe(index) : "an undefined one");
  SY_CHECK(index.device() == self.device() || index.is_cpu(), Value,
           "[{}] indices: expected a tensor on {}, got {}", op, self.device(),
           describe(index));
}

void check_mask(const char* op, const Tensor& self, const Tensor& mask,
                int64_t dim) {
  SY_CHECK(mask.dim() > 0, Index,
           "[{}] indices: expected a mask of at least one dim, got {}", op,
           describe(mask));
  SY_CHECK(!mask.is_meta(), NotImplemented,
           "[{}] indices: a mask without data says no sizes, got {}", op,
           describe(mask));
  for (int64_t d = 0; d < mask.dim() && dim + d < self.dim(); ++d) {
    SY_CHECK(mask.size(d) == self.size(dim + d), Index,
             "[{}] indices: expected a mask of the sizes of self, {}, from dim "
             "{} on, got {}",
             op, self.sizes(), dim, mask.sizes());
  }
}

// Adds stride * index to every element of `out`; the indices broadcast.
void add_offsets(const char* op, const IndexedDim& d, IntArrayRef sizes,
                 int64_t unit, bool first, const Tensor& out) {
  Tensor index = d.index;
  if (index.sizes() != sizes) index = expand_for_kernel(op, index, sizes);
  index = contiguous_cpu(index, kLong);
  const int64_t* const p = data_of(index);
  int64_t* const to = data_of(out);
  const int64_t n = d.size;
  // Unsigned, as indices are checked after.
  const auto step = static_cast<uint64_t>(d.stride * unit);
  parallel_for(0, out.numel(), kGrain, [&](int64_t begin, int64_t end) {
    uint64_t wrong = 0;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t k = p[i] + (p[i] < 0 ? n : 0);
      wrong |= static_cast<uint64_t>(k) >= static_cast<uint64_t>(n);
      const uint64_t before = first ? 0 : static_cast<uint64_t>(to[i]);
      to[i] = static_cast<int64_t>(before + static_cast<uint64_t>(k) * step);
    }
    if (SY_LIKELY(wrong == 0)) return;
    for (int64_t i = begin;; ++i) {
      SY_CHECK(p[i] >= -n && p[i] < n, Index,
               "[{}] indices: expected indices in [{}, {}] for dim {} of size "
               "{}, got {}",
               op, -n, n - 1, d.dim, n, p[i]);
    }
  });
}

}  // namespace

std::vector<Tensor> mask_indices(const Tensor& mask) {
  const Tensor all = contiguous_cpu(mask, kBool);
  const auto* const p = static_cast<const bool*>(all.raw_data());
  const int64_t n = all.numel();
  const auto count = static_cast<int64_t>(std::count(p, p + n, true));
  std::vector<Tensor> places;
  for (int64_t d = 0; d < mask.dim(); ++d) {
    places.push_back(int64_vector(count));
  }
  if (places.empty()) return places;
  int64_t* const flat = data_of(places[0]);
  // Every number is written, and stays if the next is not put in its place.
  for (int64_t i = 0, k = 0; k < count; ++i) {
    flat[k] = i;
    k += p[i];
  }
  // The first becomes the row of each place, from the last dim on.
  for (int64_t d = mask.dim() - 1; d > 0; --d) {
    const int64_t size = mask.size(d);
    int64_t* const to = data_of(places[static_cast<size_t>(d)]);
    for (int64_t i = 0; i < count; ++i) {
      to[i] = flat[i] % size;
      flat[i] /= size;
    }
  }
  return places;
}

int64_t IndexPlan::count() const {
  int64_t n = 1;
  for (const int64_t s : index) n *= s;
  return n;
}

Dims IndexPlan::result_sizes() const {
  Dims sizes = before;
  for (const int64_t s : index) sizes.push_back(s);
  for (const int64_t s : after) sizes.push_back(s);
  return sizes;
}

IndexPlan plan_index(const char* op, const Tensor& self,
                     OptionalTensors indices) {
  IndexPlan plan;
  int64_t dim = 0;
  const auto add = [&](const Tensor& index) {
    SY_CHECK(dim < self.dim(), Index,
             "[{}] indices: expected at most {} indices for {}, got more", op,
             self.dim(), describe(self));
    plan.dims.push_back({index, dim, self.sizes()[static_cast<size_t>(dim)],
                         self.strides()[static_cast<size_t>(dim)]});
    ++dim;
  };
  for (const std::optional<Tensor>& index : indices) {
    if (!index.has_value()) {
      SY_CHECK(dim < self.dim(), Index,
               "[{}] indices: expected at most {} indices for {}, got more", op,
               self.dim(), describe(self));
      ++dim;
      continue;
    }
    check_index(op, self, *index);
    if (!is_mask(*index)) {
      add(*index);
      continue;
    }
    check_mask(op, self, *index, dim);
    for (const Tensor& t : mask_indices(*index)) add(t);
  }
  for (const IndexedDim& d : plan.dims) {
    try {
      plan.index = broadcast_sizes(op, plan.index, d.index.sizes());
    } catch (Error&) {
      fail(ErrorKind::Index,
           "[{}] indices: expected sizes that broadcast, got {} and {}", op,
           IntArrayRef(plan.index), d.index.sizes());
    }
  }
  const auto indexed = static_cast<int64_t>(plan.dims.size());
  const bool neighbours =
      indexed != 0 &&
      plan.dims.back().dim - plan.dims.front().dim == indexed - 1;
  size_t next = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (next < plan.dims.size() && plan.dims[next].dim == d) {
      ++next;
      continue;
    }
    const bool front = neighbours && next == 0;
    (front ? plan.before : plan.after)
        .push_back(self.sizes()[static_cast<size_t>(d)]);
    (front ? plan.before_strides : plan.after_strides)
        .push_back(self.strides()[static_cast<size_t>(d)]);
  }
  static_cast<void>(checked_numel(op, plan.result_sizes(), self.itemsize()));
  const int64_t count = plan.count();
  for (const IndexedDim& d : plan.dims) {
    SY_CHECK(d.size != 0 || count == 0, Index,
             "[{}] indices: expected no indices for dim {} of size 0, got {}",
             op, d.dim, count);
  }
  return plan;
}

Tensor index_offsets(const char* op, const IndexPlan& plan, int64_t unit) {
  Tensor out = int64_vector(plan.count());
  if (plan.dims.empty()) data_of(out)[0] = 0;
  bool first = true;
  for (const IndexedDim& d : plan.dims) {
    add_offsets(op, d, plan.index, unit, first, out);
    first = false;
  }
  return out;
}

}  // namespace sy
