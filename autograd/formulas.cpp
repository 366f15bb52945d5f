#include "autograd/formulas.h"

#include <algorithm>
#include <vector>

#include "autograd/runtime_ops.h"
#include "c10/dispatch/dispatcher.h"

namespace sy::autograd {

namespace {

// Elements of storage from `offset` on that a tensor reaches.
int64_t reach(const Geometry& g) {
  // The strides of an empty one may be anything.
  for (size_t d = 0; d < g.sizes.size(); ++d) {
    if (g.sizes[d] == 0) return g.offset;
  }
  int64_t end = g.offset + 1;
  for (size_t d = 0; d < g.sizes.size(); ++d) {
    end += (g.sizes[d] - 1) * g.strides[d];
  }
  return end;
}

// False only if no two elements lie in one place: each dim steps over all that
// the faster ones reach. (Some layouts without overlap are not seen as such;
// the general way is right for them too.)
bool may_overlap(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<size_t> order;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return strides[a] < strides[b]; });
  int64_t end = 0;
  for (const size_t d : order) {
    if (strides[d] <= end) return true;
    end += (sizes[d] - 1) * strides[d];
  }
  return false;
}

// Adds `grad` element by element to where `sizes` and `strides` put it.
void add_overlapping(Tensor& storage, const Tensor& grad, IntArrayRef sizes,
                     IntArrayRef strides, int64_t offset) {
  static constinit KnownOperator<Tensor&(Tensor&, int64_t, const Tensor&,
                                         const Tensor&, const Scalar&)>
      index_add("aten::index_add_");
  Tensor index(make_tensor(sizes, kLong, Device(kCPU)));
  auto* at = static_cast<int64_t*>(index.raw_data());
  for (int64_t i = 0; i < index.numel(); ++i) {
    int64_t rest = i, place = offset;
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) {
      place += rest % sizes[d] * strides[d];
    }
    at[i] = place;
  }
  Tensor flat_index = rt::view(index, {index.numel()});
  if (!grad.device().is_cpu()) {
    flat_index = rt::to_device(flat_index, grad.device(), kLong);
  }
  index_add.call(storage, 0, flat_index, rt::reshape(grad, {grad.numel()}), 1);
}

}  // namespace

Tensor as_strided_backward(const Tensor& grad, const Geometry& base,
                           const Geometry& view) {
  const int64_t start = std::min(base.offset, view.offset);
  const int64_t length = std::max(reach(base), reach(view)) - start;
  // A dim of stride 0 shows one element many times: sum it away.
  std::vector<int64_t> repeated,
      sizes(view.sizes.data(), view.sizes.data() + view.sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (view.strides[d] == 0 && sizes[d] > 1) {
      repeated.push_back(static_cast<int64_t>(d));
      sizes[d] = 1;
    }
  }
  const Tensor shown = repeated.empty() ? grad : rt::sum(grad, repeated, true);
  Tensor storage = rt::zeros({length}, grad.scalar_type(), grad.device());
  if (shown.numel() != 0) {
    if (may_overlap(sizes, view.strides)) {
      add_overlapping(storage, shown, sizes, view.strides, view.offset - start);
    } else {
      Tensor slice =
          rt::as_strided(storage, sizes, view.strides, view.offset - start);
      rt::copy_(slice, shown);
    }
  }
  Tensor r =
      rt::as_strided(storage, base.sizes, base.strides, base.offset - start);
  // The elements of an expanded base share what belongs to one place.
  int64_t shares = 1;
  for (size_t d = 0; d < base.sizes.size(); ++d) {
    if (base.strides[d] == 0 && base.sizes[d] > 1) shares *= base.sizes[d];
  }
  return shares == 1 ? r : rt::mul(r, 1.0 / static_cast<double>(shares));
}

Tensor as_numbers(const Tensor& t, const Tensor& grad) {
  return t.scalar_type() == kBool ? rt::to_dtype(t, grad.scalar_type()) : t;
}

}  // namespace sy::autograd
