// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#pragma once

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"

namespace sy::ops {

// mul.Tensor(Tensor self, Tensor other) -> Tensor
// test/codegen/testdata/sample.yaml:3
struct mul_Tensor {
  using Signature = Tensor(const Tensor&, const Tensor&);
  static constexpr const char* name = "aten::mul.Tensor";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Tensor& self, const Tensor& other);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Tensor& self,
                                  const Tensor& other);
};

// mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
struct mul__Tensor {
  using Signature = Tensor&(Tensor&, const Tensor&);
  static constexpr const char* name = "aten::mul_.Tensor";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor& call(Tensor& self, const Tensor& other);
  SY_API static Tensor& redispatch(DispatchKeySet keys, Tensor& self,
                                   const Tensor& other);
};

// mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
struct mul_out {
  using Signature = Tensor&(const Tensor&, const Tensor&, Tensor&);
  static constexpr const char* name = "aten::mul.out";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor& call(const Tensor& self, const Tensor& other,
                             Tensor& out);
  SY_API static Tensor& redispatch(DispatchKeySet keys, const Tensor& self,
                                   const Tensor& other, Tensor& out);
};

// soften(Tensor self, Tensor weight, *, Scalar slope=1, str mode='none') ->
// Tensor
// test/codegen/testdata/sample.yaml:13
struct soften {
  using Signature =
      Tensor(const Tensor&, const Tensor&, const Scalar&, std::string_view);
  static constexpr const char* name = "aten::soften";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Tensor& self, const Tensor& weight,
                            const Scalar& slope, std::string_view mode);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Tensor& self,
                                  const Tensor& weight, const Scalar& slope,
                                  std::string_view mode);
};

// soften.out(Tensor self, Tensor weight, *, Scalar slope=1, str mode='none',
// Tensor(a!) out) -> Tensor(a!)
struct soften_out {
  using Signature = Tensor&(const Tensor&, const Tensor&, const Scalar&,
                            std::string_view, Tensor&);
  static constexpr const char* name = "aten::soften.out";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor& call(const Tensor& self, const Tensor& weight,
                             const Scalar& slope, std::string_view mode,
                             Tensor& out);
  SY_API static Tensor& redispatch(DispatchKeySet keys, const Tensor& self,
                                   const Tensor& weight, const Scalar& slope,
                                   std::string_view mode, Tensor& out);
};

// mul.Scalar(Tensor self, Scalar other) -> Tensor
// test/codegen/testdata/sample.yaml:25
struct mul_Scalar {
  using Signature = Tensor(const Tensor&, const Scalar&);
  static constexpr const char* name = "aten::mul.Scalar";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Tensor& self, const Scalar& other);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Tensor& self,
                                  const Scalar& other);
};

// _foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]
// test/codegen/testdata/sample.yaml:30
struct _foreach_mul_List {
  using Signature = std::vector<Tensor>(TensorList, TensorList);
  static constexpr const char* name = "aten::_foreach_mul.List";
  SY_API static const OperatorEntry& entry();
  SY_API static std::vector<Tensor> call(TensorList self, TensorList other);
  SY_API static std::vector<Tensor> redispatch(DispatchKeySet keys,
                                               TensorList self,
                                               TensorList other);
};

// _foreach_mul_.List(Tensor(a!)[] self, Tensor[] other) -> ()
struct _foreach_mul__List {
  using Signature = void(TensorList, TensorList);
  static constexpr const char* name = "aten::_foreach_mul_.List";
  SY_API static const OperatorEntry& entry();
  SY_API static void call(TensorList self, TensorList other);
  SY_API static void redispatch(DispatchKeySet keys, TensorList self,
                                TensorList other);
};

// _foreach_mul.List_out(Tensor[] self, Tensor[] other, *, Tensor(a!)[] out) ->
// ()
struct _foreach_mul_List_out {
  using Signature = void(TensorList, TensorList, TensorList);
  static constexpr const char* name = "aten::_foreach_mul.List_out";
  SY_API static const OperatorEntry& entry();
  SY_API static void call(TensorList self, TensorList other, TensorList out);
  SY_API static void redispatch(DispatchKeySet keys, TensorList self,
                                TensorList other, TensorList out);
};

// sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType?
// dtype=None) -> Tensor
// test/codegen/testdata/sample.yaml:34
struct sum_dim_IntList {
  using Signature = Tensor(const Tensor&, OptionalIntArrayRef, bool,
                           std::optional<ScalarType>);
  static constexpr const char* name = "aten::sum.dim_IntList";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Tensor& self, OptionalIntArrayRef dim,
                            bool keepdim, std::optional<ScalarType> dtype);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Tensor& self,
                                  OptionalIntArrayRef dim, bool keepdim,
                                  std::optional<ScalarType> dtype);
};

// sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType?
// dtype=None, Tensor(a!) out) -> Tensor(a!)
struct sum_IntList_out {
  using Signature = Tensor&(const Tensor&, OptionalIntArrayRef, bool,
                            std::optional<ScalarType>, Tensor&);
  static constexpr const char* name = "aten::sum.IntList_out";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor& call(const Tensor& self, OptionalIntArrayRef dim,
                             bool keepdim, std::optional<ScalarType> dtype,
                             Tensor& out);
  SY_API static Tensor& redispatch(DispatchKeySet keys, const Tensor& self,
                                   OptionalIntArrayRef dim, bool keepdim,
                                   std::optional<ScalarType> dtype,
                                   Tensor& out);
};

// aminmax(Tensor self, int[]? dim, bool keepdim) -> (Tensor min, Tensor max)
// test/codegen/testdata/sample.yaml:43
struct aminmax {
  using Signature =
      std::tuple<Tensor, Tensor>(const Tensor&, OptionalIntArrayRef, bool);
  static constexpr const char* name = "aten::aminmax";
  SY_API static const OperatorEntry& entry();
  SY_API static std::tuple<Tensor, Tensor> call(const Tensor& self,
                                                OptionalIntArrayRef dim,
                                                bool keepdim);
  SY_API static std::tuple<Tensor, Tensor> redispatch(DispatchKeySet keys,
                                                      const Tensor& self,
                                                      OptionalIntArrayRef dim,
                                                      bool keepdim);
};

// aminmax.out(Tensor self, int[]? dim, bool keepdim, *, Tensor(a!) out0,
// Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))
struct aminmax_out {
  using Signature = std::tuple<Tensor&, Tensor&>(
      const Tensor&, OptionalIntArrayRef, bool, Tensor&, Tensor&);
  static constexpr const char* name = "aten::aminmax.out";
  SY_API static const OperatorEntry& entry();
  SY_API static std::tuple<Tensor&, Tensor&> call(const Tensor& self,
                                                  OptionalIntArrayRef dim,
                                                  bool keepdim, Tensor& out0,
                                                  Tensor& out1);
  SY_API static std::tuple<Tensor&, Tensor&> redispatch(
      DispatchKeySet keys, const Tensor& self, OptionalIntArrayRef dim,
      bool keepdim, Tensor& out0, Tensor& out1);
};

// cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
// test/codegen/testdata/sample.yaml:51
struct cumsum {
  using Signature = Tensor(const Tensor&, int64_t, std::optional<ScalarType>);
  static constexpr const char* name = "aten::cumsum";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Tensor& self, int64_t dim,
                            std::optional<ScalarType> dtype);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Tensor& self,
                                  int64_t dim, std::optional<ScalarType> dtype);
};

// cumsum.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out)
// -> Tensor(a!)
struct cumsum_out {
  using Signature =
      Tensor&(const Tensor&, int64_t, std::optional<ScalarType>, Tensor&);
  static constexpr const char* name = "aten::cumsum.out";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor& call(const Tensor& self, int64_t dim,
                             std::optional<ScalarType> dtype, Tensor& out);
  SY_API static Tensor& redispatch(DispatchKeySet keys, const Tensor& self,
                                   int64_t dim, std::optional<ScalarType> dtype,
                                   Tensor& out);
};

// cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)
// test/codegen/testdata/sample.yaml:57
struct cummax {
  using Signature = std::tuple<Tensor, Tensor>(const Tensor&, int64_t);
  static constexpr const char* name = "aten::cummax";
  SY_API static const OperatorEntry& entry();
  SY_API static std::tuple<Tensor, Tensor> call(const Tensor& self,
                                                int64_t dim);
  SY_API static std::tuple<Tensor, Tensor> redispatch(DispatchKeySet keys,
                                                      const Tensor& self,
                                                      int64_t dim);
};

// cummax.out(Tensor self, int dim, *, Tensor(a!) out0, Tensor(b!) out1) ->
// (Tensor(a!), Tensor(b!))
struct cummax_out {
  using Signature =
      std::tuple<Tensor&, Tensor&>(const Tensor&, int64_t, Tensor&, Tensor&);
  static constexpr const char* name = "aten::cummax.out";
  SY_API static const OperatorEntry& entry();
  SY_API static std::tuple<Tensor&, Tensor&> call(const Tensor& self,
                                                  int64_t dim, Tensor& out0,
                                                  Tensor& out1);
  SY_API static std::tuple<Tensor&, Tensor&> redispatch(
      DispatchKeySet keys, const Tensor& self, int64_t dim, Tensor& out0,
      Tensor& out1);
};

// transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)
// test/codegen/testdata/sample.yaml:62
struct transpose_int {
  using Signature = Tensor(const Tensor&, int64_t, int64_t);
  static constexpr const char* name = "aten::transpose.int";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Tensor& self, int64_t dim0, int64_t dim1);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Tensor& self,
                                  int64_t dim0, int64_t dim1);
};

// mm(Tensor self, Tensor mat2) -> Tensor
// test/codegen/testdata/sample.yaml:73
struct mm {
  using Signature = Tensor(const Tensor&, const Tensor&);
  static constexpr const char* name = "aten::mm";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Tensor& self, const Tensor& mat2);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Tensor& self,
                                  const Tensor& mat2);
};

// mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
struct mm_out {
  using Signature = Tensor&(const Tensor&, const Tensor&, Tensor&);
  static constexpr const char* name = "aten::mm.out";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor& call(const Tensor& self, const Tensor& mat2,
                             Tensor& out);
  SY_API static Tensor& redispatch(DispatchKeySet keys, const Tensor& self,
                                   const Tensor& mat2, Tensor& out);
};

// scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None,
// Device? device=None, bool? pin_memory=None) -> Tensor
// test/codegen/testdata/sample.yaml:86
struct scalar_tensor {
  using Signature = Tensor(const Scalar&, std::optional<ScalarType>,
                           std::optional<Layout>, std::optional<Device>,
                           std::optional<bool>);
  static constexpr const char* name = "aten::scalar_tensor";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Scalar& s, std::optional<ScalarType> dtype,
                            std::optional<Layout> layout,
                            std::optional<Device> device,
                            std::optional<bool> pin_memory);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Scalar& s,
                                  std::optional<ScalarType> dtype,
                                  std::optional<Layout> layout,
                                  std::optional<Device> device,
                                  std::optional<bool> pin_memory);
};

// item(Tensor self) -> Scalar
// test/codegen/testdata/sample.yaml:91
struct item {
  using Signature = Scalar(const Tensor&);
  static constexpr const char* name = "aten::item";
  SY_API static const OperatorEntry& entry();
  SY_API static Scalar call(const Tensor& self);
  SY_API static Scalar redispatch(DispatchKeySet keys, const Tensor& self);
};

// mm_backward(Tensor grad_out, Tensor self, Tensor mat2, bool[2] output_mask)
// -> (Tensor, Tensor)
// test/codegen/testdata/sample.yaml:96
struct mm_backward {
  using Signature = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&,
                                               const Tensor&, ArrayRef<bool>);
  static constexpr const char* name = "aten::mm_backward";
  SY_API static const OperatorEntry& entry();
  SY_API static std::tuple<Tensor, Tensor> call(const Tensor& grad_out,
                                                const Tensor& self,
                                                const Tensor& mat2,
                                                ArrayRef<bool> output_mask);
  SY_API static std::tuple<Tensor, Tensor> redispatch(
      DispatchKeySet keys, const Tensor& grad_out, const Tensor& self,
      const Tensor& mat2, ArrayRef<bool> output_mask);
};

// mm_backward.out(Tensor grad_out, Tensor self, Tensor mat2, bool[2]
// output_mask, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))
struct mm_backward_out {
  using Signature = std::tuple<Tensor&, Tensor&>(const Tensor&, const Tensor&,
                                                 const Tensor&, ArrayRef<bool>,
                                                 Tensor&, Tensor&);
  static constexpr const char* name = "aten::mm_backward.out";
  SY_API static const OperatorEntry& entry();
  SY_API static std::tuple<Tensor&, Tensor&> call(
      const Tensor& grad_out, const Tensor& self, const Tensor& mat2,
      ArrayRef<bool> output_mask, Tensor& out0, Tensor& out1);
  SY_API static std::tuple<Tensor&, Tensor&> redispatch(
      DispatchKeySet keys, const Tensor& grad_out, const Tensor& self,
      const Tensor& mat2, ArrayRef<bool> output_mask, Tensor& out0,
      Tensor& out1);
};

// index.Tensor(Tensor self, Tensor?[] indices) -> Tensor
// test/codegen/testdata/sample.yaml:102
struct index_Tensor {
  using Signature = Tensor(const Tensor&, ArrayRef<std::optional<Tensor>>);
  static constexpr const char* name = "aten::index.Tensor";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Tensor& self,
                            ArrayRef<std::optional<Tensor>> indices);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Tensor& self,
                                  ArrayRef<std::optional<Tensor>> indices);
};

// index.Tensor_out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) ->
// Tensor(a!)
struct index_Tensor_out {
  using Signature =
      Tensor&(const Tensor&, ArrayRef<std::optional<Tensor>>, Tensor&);
  static constexpr const char* name = "aten::index.Tensor_out";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor& call(const Tensor& self,
                             ArrayRef<std::optional<Tensor>> indices,
                             Tensor& out);
  SY_API static Tensor& redispatch(DispatchKeySet keys, const Tensor& self,
                                   ArrayRef<std::optional<Tensor>> indices,
                                   Tensor& out);
};

// index_put(Tensor self, Tensor?[] indices, Tensor values) -> Tensor
// test/codegen/testdata/sample.yaml:107
struct index_put {
  using Signature =
      Tensor(const Tensor&, ArrayRef<std::optional<Tensor>>, const Tensor&);
  static constexpr const char* name = "aten::index_put";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor call(const Tensor& self,
                            ArrayRef<std::optional<Tensor>> indices,
                            const Tensor& values);
  SY_API static Tensor redispatch(DispatchKeySet keys, const Tensor& self,
                                  ArrayRef<std::optional<Tensor>> indices,
                                  const Tensor& values);
};

// index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values) -> Tensor(a!)
struct index_put_ {
  using Signature =
      Tensor&(Tensor&, ArrayRef<std::optional<Tensor>>, const Tensor&);
  static constexpr const char* name = "aten::index_put_";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor& call(Tensor& self,
                             ArrayRef<std::optional<Tensor>> indices,
                             const Tensor& values);
  SY_API static Tensor& redispatch(DispatchKeySet keys, Tensor& self,
                                   ArrayRef<std::optional<Tensor>> indices,
                                   const Tensor& values);
};

// index_put.out(Tensor self, Tensor?[] indices, Tensor values, *, Tensor(a!)
// out) -> Tensor(a!)
struct index_put_out {
  using Signature = Tensor&(const Tensor&, ArrayRef<std::optional<Tensor>>,
                            const Tensor&, Tensor&);
  static constexpr const char* name = "aten::index_put.out";
  SY_API static const OperatorEntry& entry();
  SY_API static Tensor& call(const Tensor& self,
                             ArrayRef<std::optional<Tensor>> indices,
                             const Tensor& values, Tensor& out);
  SY_API static Tensor& redispatch(DispatchKeySet keys, const Tensor& self,
                                   ArrayRef<std::optional<Tensor>> indices,
                                   const Tensor& values, Tensor& out);
};

// can_cast(ScalarType from_, ScalarType to) -> bool
// test/codegen/testdata/sample.yaml:119
struct can_cast {
  using Signature = bool(ScalarType, ScalarType);
  static constexpr const char* name = "aten::can_cast";
  SY_API static const OperatorEntry& entry();
  SY_API static bool call(ScalarType from_, ScalarType to);
  SY_API static bool redispatch(DispatchKeySet keys, ScalarType from_,
                                ScalarType to);
};

}  // namespace sy::ops
