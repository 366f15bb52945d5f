#include "element.cuh"
#include "functors/compare.cuh"
#include "reduce.cuh"

namespace reduce_pieces_any_int64_parts {

using Params = ReduceParams<1>;

struct Op : TypedElements<int64_t> {
  const Params& p;
  __device__ explicit Op(const Params& q) : p(q) {}

  struct Acc {
    bool8 a0;
  };
  __device__ Acc map(Item x, int64_t) const {
    const bool8 m0 = i64::truth(load_value<int64_t>(x));
    return {m0};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    const bool8 c0 = i64::logical_or(a.a0, b.a0);
    return {c0};
  }
  __device__ void finish(const Acc& a, int64_t at) const {
    [[maybe_unused]] const bool8 s0 = static_cast<bool8>(a.a0);
    static_cast<bool_byte*>(p.results[0])[at] = store_bool<bool_byte>(s0);
  }
  __device__ Acc nothing() const {
    return {p.numbers[0].b8};
  }
  __device__ void keep(const Acc& a, int64_t at) const {
    static_cast<bool8*>(p.planes[0])[at] = a.a0;
  }
  __device__ Acc kept(int64_t at) const {
    return {static_cast<const bool8*>(p.planes[0])[at]};
  }
};

}  // namespace reduce_pieces_any_int64_parts

SY_KERNEL(reduce_pieces_any_int64, reduce_pieces_any_int64_parts::Params, kReduceThreads) {
  reduce_pieces(reduce_pieces_any_int64_parts::Op(p));
}
