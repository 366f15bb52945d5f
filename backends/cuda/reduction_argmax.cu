#include "element.cuh"
#include "reduce.cuh"

// argmax, argmin, max.dim and min.dim. The host defines SY_E, the type of
// elements, SY_T, that of their registers, and SY_MAX, 1 or 0.

namespace sy::cuda {

using E = SY_E;
using T = SY_T;

struct Extreme : TypedElements<E> {
  struct Acc {
    T v;
    int64_t at;
  };

  const ReduceParams<1>& p;
  __device__ explicit Extreme(const ReduceParams<1>& q) : p(q) {}

  __device__ Acc map(E x, int64_t index) const {
    return {load_value<T>(x), index};
  }
  // NaN before all, then the first of equals.
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    const bool a_nan = a.v != a.v, b_nan = b.v != b.v;
    const bool better = SY_MAX ? b.v > a.v : b.v < a.v;
    const bool equal = a.v == b.v || (a_nan && b_nan);
    const bool take =
        equal ? b.at < a.at : b_nan || (better && !a_nan);
    return take ? b : a;
  }
  __device__ Acc nothing() const { return {T(0), 0}; }
  __device__ void finish(const Acc& a, int64_t at) const {
    if (p.results[0] != nullptr) {
      static_cast<E*>(p.results[0])[at] = store_value<E>(a.v);
    }
    static_cast<int64_t*>(p.results[1])[at] = a.at;
  }
  __device__ void keep(const Acc& a, int64_t at) const {
    static_cast<T*>(p.planes[0])[at] = a.v;
    static_cast<int64_t*>(p.planes[1])[at] = a.at;
  }
  __device__ Acc kept(int64_t at) const {
    return {static_cast<const T*>(p.planes[0])[at],
            static_cast<const int64_t*>(p.planes[1])[at]};
  }
};

}  // namespace sy::cuda

SY_KERNEL(find_rows, ReduceParams<1>, kReduceThreads) {
  reduce_rows<TensorSource<Extreme>>(Extreme(p));
}
SY_KERNEL(find_columns, ReduceParams<1>, kReduceThreads) {
  reduce_columns<TensorSource<Extreme>>(Extreme(p));
}
SY_KERNEL(find_pieces, ReduceParams<1>, kReduceThreads) {
  reduce_pieces(Extreme(p));
}
