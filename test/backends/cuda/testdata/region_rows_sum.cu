#include "element.cuh"
#include "functors/arithmetic.cuh"
#include "functors/copies.cuh"
#include "region.cuh"

namespace region_rows_sum_parts {

using Params = RegionReduceParams<2, 1>;

struct Op {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  struct In {
    half16 v0;
    half16 v1;
  };
  __device__ In load(const int64_t (&at)[2]) const {
    return {read_at<half16>(p.inputs[0], at[0]),
            read_at<half16>(p.inputs[1], at[1])};
  }
  struct Acc {
    double a0;
  };
  __device__ Acc map([[maybe_unused]] const In& in) const {
    const float n0_0 = f32::mul(load_value<float>(in.v0), load_value<float>(in.v1));
    const half16 v2 = store_value<half16>(n0_0);
    const float m0 = f32::copy(load_value<float>(v2));
    return {static_cast<double>(m0)};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    const double c0 = f64::add(a.a0, b.a0);
    return {c0};
  }
  __device__ void finish(const Acc& a, int64_t at) const {
    [[maybe_unused]] const float s0 = static_cast<float>(a.a0);
    static_cast<half16*>(p.results[0])[at] = store_value<half16>(s0);
  }
  __device__ Acc nothing() const {
    return {p.numbers[0].f64};
  }
  __device__ void keep(const Acc& a, int64_t at) const {
    static_cast<double*>(p.planes[0])[at] = a.a0;
  }
  __device__ Acc kept(int64_t at) const {
    return {static_cast<const double*>(p.planes[0])[at]};
  }
};

}  // namespace region_rows_sum_parts

SY_KERNEL(region_rows_sum, region_rows_sum_parts::Params, kReduceThreads) {
  reduce_rows<RegionSource<region_rows_sum_parts::Op, 2>>(region_rows_sum_parts::Op(p));
}
