#include "element.cuh"
#include "functors/compare.cuh"
#include "scan.cuh"

namespace scan_columns_cummax_int32_parts {

using Params = ScanParams<1>;

struct Op : ScanElements<int32_t, int32_t> {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  using State = ScanState<int32_t, true>;
  __device__ State load(const Element& x, [[maybe_unused]] int64_t k) const {
    return {load_value<int32_t>(x),
            k};
  }
  __device__ State combine(const State& a, const State& b) const {
    const bool8 c0 = i32::isnan(b.v);
    const bool8 c1 = i32::ge(b.v, a.v);
    const bool8 c2 = i32::logical_or(c0, c1);
    return c2 != 0 ? b : a;
  }
  __device__ Stored stored(const State& s) const {
    return store_value<int32_t>(s.v);
  }
};

}  // namespace scan_columns_cummax_int32_parts

SY_KERNEL(scan_columns_cummax_int32, scan_columns_cummax_int32_parts::Params, kScanThreads) {
  scan_columns(scan_columns_cummax_int32_parts::Op(p));
}
