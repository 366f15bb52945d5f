// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#pragma once

#include "aten/backend/engine_kernels.h"
#include "aten/engine/apart.h"
#include "aten/engine/pointwise.h"
#include "aten/ops/sample_desc.h"
#include "aten/ops/sample_kernels.h"
#include "aten/ops/sample_ops.h"

namespace sy::engine_kernels {

// test/codegen/testdata/sample.yaml:3
template <class Engines>
Tensor mul_Tensor_kernel(Engines engines, const Tensor& self,
                         const Tensor& other) {
  const TensorBase* const inputs[] = {&self, &other};
  return engines->pointwise->run(desc::mul_Tensor, {inputs});
}

template <class Engines>
Tensor& mul__Tensor_kernel(Engines engines, Tensor& self, const Tensor& other) {
  const TensorBase* const inputs[] = {&self, &other};
  if (SY_UNLIKELY(engines->has_data && reads_what_it_writes(
      desc::mul_Tensor, {inputs}, self, true))) {
    return mul__Tensor_kernel(engines, self,
                              generated::another_apart(other, self));
  }
  engines->pointwise->inplace(desc::mul_Tensor, {inputs},
                              ops::mul__Tensor::entry(), self);
  return self;
}

template <class Engines>
Tensor& mul_out_kernel(Engines engines, const Tensor& self, const Tensor& other,
                       Tensor& out) {
  const TensorBase* const inputs[] = {&self, &other};
  if (SY_UNLIKELY(engines->has_data && reads_what_it_writes(
      desc::mul_Tensor, {inputs}, out, false))) {
    return mul_out_kernel(engines, generated::another_apart(self, out),
                          generated::another_apart(other, out), out);
  }
  engines->pointwise->out(desc::mul_Tensor, {inputs}, ops::mul_out::entry(),
                          out);
  return out;
}

// test/codegen/testdata/sample.yaml:13
template <class Engines>
Tensor soften_kernel(Engines engines, const Tensor& self, const Tensor& weight,
                     const Scalar& slope, std::string_view mode) {
  contract::soften(self, weight, slope, mode);
  const TensorBase* const inputs[] = {&self, &weight};
  const Scalar scalars[] = {slope, Scalar(mode == "half")};
  return engines->pointwise->run(desc::soften, {inputs, scalars});
}

template <class Engines>
Tensor& soften_out_kernel(Engines engines, const Tensor& self,
                          const Tensor& weight, const Scalar& slope,
                          std::string_view mode, Tensor& out) {
  contract::soften(self, weight, slope, mode);
  const TensorBase* const inputs[] = {&self, &weight};
  const Scalar scalars[] = {slope, Scalar(mode == "half")};
  if (SY_UNLIKELY(engines->has_data && reads_what_it_writes(
      desc::soften, {inputs, scalars}, out, false))) {
    return soften_out_kernel(engines, generated::another_apart(self, out),
                             generated::another_apart(weight, out), slope, mode,
                             out);
  }
  engines->pointwise->out(desc::soften, {inputs, scalars},
                          ops::soften_out::entry(), out);
  return out;
}

// test/codegen/testdata/sample.yaml:34
template <class Engines>
Tensor sum_dim_IntList_kernel(Engines engines, const Tensor& self,
                              OptionalIntArrayRef dim, bool keepdim,
                              std::optional<ScalarType> dtype) {
  return engines->reduce->run(desc::sum_dim_IntList,
                              {&self, dim, keepdim, dtype});
}

template <class Engines>
Tensor& sum_IntList_out_kernel(Engines engines, const Tensor& self,
                               OptionalIntArrayRef dim, bool keepdim,
                               std::optional<ScalarType> dtype, Tensor& out) {
  if (SY_UNLIKELY(engines->has_data && generated::shares(self, out))) {
    return sum_IntList_out_kernel(engines, generated::apart(self, out), dim,
                                  keepdim, dtype, out);
  }
  engines->reduce->out(desc::sum_dim_IntList, {&self, dim, keepdim, dtype},
                       ops::sum_IntList_out::entry(), out);
  return out;
}

// test/codegen/testdata/sample.yaml:43
template <class Engines>
std::tuple<Tensor, Tensor> aminmax_kernel(Engines engines, const Tensor& self,
                                          OptionalIntArrayRef dim,
                                          bool keepdim) {
  Tensor results[2];
  engines->reduce->results(desc::aminmax, {&self, dim, keepdim}, results);
  return {results[0], results[1]};
}

template <class Engines>
std::tuple<Tensor&, Tensor&> aminmax_out_kernel(
    Engines engines, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
    Tensor& out0, Tensor& out1) {
  if (SY_UNLIKELY(engines->has_data && generated::shares(self, out0, out1))) {
    return aminmax_out_kernel(engines, generated::apart(self, out0, out1), dim,
                              keepdim, out0, out1);
  }
  Tensor* const outs[] = {&out0, &out1};
  engines->reduce->outs(desc::aminmax, {&self, dim, keepdim},
                        ops::aminmax_out::entry(), outs);
  return {out0, out1};
}

// test/codegen/testdata/sample.yaml:51
template <class Engines>
Tensor cumsum_kernel(Engines engines, const Tensor& self, int64_t dim,
                     std::optional<ScalarType> dtype) {
  Tensor results[1];
  engines->scan->results(desc::cumsum, {&self, dim, dtype}, results);
  return results[0];
}

template <class Engines>
Tensor& cumsum_out_kernel(Engines engines, const Tensor& self, int64_t dim,
                          std::optional<ScalarType> dtype, Tensor& out) {
  if (SY_UNLIKELY(engines->has_data && generated::shares(self, out))) {
    return cumsum_out_kernel(engines, generated::apart(self, out), dim, dtype,
                             out);
  }
  Tensor* const outs[] = {&out};
  engines->scan->outs(desc::cumsum, {&self, dim, dtype},
                      ops::cumsum_out::entry(), outs);
  return out;
}

// test/codegen/testdata/sample.yaml:57
template <class Engines>
std::tuple<Tensor, Tensor> cummax_kernel(Engines engines, const Tensor& self,
                                         int64_t dim) {
  Tensor results[2];
  engines->scan->results(desc::cummax, {&self, dim}, results);
  return {results[0], results[1]};
}

template <class Engines>
std::tuple<Tensor&, Tensor&> cummax_out_kernel(Engines engines,
                                               const Tensor& self, int64_t dim,
                                               Tensor& out0, Tensor& out1) {
  if (SY_UNLIKELY(engines->has_data && generated::shares(self, out0, out1))) {
    return cummax_out_kernel(engines, generated::apart(self, out0, out1), dim,
                             out0, out1);
  }
  Tensor* const outs[] = {&out0, &out1};
  engines->scan->outs(desc::cummax, {&self, dim}, ops::cummax_out::entry(),
                      outs);
  return {out0, out1};
}

template <class Engines>
void add_sample(EngineKernels& m) {
  m.pointwise<&mul_Tensor_kernel<Engines>>("mul.Tensor");
  m.pointwise<&mul__Tensor_kernel<Engines>>("mul_.Tensor");
  m.pointwise<&mul_out_kernel<Engines>>("mul.out");
  m.pointwise<&soften_kernel<Engines>>("soften");
  m.pointwise<&soften_out_kernel<Engines>>("soften.out");
  m.reduce<&sum_dim_IntList_kernel<Engines>>("sum.dim_IntList");
  m.reduce<&sum_IntList_out_kernel<Engines>>("sum.IntList_out");
  m.reduce<&aminmax_kernel<Engines>>("aminmax");
  m.reduce<&aminmax_out_kernel<Engines>>("aminmax.out");
  m.scan<&cumsum_kernel<Engines>>("cumsum");
  m.scan<&cumsum_out_kernel<Engines>>("cumsum.out");
  m.scan<&cummax_kernel<Engines>>("cummax");
  m.scan<&cummax_out_kernel<Engines>>("cummax.out");
}

}  // namespace sy::engine_kernels
