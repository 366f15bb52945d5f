#include "element.cuh"
#include "functors/arithmetic.cuh"
#include "region.cuh"

namespace region_walk_mul_parts {

using Params = RegionWalkParams<3, 1>;

struct Op {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  struct In {
    half16 v0;
    half16 v1;
  };
  __device__ In load(const int64_t (&at)[3]) const {
    return {read_at<half16>(p.data[0], at[0]),
            read_at<half16>(p.data[1], at[1])};
  }
  struct Out {
    half16 o0;
  };
  __device__ void store(const Out& out, const int64_t (&at)[3]) const {
    write_at(p.data[2], at[2], out.o0);
  }
  __device__ Out compute([[maybe_unused]] const In& in) const {
    const float n0_0 = f32::mul(load_value<float>(in.v0), load_value<float>(in.v1));
    const half16 v2 = store_value<half16>(n0_0);
    return {element_cast<half16>(v2)};
  }
};

}  // namespace region_walk_mul_parts

SY_KERNEL(region_walk_mul, region_walk_mul_parts::Params, kRegionThreads) {
  region_walk<region_walk_mul_parts::Op, 3>(region_walk_mul_parts::Op(p));
}
