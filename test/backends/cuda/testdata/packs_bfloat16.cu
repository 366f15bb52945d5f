#include "element.cuh"
#include "functors/arithmetic.cuh"
#include "pointwise.cuh"

namespace packs_bfloat16_parts {

using Params = PointwiseParams<Strides<3, 3>, 3, 1>;

struct Op {
  const Params& p;
  const float u0;
  __device__ explicit Op(const Params& q) : p(q), u0(q.numbers[0].f32) {}

  struct In {
    bfloat16 v0;
    bfloat16 v1;
  };
  __device__ In load(const int64_t (&at)[3]) const {
    return {read_at<bfloat16>(p.data[0], at[0]),
            read_at<bfloat16>(p.data[1], at[1])};
  }
  struct Out {
    bfloat16 o0;
  };
  __device__ void store(const Out& out, const int64_t (&at)[3]) const {
    write_at(p.data[2], at[2], out.o0);
  }
  __device__ __forceinline__ Out compute([[maybe_unused]] const In& in) const {
    [[maybe_unused]] const float i0 = load_value<float>(in.v0);
    [[maybe_unused]] const float i1 = load_value<float>(in.v1);
    const float t0 = f32::fma(u0, i1, i0);
    return {store_value<bfloat16>(t0)};
  }
  struct Ins {
    Pack<bfloat16, 8> v0;
    bfloat16 v1;
  };
  __device__ Ins load_packs(const int64_t (&at)[3]) const {
    return {read_pack<bfloat16, 8>(p.data[0], at[0]),
            read_at<bfloat16>(p.data[1], at[1])};
  }
  __device__ In element(const Ins& in, [[maybe_unused]] int e) const {
    return {in.v0.at[e],
            in.v1};
  }
  struct Outs {
    Pack<bfloat16, 8> o0;
  };
  __device__ void put(Outs& outs, int e, const Out& out) const {
    outs.o0.at[e] = out.o0;
  }
  __device__ void store_packs(const Outs& outs, const int64_t (&at)[3]) const {
    write_pack(p.data[2], at[2], outs.o0);
  }
};

}  // namespace packs_bfloat16_parts

SY_KERNEL(packs_bfloat16, packs_bfloat16_parts::Params, kPointwiseThreads) {
  pointwise_strided_packs<packs_bfloat16_parts::Op, 3, 8, 4>(packs_bfloat16_parts::Op(p));
}
