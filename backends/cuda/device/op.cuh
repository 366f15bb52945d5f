#pragma once

#include "element.cuh"

// What a printed kernel computes of the elements of its operands. Shells
// (device/pointwise.cuh, region.cuh) say which elements, and when:
//
//   struct Op {
//     const Params& p;
//     explicit Op(const Params&);  // reads what all elements share
//     struct In;                   // an element of each input
//     In load(const At&);          // at this place of each operand
//     struct Out;                  // an element of each output
//     Out compute(In);
//     void store(Out, const At&);
//     // The same for packs of kWidth elements side by side.
//     struct Ins, Outs;
//     Ins load_packs(const At&);
//     In element(Ins, int e);
//     void put(Outs&, int e, Out);
//     void store_packs(Outs, const At&);
//     ~Op();  // reports integers that the thread has divided by 0
//   };
//
// At has the place in operand k as at[k]: bytes from its first element, or an
// Index.

namespace sy::cuda {

// Element i of every operand, where all are runs.
struct Index {
  int64_t i;
  __device__ __forceinline__ Index operator[](int) const { return *this; }
};

template <class E>
__device__ __forceinline__ const E* place_in(const void* base, int64_t bytes) {
  return reinterpret_cast<const E*>(static_cast<const char*>(base) + bytes);
}
template <class E>
__device__ __forceinline__ const E* place_in(const void* base, Index at) {
  return static_cast<const E*>(base) + at.i;
}
template <class E>
__device__ __forceinline__ E* place_in(void* base, int64_t bytes) {
  return reinterpret_cast<E*>(static_cast<char*>(base) + bytes);
}
template <class E>
__device__ __forceinline__ E* place_in(void* base, Index at) {
  return static_cast<E*>(base) + at.i;
}

template <class E, class At>
__device__ __forceinline__ E read_at(const void* base, At at) {
  return *place_in<E>(base, at);
}
template <class E, int kCount, class At>
__device__ __forceinline__ Pack<E, kCount> read_pack(const void* base, At at) {
  return load_pack<E, kCount>(place_in<E>(base, at));
}
template <class E, class At>
__device__ __forceinline__ void write_at(void* base, At at, E x) {
  *place_in<E>(base, at) = x;
}
template <class E, int kCount, class At>
__device__ __forceinline__ void write_pack(void* base, At at,
                                           const Pack<E, kCount>& x) {
  store_pack<E, kCount>(place_in<E>(base, at), x);
}

// How a shell takes what is at a place: an element, or a pack.
template <class Op>
struct OneByOne {
  using In = typename Op::In;
  template <class At>
  __device__ __forceinline__ static In load(const Op& op, const At& at) {
    return op.load(at);
  }
  template <class At>
  __device__ __forceinline__ static void finish(const Op& op, const In& in,
                                                const At& at) {
    op.store(op.compute(in), at);
  }
};
template <class Op, int kWidth>
struct InPacks {
  using In = typename Op::Ins;
  template <class At>
  __device__ __forceinline__ static In load(const Op& op, const At& at) {
    return op.load_packs(at);
  }
  template <class At>
  __device__ __forceinline__ static void finish(const Op& op, const In& in,
                                                const At& at) {
    typename Op::Outs out;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      op.put(out, e, op.compute(op.element(in, e)));
    }
    op.store_packs(out, at);
  }
};

template <class Op, class At>
__device__ __forceinline__ void compute_at(const Op& op, const At& at) {
  OneByOne<Op>::finish(op, op.load(at), at);
}

}  // namespace sy::cuda
