#include "element.cuh"
#include "functors/arithmetic.cuh"
#include "functors/copies.cuh"
#include "region_row.cuh"

namespace region_row_parts {

using Params = RegionRowParams<3, 1>;

struct Op {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  struct In {
    half16 v0;
  };
  __device__ In load(const int64_t (&at)[3]) const {
    return {read_at<half16>(p.data[0], at[0])};
  }
  template <class E>
  __device__ static E* part(char* room, int64_t bytes) {
    return reinterpret_cast<E*>(room + bytes);
  }
  __device__ void keep([[maybe_unused]] char* room, [[maybe_unused]] int64_t k,
                       [[maybe_unused]] const In& in) const {
    part<half16>(room, 0 * p.padded)[k] = in.v0;
  }
  __device__ In again([[maybe_unused]] char* room, [[maybe_unused]] int64_t k,
                      const int64_t (&at)[3]) const {
    In in;
    in.v0 = part<half16>(room, 0 * p.padded)[k];
    return in;
  }
  struct Stats {
    half16 v2;
  };
  struct Phase0 {
  const Op& op;
  const Stats& stats;
  const Params& p;
  __device__ Phase0(const Op& o, const Stats& s) : op(o), stats(s), p(o.p) {}
  struct Acc {
    double a0;
  };
  __device__ Acc map([[maybe_unused]] const In& in) const {
    const float n0_0 = f32::mul(load_value<float>(in.v0), load_value<float>(in.v0));
    const half16 v1 = store_value<half16>(n0_0);
    const float m0 = f32::copy(load_value<float>(v1));
    return {static_cast<double>(m0)};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    const double c0 = f64::add(a.a0, b.a0);
    return {c0};
  }
  __device__ void finish(const Acc& a, Stats& to) const {
    [[maybe_unused]] const float s0 = static_cast<float>(a.a0);
    to.v2 = store_value<half16>(s0);
  }
  __device__ Acc nothing() const {
    return {p.numbers[0].f64};
  }
  };
  __device__ void reduce(RegionRow<Op, 3>& row, Stats& stats) const {
    row_phase<Phase0>(row, stats);
  }
  static constexpr bool kWalks = true;
  struct Out {
    half16 o0;
  };
  __device__ void store(const Out& out, const int64_t (&at)[3]) const {
    write_at(p.data[1], at[1], out.o0);
  }
  __device__ Out compute([[maybe_unused]] const In& in,
                         [[maybe_unused]] const Stats& stats) const {
    const float n2_0 = f32::mul(load_value<float>(in.v0), load_value<float>(stats.v2));
    const half16 v3 = store_value<half16>(n2_0);
    return {element_cast<half16>(v3)};
  }
  __device__ void finish_row([[maybe_unused]] const In& in,
                             [[maybe_unused]] const Stats& stats,
                             [[maybe_unused]] const int64_t (&at)[3]) const {
    write_at(p.data[2], at[2], element_cast<float>(stats.v2));
  }
};

}  // namespace region_row_parts

SY_KERNEL(region_row, region_row_parts::Params, kReduceThreads) {
  region_row<region_row_parts::Op, 3>(region_row_parts::Op(p));
}
