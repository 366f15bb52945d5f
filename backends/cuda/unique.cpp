#include <optional>
#include <tuple>

#include "aten/engine/dims.h"
#include "aten/engine/structured.h"
#include "aten/operators.h"
#include "aten/ops/unique.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/device/unique_params.cuh"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/sort.h"
#include "backends/cuda/support/compact.h"
#include "backends/cuda/support/key_kind.h"

// Elements are sorted, with where they were; the first of each run of equals
// begins a group. The host waits for the number of groups.

namespace sy::cuda {

namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

template <class T>
T* data(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.raw_data()) : nullptr;
}

// For each element its group, at the place where it was.
void number_groups(const KeyKind& kind, const CountedMask& starts,
                   const Tensor& order, const Tensor& to) {
  const int device = to.device().index();
  NumberGroupsParams p = {};
  p.n = to.numel();
  p.starts = data<unsigned char>(starts.mask);
  p.before = data<unsigned long long>(starts.before);
  p.order = data<long long>(order);
  p.groups = data<long long>(to);
  launch(device, kernel(device, "unique.cu", "number_groups", kind.all()),
         {{static_cast<unsigned>(starts.tiles)},
          {static_cast<unsigned>(kCompactThreads)}},
         p, {&starts.mask, &starts.before, &order, &to});
}

Three unique(const Tensor& self, bool in_order, bool return_inverse,
             bool return_counts) {
  const int64_t n = self.numel();
  const Tensor none = new_result(self, 0, kLong);
  if (n == 0) {
    return {new_result(self, 0, self.scalar_type()),
            return_inverse ? new_result(self, self.sizes(), kLong) : none,
            new_result(self, 0, kLong)};
  }
  const KeyKind kind = key_kind(self.scalar_type());
  const int device = self.device().index();
  const Tensor flat = contiguous_on_device(self).reshape({-1});
  Tensor x = flat, order;
  if (in_order) {
    x = Tensor();
    sort_rows(flat, n, false, &x, &order);
  }

  const Tensor starts = new_result(self, n, kBool);
  MarkStartsParams mark = {};
  mark.n = n;
  mark.in = x.raw_data();
  mark.starts = data<unsigned char>(starts);
  launch(device, kernel(device, "unique.cu", "mark_starts", kind.all()),
         shape_for(n, 256, 4), mark, {&x, &starts});
  const CountedMask counted = count_true(starts);
  const Tensor inverse =
      return_inverse ? new_result(self, self.sizes(), kLong) : none;
  if (return_inverse) number_groups(kind, counted, order, inverse);

  const int64_t groups = number_true(counted);
  const int64_t column[] = {groups, 1};
  const Tensor first = new_result(self, column, kLong);
  write_places(counted, first, /*all=*/true);
  const Tensor values = new_result(self, groups, self.scalar_type());
  const Tensor counts =
      return_counts ? new_result(self, groups, kLong) : Tensor();
  TakeGroupsParams take = {};
  take.n = n;
  take.groups = groups;
  take.in = x.raw_data();
  take.first = data<long long>(first);
  take.values = values.raw_data();
  take.counts = data<long long>(counts);
  launch(device, kernel(device, "unique.cu", "take_groups", kind.all()),
         shape_for(groups), take, {&x, &first, &values, &counts});
  return {values, inverse, return_counts ? counts : new_result(self, 0, kLong)};
}

}  // namespace

std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool,
                                   bool return_inverse) {
  auto [values, inverse, counts] = unique(self, true, return_inverse, false);
  return {values, inverse};
}

Three _unique2(const Tensor& self, bool, bool return_inverse,
               bool return_counts) {
  return unique(self, true, return_inverse, return_counts);
}

Three unique_consecutive(const Tensor& self, bool return_inverse,
                         bool return_counts, std::optional<int64_t> dim) {
  constexpr const char* kOp = "unique_consecutive";
  if (dim) {
    SY_CHECK(self.dim() > 0, Index,
             "[{}] dim: expected a tensor with dims, got none", kOp);
    const int64_t d = wrap_dim(kOp, *dim, self.dim());
    SY_CHECK(self.size(d) == 0 || self.numel() > 0, Value,
             "[{}] self: expected slices with elements, got sizes {}", kOp,
             self.sizes());
    if (self.dim() > 1) return sy::unique_dim_consecutive(self, d, true, true);
  }
  return unique(self, false, return_inverse, return_counts);
}

}  // namespace sy::cuda
