#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"

// A small library of operators in the namespace `sample`, written by hand in
// the shape of generated code: what the README of autograd describes, and what
// the tests of the tape run on. sample_kernels.cpp: schemas and CPU kernels
// (float32, float64, int64), sample_ops.cpp: nodes and Autograd kernels.

namespace sy::sample {

template <size_t N>
struct OpName {
  char text[N];
  constexpr OpName(const char (&s)[N]) { std::copy_n(s, N, text); }
};

// The structs that generated code has in aten/ops/<family>_ops.h.
template <OpName Name, class Signature>
struct Op;
template <OpName Name, class R, class... A>
struct Op<Name, R(A...)> {
  static const TypedOperator<R(A...)>& typed() {
    static const auto op = typed_operator<R(A...)>(std::string_view(Name.text));
    return op;
  }
  static const OperatorEntry& entry() { return typed().entry(); }
  static R call(A... args) { return typed().call(args...); }
  static R redispatch(DispatchKeySet keys, A... args) {
    return typed().redispatch(keys, args...);
  }
};

namespace ops {
using T = const Tensor&;
using mul_Tensor = Op<"sample::mul.Tensor", Tensor(T, T)>;
using mul__Tensor = Op<"sample::mul_.Tensor", Tensor&(Tensor&, T)>;
using mul_out = Op<"sample::mul.out", Tensor&(T, T, Tensor&)>;
using add_Tensor = Op<"sample::add.Tensor", Tensor(T, T, const Scalar&)>;
using add__Tensor =
    Op<"sample::add_.Tensor", Tensor&(Tensor&, T, const Scalar&)>;
using exp = Op<"sample::exp", Tensor(T)>;
using exp_ = Op<"sample::exp_", Tensor&(Tensor&)>;
using sum_dim_IntList =
    Op<"sample::sum.dim_IntList",
       Tensor(T, OptionalIntArrayRef, bool, std::optional<ScalarType>)>;
using cat = Op<"sample::cat", Tensor(TensorList, int64_t)>;
using max_dim =
    Op<"sample::max.dim", std::tuple<Tensor, Tensor>(T, int64_t, bool)>;
using sincos = Op<"sample::sincos", std::tuple<Tensor, Tensor>(T)>;
using scale = Op<"sample::scale", Tensor(T, const std::optional<Tensor>&)>;
using round = Op<"sample::round", Tensor(T)>;
using view = Op<"sample::view", Tensor(T, IntArrayRef)>;
using as_strided = Op<"sample::as_strided", Tensor(T, IntArrayRef, IntArrayRef,
                                                   std::optional<int64_t>)>;
using expand = Op<"sample::expand", Tensor(T, IntArrayRef, bool)>;
using slice_Tensor =
    Op<"sample::slice.Tensor", Tensor(T, int64_t, std::optional<int64_t>,
                                      std::optional<int64_t>, int64_t)>;
using unbind_int = Op<"sample::unbind.int", std::vector<Tensor>(T, int64_t)>;
using clone = Op<"sample::clone", Tensor(T, std::optional<MemoryFormat>)>;
using copy_ = Op<"sample::copy_", Tensor&(Tensor&, T, bool)>;
using fill__Scalar =
    Op<"sample::fill_.Scalar", Tensor&(Tensor&, const Scalar&)>;
using to_dtype = Op<"sample::to.dtype", Tensor(T, ScalarType, bool, bool,
                                               std::optional<MemoryFormat>)>;
using detach = Op<"sample::detach", Tensor(T)>;
using square = Op<"sample::square", Tensor(T)>;
}  // namespace ops

inline Tensor mul(const Tensor& a, const Tensor& b) {
  return ops::mul_Tensor::call(a, b);
}
inline Tensor& mul_(Tensor& a, const Tensor& b) {
  return ops::mul__Tensor::call(a, b);
}
inline Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) {
  return ops::add_Tensor::call(a, b, alpha);
}
inline Tensor& add_(Tensor& a, const Tensor& b, const Scalar& alpha = 1) {
  return ops::add__Tensor::call(a, b, alpha);
}
inline Tensor exp(const Tensor& a) { return ops::exp::call(a); }
inline Tensor& exp_(Tensor& a) { return ops::exp_::call(a); }
inline Tensor sum(const Tensor& a, OptionalIntArrayRef dims = std::nullopt,
                  bool keepdim = false) {
  return ops::sum_dim_IntList::call(a, dims, keepdim, std::nullopt);
}
inline Tensor cat(TensorList list, int64_t dim) {
  return ops::cat::call(list, dim);
}
inline Tensor view(const Tensor& a, IntArrayRef sizes) {
  return ops::view::call(a, sizes);
}
inline Tensor as_strided(const Tensor& a, IntArrayRef sizes,
                         IntArrayRef strides, int64_t offset) {
  return ops::as_strided::call(a, sizes, strides, offset);
}
inline Tensor expand(const Tensor& a, IntArrayRef sizes) {
  return ops::expand::call(a, sizes, false);
}
inline Tensor slice(const Tensor& a, int64_t dim, int64_t start, int64_t end) {
  return ops::slice_Tensor::call(a, dim, start, end, 1);
}
inline Tensor clone(const Tensor& a) {
  return ops::clone::call(a, std::nullopt);
}

// Elements in row-major order, whatever the dtype and strides.
double get(const TensorBase& t, int64_t i);
void put(const TensorBase& t, int64_t i, double value);
std::vector<double> values(const TensorBase& t);
Tensor tensor(const std::vector<double>& values, IntArrayRef sizes,
              ScalarType dtype = kDouble);
// Different numbers around 0, the same at every run.
Tensor numbers(IntArrayRef sizes, bool requires_grad = true,
               ScalarType dtype = kDouble);

}  // namespace sy::sample
