#include "pointwise.cuh"
#include "functors/arithmetic.cuh"
#include "functors/compare.cuh"
namespace wide_float64_of {
struct Params {
  LaunchHead head;
  int64_t n;
  int32_t vectors, dims;
  void* data[5];
  WideStrides<5> strides;
};
__device__ __forceinline__ void element(
    double i0, double i1, double& o0, bool8& o1, double& o2) {
  const double t0 = f64::mul(i0, i0);
  const bool8 t1 = f64::gt(t0, i1);
  const double t2 = f64::sqrt(t0);
  const double t3 = f64::select(t1, t2, i1);
  o0 = t3;
  o1 = t1;
  o2 = i0;
}
}  // namespace wide_float64_of
SY_KERNEL(wide_float64, wide_float64_of::Params, 256) {
  using namespace wide_float64_of;
#pragma unroll 1
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    int64_t at[5];
    find(p.strides, p.dims, i, at);
    double o0;
    bool8 o1;
    double o2;
    element(
        load_value<double>(read_at<double>(p.data[0], at[0])),
        load_value<double>(read_at<double>(p.data[1], at[1])), o0, o1, o2);
    write_at(p.data[2], at[2], store_value<double>(o0));
    write_at(p.data[3], at[3], store_bool<bool_byte>(o1));
    write_at(p.data[4], at[4], store_value<double>(o2));
  }
}
