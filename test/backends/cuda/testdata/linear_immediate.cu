#include "pointwise.cuh"
#include "functors/arithmetic.cuh"
namespace linear_immediate_of {
struct Params {
  LaunchHead head;
  int64_t n;
  int32_t vectors, before;
  void* data[3];
  uint64_t numbers[2];
};
__device__ __forceinline__ void element(
    float i0, float i1, float u0, float& o0) {
  const float t0 = f32::fma(u0, i1, i0);
  o0 = t0;
}
}  // namespace linear_immediate_of
SY_KERNEL(linear_immediate, linear_immediate_of::Params, 256) {
  using namespace linear_immediate_of;
  const float u0 = uniform_value<float>(p.numbers[0]);
  const float i1 = uniform_value<float>(p.numbers[1]);
  const auto* const in0 = static_cast<const half16*>(p.data[0]);
  auto* const out0 = static_cast<bfloat16*>(p.data[2]);
  const int64_t tile = int64_t{blockDim.x} * 32;
  const int64_t begin = blockIdx.x * tile - p.before;
  if (p.vectors != 0 && begin >= 0 && begin + tile <= p.n) {
    const int64_t first = begin + threadIdx.x * 8;
    const int64_t step = int64_t{blockDim.x} * 8;
    Pack<half16, 8> v0[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      v0[k] = load_pack<half16, 8>(in0 + first + k * step);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      Pack<bfloat16, 8> w0;
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        float o0;
        element(load_value<float>(v0[k].at[e]), i1, u0, o0);
        w0.at[e] = store_value<bfloat16>(o0);
      }
      store_pack<bfloat16, 8>(out0 + first + k * step, w0);
    }
  } else {
    const int64_t end = begin + tile < p.n ? begin + tile : p.n;
    int64_t at = (begin < 0 ? 0 : begin) + threadIdx.x;
#pragma unroll 1
    for (; at < end; at += blockDim.x) {
      float o0;
      element(load_value<float>(in0[at]), i1, u0, o0);
      out0[at] = store_value<bfloat16>(o0);
    }
  }
}
