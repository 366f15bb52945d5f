#include "pointwise.cuh"
#include "functors/division.cuh"
namespace strided_int64_of {
struct Params {
  LaunchHead head;
  int64_t n;
  int32_t vectors, dims;
  void* data[3];
  Strides<2, 3> strides;
};
__device__ __forceinline__ void element(
    int64_t i0, int64_t i1, int& divided, int64_t& o0) {
  const int64_t t0 = i64::floor_div(i0, i1, divided);
  o0 = t0;
}
}  // namespace strided_int64_of
SY_KERNEL(strided_int64, strided_int64_of::Params, 256) {
  using namespace strided_int64_of;
  int divided = 0;
  const unsigned tile = blockDim.x * 4;
  const unsigned n = static_cast<unsigned>(p.n);
  const unsigned first = blockIdx.x * tile + threadIdx.x;
  if ((blockIdx.x + 1) * tile <= n) {
    int64_t at[4][3];
    int64_t v0[4];
    int64_t v1[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      find(p.strides, first + k * blockDim.x, at[k]);
      v0[k] = read_at<int64_t>(p.data[0], at[k][0]);
      v1[k] = read_at<int64_t>(p.data[1], at[k][1]);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      int64_t o0;
      element(
          load_value<int64_t>(v0[k]), load_value<int64_t>(v1[k]), divided, o0);
      write_at(p.data[2], at[k][2], store_value<int64_t>(o0));
    }
  } else {
#pragma unroll 1
    for (unsigned i = first; i < n; i += blockDim.x) {
      constexpr int k = 0;
      int64_t at[1][3];
      int64_t v0[1];
      int64_t v1[1];
      find(p.strides, i, at[k]);
      v0[k] = read_at<int64_t>(p.data[0], at[k][0]);
      v1[k] = read_at<int64_t>(p.data[1], at[k][1]);
      int64_t o0;
      element(
          load_value<int64_t>(v0[k]), load_value<int64_t>(v1[k]), divided, o0);
      write_at(p.data[2], at[k][2], store_value<int64_t>(o0));
    }
  }
  if (divided != 0) {
    report(p.head, Fault::kDivision, -1, 0, 0);
  }
}
