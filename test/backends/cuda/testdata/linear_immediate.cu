#include "element.cuh"
#include "functors/arithmetic.cuh"
#include "pointwise.cuh"

namespace linear_immediate_parts {

using Params = PointwiseParams<Runs, 3, 2>;

struct Op {
  const Params& p;
  const float u0;
  const float i1;
  __device__ explicit Op(const Params& q) : p(q), u0(q.numbers[0].f32), i1(q.numbers[1].f32) {}

  struct In {
    half16 v0;
  };
  __device__ In load(const Index& at) const {
    return {read_at<half16>(p.data[0], at[0])};
  }
  struct Out {
    bfloat16 o0;
  };
  __device__ void store(const Out& out, const Index& at) const {
    write_at(p.data[2], at[2], out.o0);
  }
  __device__ __forceinline__ Out compute([[maybe_unused]] const In& in) const {
    [[maybe_unused]] const float i0 = load_value<float>(in.v0);
    const float t0 = f32::fma(u0, i1, i0);
    return {store_value<bfloat16>(t0)};
  }
  struct Ins {
    Pack<half16, 8> v0;
  };
  __device__ Ins load_packs(const Index& at) const {
    return {read_pack<half16, 8>(p.data[0], at[0])};
  }
  __device__ In element(const Ins& in, [[maybe_unused]] int e) const {
    return {in.v0.at[e]};
  }
  struct Outs {
    Pack<bfloat16, 8> o0;
  };
  __device__ void put(Outs& outs, int e, const Out& out) const {
    outs.o0.at[e] = out.o0;
  }
  __device__ void store_packs(const Outs& outs, const Index& at) const {
    write_pack(p.data[2], at[2], outs.o0);
  }
};

}  // namespace linear_immediate_parts

SY_KERNEL(linear_immediate, linear_immediate_parts::Params, kPointwiseThreads) {
  pointwise_linear<linear_immediate_parts::Op, 8, 4>(linear_immediate_parts::Op(p));
}
