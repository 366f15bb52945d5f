#include "pointwise.cuh"
#include "functors/arithmetic.cuh"
namespace linear_float32_of {
struct Params {
  LaunchHead head;
  int64_t n;
  int32_t vectors, before;
  void* data[3];
  uint64_t numbers[1];
};
__device__ __forceinline__ void element(
    float i0, float i1, float u0, float& o0) {
  const float t0 = f32::fma(u0, i1, i0);
  o0 = t0;
}
}  // namespace linear_float32_of
SY_KERNEL(linear_float32, linear_float32_of::Params, 256) {
  using namespace linear_float32_of;
  const float u0 = uniform_value<float>(p.numbers[0]);
  const auto* const in0 = static_cast<const float*>(p.data[0]);
  const auto* const in1 = static_cast<const float*>(p.data[1]);
  auto* const out0 = static_cast<float*>(p.data[2]);
  const int64_t tile = int64_t{blockDim.x} * 16;
  const int64_t begin = blockIdx.x * tile - p.before;
  if (p.vectors != 0 && begin >= 0 && begin + tile <= p.n) {
    const int64_t first = begin + threadIdx.x * 4;
    const int64_t step = int64_t{blockDim.x} * 4;
    Pack<float, 4> v0[4];
    Pack<float, 4> v1[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      v0[k] = load_pack<float, 4>(in0 + first + k * step);
      v1[k] = load_pack<float, 4>(in1 + first + k * step);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      Pack<float, 4> w0;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float o0;
        element(
            load_value<float>(v0[k].at[e]), load_value<float>(v1[k].at[e]), u0,
            o0);
        w0.at[e] = store_value<float>(o0);
      }
      store_pack<float, 4>(out0 + first + k * step, w0);
    }
  } else {
    const int64_t end = begin + tile < p.n ? begin + tile : p.n;
    int64_t at = (begin < 0 ? 0 : begin) + threadIdx.x;
#pragma unroll 1
    for (; at < end; at += blockDim.x) {
      float o0;
      element(load_value<float>(in0[at]), load_value<float>(in1[at]), u0, o0);
      out0[at] = store_value<float>(o0);
    }
  }
}
