#include "element.cuh"
#include "functors/arithmetic.cuh"
#include "functors/compare.cuh"
#include "pointwise.cuh"

namespace wide_float64_parts {

using Params = PointwiseParams<WideStrides<5>, 5, 1>;

struct Op {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  struct In {
    double v0;
    double v1;
  };
  __device__ In load(const int64_t (&at)[5]) const {
    return {read_at<double>(p.data[0], at[0]),
            read_at<double>(p.data[1], at[1])};
  }
  struct Out {
    double o0;
    bool_byte o1;
    double o2;
  };
  __device__ void store(const Out& out, const int64_t (&at)[5]) const {
    write_at(p.data[2], at[2], out.o0);
    write_at(p.data[3], at[3], out.o1);
    write_at(p.data[4], at[4], out.o2);
  }
  __device__ __forceinline__ Out compute([[maybe_unused]] const In& in) const {
    [[maybe_unused]] const double i0 = load_value<double>(in.v0);
    [[maybe_unused]] const double i1 = load_value<double>(in.v1);
    const double t0 = f64::mul(i0, i0);
    const bool8 t1 = f64::gt(t0, i1);
    const double t2 = f64::sqrt(t0);
    const double t3 = f64::select(t1, t2, i1);
    return {store_value<double>(t3),
            store_bool<bool_byte>(t1),
            store_value<double>(i0)};
  }
};

}  // namespace wide_float64_parts

SY_KERNEL(wide_float64, wide_float64_parts::Params, kPointwiseThreads) {
  pointwise_wide<wide_float64_parts::Op, 5>(wide_float64_parts::Op(p));
}
