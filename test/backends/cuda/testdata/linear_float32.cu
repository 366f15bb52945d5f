#include "element.cuh"
#include "functors/arithmetic.cuh"
#include "pointwise.cuh"

namespace linear_float32_parts {

using Params = PointwiseParams<Runs, 3, 1>;

struct Op {
  const Params& p;
  const float u0;
  __device__ explicit Op(const Params& q) : p(q), u0(q.numbers[0].f32) {}

  struct In {
    float v0;
    float v1;
  };
  __device__ In load(const Index& at) const {
    return {read_at<float>(p.data[0], at[0]),
            read_at<float>(p.data[1], at[1])};
  }
  struct Out {
    float o0;
  };
  __device__ void store(const Out& out, const Index& at) const {
    write_at(p.data[2], at[2], out.o0);
  }
  __device__ __forceinline__ Out compute([[maybe_unused]] const In& in) const {
    [[maybe_unused]] const float i0 = load_value<float>(in.v0);
    [[maybe_unused]] const float i1 = load_value<float>(in.v1);
    const float t0 = f32::fma(u0, i1, i0);
    return {store_value<float>(t0)};
  }
  struct Ins {
    Pack<float, 4> v0;
    Pack<float, 4> v1;
  };
  __device__ Ins load_packs(const Index& at) const {
    return {read_pack<float, 4>(p.data[0], at[0]),
            read_pack<float, 4>(p.data[1], at[1])};
  }
  __device__ In element(const Ins& in, [[maybe_unused]] int e) const {
    return {in.v0.at[e],
            in.v1.at[e]};
  }
  struct Outs {
    Pack<float, 4> o0;
  };
  __device__ void put(Outs& outs, int e, const Out& out) const {
    outs.o0.at[e] = out.o0;
  }
  __device__ void store_packs(const Outs& outs, const Index& at) const {
    write_pack(p.data[2], at[2], outs.o0);
  }
};

}  // namespace linear_float32_parts

SY_KERNEL(linear_float32, linear_float32_parts::Params, kPointwiseThreads) {
  pointwise_linear<linear_float32_parts::Op, 4, 4>(linear_float32_parts::Op(p));
}
