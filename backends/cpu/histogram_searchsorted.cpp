#include <algorithm>

#include "aten/engine/copy.h"
#include "aten/result_type.h"
#include "backends/cpu/histogram_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/rows.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 4096;

// The first place whose element is not less than v (right: is greater); that
// of NaN is the end. `order`: the places of the elements, or null. No branch
// depends on the elements.
template <bool kRight, class T>
int64_t place_of(const T* row, const int64_t* order, int64_t n, T v) {
  const auto is_before = [&](int64_t i) -> int64_t {
    const T x = row[order == nullptr ? i : order[i]];
    return kRight ? !(x > v) : !(x >= v);
  };
  if (n == 0) return 0;
  int64_t begin = 0;
  while (n > 1) {
    const int64_t half = n / 2;
    begin += is_before(begin + half - 1) * half;
    n -= half;
  }
  return begin + is_before(begin);
}

Tensor checked_sorter(const Tensor& sequence,
                      const std::optional<Tensor>& sorter) {
  if (!sorter || !sorter->defined()) return {};
  SY_CHECK(sorter->dtype() == kLong, Type,
           "[searchsorted] sorter: expected int64 indices, got {}",
           sorter->dtype());
  SY_CHECK(sorter->sizes() == sequence.sizes(), Value,
           "[searchsorted] sorter: expected the sizes of sorted_sequence, {}, "
           "got {}",
           sequence.sizes(), sorter->sizes());
  const Tensor order = contiguous_cpu(*sorter);
  const auto* p = static_cast<const int64_t*>(order.raw_data());
  const int64_t n = sequence.size(-1);
  for (int64_t i = 0; i < order.numel(); ++i) {
    SY_CHECK(p[i] >= 0 && p[i] < n, Index,
             "[searchsorted] sorter: expected indices in [0, {}], got {}",
             n - 1, p[i]);
  }
  return order;
}

void search(const Tensor& sequence, const Tensor& values, ScalarType dtype,
            bool right, const std::optional<Tensor>& sorter,
            const Tensor& out) {
  const Tensor order = checked_sorter(sequence, sorter);
  if (out.numel() == 0) return;
  const Tensor rows = contiguous_cpu(sequence, dtype);
  const Tensor x = contiguous_cpu(values, dtype);
  const RowsOut places(out, std::nullopt);
  const int64_t n = sequence.size(-1);
  // Values for each row; all of them for a vector.
  const int64_t width = sequence.dim() == 1 ? x.numel() : values.size(-1);
  const auto* at =
      order.defined() ? static_cast<const int64_t*>(order.raw_data()) : nullptr;
  visit_all_dtypes("searchsorted", dtype, [&]<class T>() {
    const auto* data = static_cast<const T*>(rows.raw_data());
    const auto* v = static_cast<const T*>(x.raw_data());
    const auto run = [&]<class I>(I* to) {
      parallel_for(0, x.numel(), kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = i / width * n;
          const int64_t* const order_of_row = at == nullptr ? at : at + row;
          to[i] = static_cast<I>(
              right ? place_of<true>(data + row, order_of_row, n, v[i])
                    : place_of<false>(data + row, order_of_row, n, v[i]));
        }
      });
    };
    if (out.dtype() == kInt) {
      run(static_cast<int32_t*>(places.data()));
    } else {
      run(static_cast<int64_t*>(places.data()));
    }
  });
  places.store();
}

bool is_right(bool right, std::optional<std::string_view> side) {
  return right || (side && *side == "right");
}

}  // namespace

void searchsorted_out(const Tensor& sorted_sequence, const Tensor& self,
                      bool out_int32, bool right,
                      std::optional<std::string_view> side,
                      const std::optional<Tensor>& sorter, const Tensor& out) {
  SY_CHECK(!out_int32 || sorted_sequence.size(-1) <= INT32_MAX, Value,
           "[searchsorted] out_int32: expected at most 2^31 - 1 elements in a "
           "row, got {}",
           sorted_sequence.size(-1));
  const Tensor both[] = {sorted_sequence, self};
  search(sorted_sequence, self, result_type(both), is_right(right, side),
         sorter, out);
}

void searchsorted_scalar_out(const Tensor& sorted_sequence, const Scalar& self,
                             bool, bool right,
                             std::optional<std::string_view> side,
                             const std::optional<Tensor>& sorter,
                             const Tensor& out) {
  ScalarType dtype = sorted_sequence.dtype();
  if (!is_floating_type(dtype)) {
    dtype = self.is_floating_point() ? default_dtype() : kLong;
  }
  const Tensor value(make_tensor({}, dtype, Device(kCPU)));
  visit_all_dtypes("searchsorted", dtype, [&]<class T>() {
    *static_cast<T*>(value.raw_data()) = self.to<T>();
  });
  search(sorted_sequence, value, dtype, is_right(right, side), sorter, out);
}

}  // namespace sy::cpu
