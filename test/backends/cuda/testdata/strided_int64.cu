#include "element.cuh"
#include "functors/division.cuh"
#include "pointwise.cuh"

namespace strided_int64_parts {

using Params = PointwiseParams<Strides<2, 3>, 3, 1>;

struct Op {
  const Params& p;
  mutable int divided = 0;
  __device__ explicit Op(const Params& q) : p(q) {}
  __device__ ~Op() {
    if (divided != 0) report(p.head, Fault::kDivision, -1, 0, 0);
  }

  struct In {
    int64_t v0;
    int64_t v1;
  };
  __device__ In load(const int64_t (&at)[3]) const {
    return {read_at<int64_t>(p.data[0], at[0]),
            read_at<int64_t>(p.data[1], at[1])};
  }
  struct Out {
    int64_t o0;
  };
  __device__ void store(const Out& out, const int64_t (&at)[3]) const {
    write_at(p.data[2], at[2], out.o0);
  }
  __device__ __forceinline__ Out compute([[maybe_unused]] const In& in) const {
    [[maybe_unused]] const int64_t i0 = load_value<int64_t>(in.v0);
    [[maybe_unused]] const int64_t i1 = load_value<int64_t>(in.v1);
    const int64_t t0 = i64::floor_div(i0, i1, divided);
    return {store_value<int64_t>(t0)};
  }
};

}  // namespace strided_int64_parts

SY_KERNEL(strided_int64, strided_int64_parts::Params, kPointwiseThreads) {
  pointwise_strided<strided_int64_parts::Op, 3, 4>(strided_int64_parts::Op(p));
}
