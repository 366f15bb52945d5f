#include "element.cuh"
#include "functors/arithmetic.cuh"
#include "scan.cuh"

namespace scan_rows_cumsum_float32_parts {

using Params = ScanParams<1>;

struct Op : ScanElements<float, float> {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  using State = ScanState<double, false>;
  __device__ State load(const Element& x, [[maybe_unused]] int64_t k) const {
    return {load_value<double>(x)};
  }
  __device__ State combine(const State& a, const State& b) const {
    const double c0 = f64::add(a.v, b.v);
    return {c0};
  }
  __device__ Stored stored(const State& s) const {
    return store_value<float>(s.v);
  }
};

}  // namespace scan_rows_cumsum_float32_parts

SY_KERNEL(scan_rows_cumsum_float32, scan_rows_cumsum_float32_parts::Params, kScanThreads) {
  scan_rows(scan_rows_cumsum_float32_parts::Op(p));
}
