#include "aten/engine/guard.h"

#include <algorithm>
#include <vector>

namespace sy {

namespace {

struct Span {
  const char* begin;
  const char* end;
};

// The bytes from the lowest to behind the highest; strides are not negative.
Span memory_span(const TensorBase& t) {
  int64_t last = 0;
  for (int64_t d = 0; d < t.dim(); ++d) {
    last += (t.sizes()[d] - 1) * t.strides()[d];
  }
  // Tensors without memory (Meta) are compared by offsets alone.
  const auto item = static_cast<int64_t>(t.itemsize());
  const char* base = static_cast<const char*>(t.storage()->data());
  return {base + t.storage_offset() * item,
          base + (t.storage_offset() + last + 1) * item};
}

bool same_geometry(const TensorBase& a, const TensorBase& b) {
  return a.storage() == b.storage() &&
         a.storage_offset() == b.storage_offset() && a.dtype() == b.dtype() &&
         a.sizes() == b.sizes() && a.strides() == b.strides();
}

// Whether some k, with -high < k[d] < low for the sizes `low` and `high`, has
// the sum of k[d] * strides[d] = distance. Strides descend. Gives up, with
// true, when `steps` are used up.
bool meet(int64_t distance, const int64_t* strides, const int64_t* low,
          const int64_t* high, int n, int* steps) {
  if (n == 0) return distance == 0;
  if (--*steps < 0) return true;
  int64_t below = 0, above = 0;  // what the smaller strides reach
  for (int d = 1; d < n; ++d) {
    below += (low[d] - 1) * strides[d];
    above += (high[d] - 1) * strides[d];
  }
  for (int64_t k = -(low[0] - 1); k < high[0]; ++k) {
    const int64_t rest = distance - k * strides[0];
    if (rest < -below) break;
    if (rest > above) {
      // Skips to the first k that may do.
      k += (rest - above + strides[0] - 1) / strides[0] - 1;
      continue;
    }
    if (meet(rest, strides + 1, low + 1, high + 1, n - 1, steps)) return true;
  }
  return false;
}

// Whether two tensors of one storage and the same strides may have an element
// in common: halves of one tensor's columns have none.
bool elements_meet(const TensorBase& a, const TensorBase& b) {
  constexpr int kSteps = 256;
  if (a.dtype() != b.dtype() || a.strides() != b.strides()) return true;
  uint8_t order[TensorImpl::kMaxDims];
  int n = 0;
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] == 1 && b.sizes()[d] == 1) continue;
    if (a.strides()[d] == 0) return true;
    order[n++] = static_cast<uint8_t>(d);
  }
  std::sort(order, order + n, [&](uint8_t x, uint8_t y) {
    return a.strides()[x] > a.strides()[y];
  });
  int64_t strides[TensorImpl::kMaxDims], low[TensorImpl::kMaxDims],
      high[TensorImpl::kMaxDims];
  for (int i = 0; i < n; ++i) {
    strides[i] = a.strides()[order[i]];
    low[i] = b.sizes()[order[i]];
    high[i] = a.sizes()[order[i]];
  }
  int steps = kSteps;
  return meet(b.storage_offset() - a.storage_offset(), strides, low, high, n,
              &steps);
}

}  // namespace

Device check_same_device(const char* op, const TensorBase* const* tensors,
                         size_t n) {
  Device device;
  const TensorBase* first = nullptr;
  for (size_t i = 0; i < n; ++i) {
    const TensorBase* t = tensors[i];
    if (t == nullptr || !t->defined()) continue;
    const Device d = t->device();
    if (first == nullptr) {
      first = t;
      device = d;
    } else if (d != device) {
      if (d.is_cpu() && t->dim() == 0) continue;
      SY_CHECK(device.is_cpu() && first->dim() == 0, Value,
               "[{}] expected all tensors on one device, got {} and {}", op,
               device, d);
      first = t;
      device = d;
    }
  }
  return device;
}

void check_defined(const char* op, const char* argument, const TensorBase& t) {
  SY_CHECK(t.defined(), Value,
           "[{}] {}: expected a tensor, got an undefined one", op, argument);
}

void check_dtype(const char* op, const char* argument, const TensorBase& t,
                 ScalarType dtype) {
  check_defined(op, argument, t);
  SY_CHECK(t.dtype() == dtype, Type, "[{}] {}: expected {}, got {}", op,
           argument, dtype, describe(t));
}

void check_dim(const char* op, const char* argument, const TensorBase& t,
               int64_t dim) {
  check_defined(op, argument, t);
  SY_CHECK(t.dim() == dim, Value, "[{}] {}: expected {} dims, got {}", op,
           argument, dim, describe(t));
}

Overlap internal_overlap(const TensorBase& t) {
  if (t.is_contiguous() || t.is_non_overlapping_and_dense()) {
    return Overlap::No;
  }
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (t.strides()[d] == 0 && t.sizes()[d] > 1) return Overlap::Yes;
  }
  // Each stride steps over all that the smaller ones reach: no overlap.
  uint8_t order[TensorImpl::kMaxDims];
  int n = 0;
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    if (t.sizes()[d] > 1) order[n++] = static_cast<uint8_t>(d);
  }
  std::sort(order, order + n, [&](uint8_t a, uint8_t b) {
    return t.strides()[a] < t.strides()[b];
  });
  int64_t reach = 0;
  for (int i = 0; i < n; ++i) {
    if (t.strides()[order[i]] <= reach) return Overlap::TooHard;
    reach += (t.sizes()[order[i]] - 1) * t.strides()[order[i]];
  }
  return Overlap::No;
}

Sharing sharing(const TensorBase& a, const TensorBase& b) {
  if (a.is_same(b)) return Sharing::Full;
  if (a.storage() != b.storage() || a.numel() == 0 || b.numel() == 0) {
    return Sharing::None;
  }
  if (same_geometry(a, b)) return Sharing::Full;
  const Span x = memory_span(a), y = memory_span(b);
  if (x.end <= y.begin || y.end <= x.begin) return Sharing::None;
  if (!a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) {
    return elements_meet(a, b) ? Sharing::TooHard : Sharing::None;
  }
  // The same dense memory in the same order is element by element, however the
  // dims of size 1 are written.
  if (x.begin == y.begin && x.end == y.end && a.dtype() == b.dtype() &&
      a.is_contiguous() && b.is_contiguous()) {
    return Sharing::Full;
  }
  return Sharing::Partial;
}

void assert_no_internal_overlap(const char* op, const char* argument,
                                const TensorBase& t) {
  if (SY_LIKELY(t.is_contiguous())) return;
  SY_CHECK(internal_overlap(t) != Overlap::Yes, Value,
           "[{}] {}: expected a tensor whose elements have memory of their "
           "own, got {} with strides {}; clone() it before writing",
           op, argument, describe(t), t.strides());
}

void assert_no_partial_overlap(const char* op, const TensorBase& out,
                               const char* argument, const TensorBase& in) {
  if (out.storage() != in.storage()) return;
  SY_CHECK(sharing(out, in) != Sharing::Partial, Value,
           "[{}] {}: expected memory apart from the result's or all of it, got "
           "a part of it; clone() it before",
           op, argument);
}

void assert_no_overlap(const char* op, const TensorBase& out,
                       const char* argument, const TensorBase& in) {
  if (out.storage() != in.storage()) return;
  const Sharing s = sharing(out, in);
  SY_CHECK(s == Sharing::None || s == Sharing::TooHard, Value,
           "[{}] {}: expected memory apart from the result's, got a tensor "
           "that shares it; clone() it before",
           op, argument);
}

void check_can_cast(const char* op, const char* argument, ScalarType from,
                    ScalarType to) {
  SY_CHECK(can_cast(from, to), Type,
           "[{}] {}: expected a dtype that {} can be cast to, got {}", op,
           argument, from, to);
}

void check_room(const TensorBase& t, IntArrayRef last) {
  std::vector<int64_t> sizes = t.sizes().vec();
  std::copy(last.begin(), last.end(),
            sizes.end() - static_cast<int64_t>(last.size()));
  make_tensor(sizes, t.dtype(), t.device());
}

bool resize_output(const char* op, Tensor& out, IntArrayRef sizes) {
  if (SY_LIKELY(out.sizes() == sizes)) return false;
  checked_numel(op, sizes, out.itemsize());
  out.impl()->resize(sizes);
  return true;
}

}  // namespace sy
