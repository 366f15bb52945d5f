#include "pointwise.cuh"
#include "functors/arithmetic.cuh"
namespace packs_bfloat16_of {
struct Params {
  LaunchHead head;
  int64_t n;
  int32_t vectors, dims;
  void* data[3];
  uint64_t numbers[1];
  Strides<3, 3> strides;
};
__device__ __forceinline__ void element(
    float i0, float i1, float u0, float& o0) {
  const float t0 = f32::fma(u0, i1, i0);
  o0 = t0;
}
}  // namespace packs_bfloat16_of
SY_KERNEL(packs_bfloat16, packs_bfloat16_of::Params, 256) {
  using namespace packs_bfloat16_of;
  const float u0 = uniform_value<float>(p.numbers[0]);
  const unsigned tile = blockDim.x * 4;
  const unsigned n = static_cast<unsigned>(p.n);
  const unsigned first = blockIdx.x * tile + threadIdx.x;
  if ((blockIdx.x + 1) * tile <= n) {
    int64_t at[4][3];
    Pack<bfloat16, 8> v0[4];
    bfloat16 v1[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      find(p.strides, first + k * blockDim.x, at[k]);
      v0[k] = read_pack<bfloat16, 8>(p.data[0], at[k][0]);
      v1[k] = read_at<bfloat16>(p.data[1], at[k][1]);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      Pack<bfloat16, 8> w0;
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        float o0;
        element(
            load_value<float>(v0[k].at[e]), load_value<float>(v1[k]), u0, o0);
        w0.at[e] = store_value<bfloat16>(o0);
      }
      write_pack(p.data[2], at[k][2], w0);
    }
  } else {
#pragma unroll 1
    for (unsigned i = first; i < n; i += blockDim.x) {
      constexpr int k = 0;
      int64_t at[1][3];
      Pack<bfloat16, 8> v0[1];
      bfloat16 v1[1];
      find(p.strides, i, at[k]);
      v0[k] = read_pack<bfloat16, 8>(p.data[0], at[k][0]);
      v1[k] = read_at<bfloat16>(p.data[1], at[k][1]);
      Pack<bfloat16, 8> w0;
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        float o0;
        element(
            load_value<float>(v0[k].at[e]), load_value<float>(v1[k]), u0, o0);
        w0.at[e] = store_value<bfloat16>(o0);
      }
      write_pack(p.data[2], at[k][2], w0);
    }
  }
}
