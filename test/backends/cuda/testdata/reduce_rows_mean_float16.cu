#include "element.cuh"
#include "functors/copies.cuh"
#include "functors/arithmetic.cuh"
#include "reduce.cuh"

namespace reduce_rows_mean_float16_parts {

using Params = ReduceParams<2>;

struct Op : TypedElements<half16> {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  struct Acc {
    double a0;
  };
  __device__ Acc map(Item x, int64_t) const {
    const float m0 = f32::copy(load_value<float>(x));
    return {static_cast<double>(m0)};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    const double c0 = f64::add(a.a0, b.a0);
    return {c0};
  }
  __device__ void finish(const Acc& a, int64_t at) const {
    [[maybe_unused]] const float s0 = static_cast<float>(a.a0);
    const float f0 = f32::div(s0, p.numbers[0].f32);
    static_cast<half16*>(p.results[0])[at] = store_value<half16>(f0);
  }
  __device__ Acc nothing() const {
    return {p.numbers[1].f64};
  }
  __device__ void keep(const Acc& a, int64_t at) const {
    static_cast<double*>(p.planes[0])[at] = a.a0;
  }
  __device__ Acc kept(int64_t at) const {
    return {static_cast<const double*>(p.planes[0])[at]};
  }
};

}  // namespace reduce_rows_mean_float16_parts

SY_KERNEL(reduce_rows_mean_float16, reduce_rows_mean_float16_parts::Params, kReduceThreads) {
  reduce_rows<TensorSource<reduce_rows_mean_float16_parts::Op>>(reduce_rows_mean_float16_parts::Op(p));
}
