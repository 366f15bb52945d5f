#include "element.cuh"
#include "functors/copies.cuh"
#include "functors/arithmetic.cuh"
#include "reduce.cuh"

namespace reduce_columns_var_mean_parts {

using Params = ReduceParams<6>;

struct Op : TypedElements<float> {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  struct Acc {
    double a0;
    double a1;
    double a2;
  };
  __device__ Acc map(Item x, int64_t) const {
    const double m0 = f64::copy(p.numbers[0].f64);
    const double m1 = f64::copy(load_value<double>(x));
    const double m2 = f64::copy(p.numbers[1].f64);
    return {m0,
            m1,
            m2};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    const double c0 = f64::add(a.a0, b.a0);
    const double c1 = f64::sub(b.a1, a.a1);
    const double c2 = f64::div(b.a0, c0);
    const double c3 = f64::fma(c1, c2, a.a1);
    const double c4 = f64::sub(b.a1, c3);
    const double c5 = f64::mul(c1, c4);
    const double c6 = f64::add(a.a2, b.a2);
    const double c7 = f64::fma(c5, b.a0, c6);
    return {c0,
            c3,
            c7};
  }
  __device__ void finish(const Acc& a, int64_t at) const {
    [[maybe_unused]] const double s0 = static_cast<double>(a.a0);
    [[maybe_unused]] const double s1 = static_cast<double>(a.a1);
    [[maybe_unused]] const double s2 = static_cast<double>(a.a2);
    const double f0 = f64::div(s2, p.numbers[2].f64);
    const double f1 = f64::copy(s1);
    static_cast<float*>(p.results[0])[at] = store_value<float>(f0);
    static_cast<float*>(p.results[1])[at] = store_value<float>(f1);
  }
  __device__ Acc nothing() const {
    return {p.numbers[3].f64,
            p.numbers[4].f64,
            p.numbers[5].f64};
  }
  __device__ void keep(const Acc& a, int64_t at) const {
    static_cast<double*>(p.planes[0])[at] = a.a0;
    static_cast<double*>(p.planes[1])[at] = a.a1;
    static_cast<double*>(p.planes[2])[at] = a.a2;
  }
  __device__ Acc kept(int64_t at) const {
    return {static_cast<const double*>(p.planes[0])[at],
            static_cast<const double*>(p.planes[1])[at],
            static_cast<const double*>(p.planes[2])[at]};
  }
};

}  // namespace reduce_columns_var_mean_parts

SY_KERNEL(reduce_columns_var_mean, reduce_columns_var_mean_parts::Params, kReduceThreads) {
  reduce_columns<TensorSource<reduce_columns_var_mean_parts::Op>>(reduce_columns_var_mean_parts::Op(p));
}
