#include "element.cuh"
#include "functors/compare.cuh"
#include "pointwise.cuh"

namespace squares_lt_parts {

using Params = PointwiseParams<Squares<3>, 3, 1>;

struct Op {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  struct In {
    float v0;
    float v1;
  };
  __device__ In load(const InSquare<3>& at) const {
    return {read_at<float>(p.data[0], at[0])};
  }
  struct Kept {
    float v1[kSquare][kSquare + 1];
  };
  __device__ void keep(Kept& kept, int x, int z, const InSquare<3>& at) const {
    kept.v1[x][z] = read_at<float>(p.data[1], at[1]);
  }
  __device__ void take(In& in, const Kept& kept, int z, int x) const {
    in.v1 = kept.v1[z][x];
  }
  struct Out {
    bool_byte o0;
  };
  __device__ void store(const Out& out, const InSquare<3>& at) const {
    write_at(p.data[2], at[2], out.o0);
  }
  __device__ __forceinline__ Out compute([[maybe_unused]] const In& in) const {
    [[maybe_unused]] const float i0 = load_value<float>(in.v0);
    [[maybe_unused]] const float i1 = load_value<float>(in.v1);
    const bool8 t0 = f32::lt(i0, i1);
    return {store_bool<bool_byte>(t0)};
  }
};

}  // namespace squares_lt_parts

SY_KERNEL(squares_lt, squares_lt_parts::Params, kPointwiseThreads) {
  pointwise_transposed<squares_lt_parts::Op, 3>(squares_lt_parts::Op(p));
}
