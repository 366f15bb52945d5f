#include "pointwise.cuh"
#include "functors/compare.cuh"
namespace squares_lt_of {
struct Params {
  LaunchHead head;
  int64_t n;
  int32_t vectors, dims;
  void* data[3];
  Squares<3> squares;
};
__device__ __forceinline__ void element(float i0, float i1, bool8& o0) {
  const bool8 t0 = f32::lt(i0, i1);
  o0 = t0;
}
}  // namespace squares_lt_of
SY_KERNEL(squares_lt, squares_lt_of::Params, 256) {
  using namespace squares_lt_of;
  __shared__ float square1[kSquare][kSquare + 1];
  int64_t at[3];
  const SquarePlace place = find_square(p.squares, at);
  constexpr int kEach = kSquare / kSquareRows;
  const int x = threadIdx.x, y = threadIdx.y;
  float v0[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int z = y + k * kSquareRows;
    if (is_inside(p.squares, place, z, x)) {
      square1[x][z] = read_at<float>(
          p.data[1], in_square<1>(p.squares, at, z, x));
    }
    if (is_inside(p.squares, place, x, z)) {
      v0[k] = read_at<float>(p.data[0], in_square<0>(p.squares, at, x, z));
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int z = y + k * kSquareRows;
    if (is_inside(p.squares, place, x, z)) {
      bool8 o0;
      element(load_value<float>(v0[k]), load_value<float>(square1[z][x]), o0);
      write_at(
          p.data[2], in_square<2>(p.squares, at, x, z),
          store_bool<bool_byte>(o0));
    }
  }
}
