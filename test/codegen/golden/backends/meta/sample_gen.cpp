// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#include "aten/engine/operator_steps.h"
#include "aten/ops/sample_desc.h"
#include "aten/ops/sample_kernels.h"
#include "aten/ops/sample_ops.h"
#include "backends/meta/engine/pointwise.h"
#include "backends/meta/engine/reduce.h"
#include "backends/meta/engine/scan.h"
#include "backends/meta/sample_kernels_gen.h"
#include "c10/plugin/library.h"

namespace sy::meta {

namespace {

// test/codegen/testdata/sample.yaml:3
Tensor mul_Tensor_kernel(const Tensor& self, const Tensor& other) {
  const TensorBase* const inputs[] = {&self, &other};
  return pointwise(desc::mul_Tensor, {inputs});
}

Tensor& mul__Tensor_kernel(Tensor& self, const Tensor& other) {
  const TensorBase* const inputs[] = {&self, &other};
  pointwise_inplace(desc::mul_Tensor, {inputs}, ops::mul__Tensor::entry(),
                    self);
  return self;
}

Tensor& mul_out_kernel(const Tensor& self, const Tensor& other, Tensor& out) {
  const TensorBase* const inputs[] = {&self, &other};
  pointwise_out(desc::mul_Tensor, {inputs}, ops::mul_out::entry(), out);
  return out;
}

// test/codegen/testdata/sample.yaml:13
Tensor soften_kernel(const Tensor& self, const Tensor& weight,
                     const Scalar& slope, std::string_view mode) {
  contract::soften(self, weight, slope, mode);
  const TensorBase* const inputs[] = {&self, &weight};
  const Scalar scalars[] = {slope, Scalar(mode == "half")};
  return pointwise(desc::soften, {inputs, scalars});
}

Tensor& soften_out_kernel(const Tensor& self, const Tensor& weight,
                          const Scalar& slope, std::string_view mode,
                          Tensor& out) {
  contract::soften(self, weight, slope, mode);
  const TensorBase* const inputs[] = {&self, &weight};
  const Scalar scalars[] = {slope, Scalar(mode == "half")};
  pointwise_out(desc::soften, {inputs, scalars}, ops::soften_out::entry(), out);
  return out;
}

// test/codegen/testdata/sample.yaml:34
Tensor sum_dim_IntList_kernel(const Tensor& self, OptionalIntArrayRef dim,
                              bool keepdim, std::optional<ScalarType> dtype) {
  return reduce(desc::sum_dim_IntList, {&self, dim, keepdim, dtype});
}

Tensor& sum_IntList_out_kernel(const Tensor& self, OptionalIntArrayRef dim,
                               bool keepdim, std::optional<ScalarType> dtype,
                               Tensor& out) {
  reduce_out(desc::sum_dim_IntList, {&self, dim, keepdim, dtype},
             ops::sum_IntList_out::entry(), out);
  return out;
}

// test/codegen/testdata/sample.yaml:43
std::tuple<Tensor, Tensor> aminmax_kernel(const Tensor& self,
                                          OptionalIntArrayRef dim,
                                          bool keepdim) {
  Tensor results[2];
  reduce_results(desc::aminmax, {&self, dim, keepdim}, results);
  return {results[0], results[1]};
}

std::tuple<Tensor&, Tensor&> aminmax_out_kernel(const Tensor& self,
                                                OptionalIntArrayRef dim,
                                                bool keepdim, Tensor& out0,
                                                Tensor& out1) {
  Tensor* const outs[] = {&out0, &out1};
  reduce_outs(desc::aminmax, {&self, dim, keepdim}, ops::aminmax_out::entry(),
              outs);
  return {out0, out1};
}

// test/codegen/testdata/sample.yaml:51
Tensor cumsum_kernel(const Tensor& self, int64_t dim,
                     std::optional<ScalarType> dtype) {
  Tensor results[1];
  scan_results(desc::cumsum, {&self, dim, dtype}, results);
  return results[0];
}

Tensor& cumsum_out_kernel(const Tensor& self, int64_t dim,
                          std::optional<ScalarType> dtype, Tensor& out) {
  Tensor* const outs[] = {&out};
  scan_outs(desc::cumsum, {&self, dim, dtype}, ops::cumsum_out::entry(), outs);
  return out;
}

// test/codegen/testdata/sample.yaml:57
std::tuple<Tensor, Tensor> cummax_kernel(const Tensor& self, int64_t dim) {
  Tensor results[2];
  scan_results(desc::cummax, {&self, dim}, results);
  return {results[0], results[1]};
}

std::tuple<Tensor&, Tensor&> cummax_out_kernel(const Tensor& self, int64_t dim,
                                               Tensor& out0, Tensor& out1) {
  Tensor* const outs[] = {&out0, &out1};
  scan_outs(desc::cummax, {&self, dim}, ops::cummax_out::entry(), outs);
  return {out0, out1};
}

// test/codegen/testdata/sample.yaml:73
Tensor mm_kernel(const Tensor& self, const Tensor& mat2) {
  Dims sizes[1];
  contract::mm(self, mat2, sizes);
  const Tensor out = new_result(self, sizes[0], self.scalar_type());
  return out;
}

Tensor& mm_out_kernel(const Tensor& self, const Tensor& mat2, Tensor& out) {
  Dims sizes[1];
  contract::mm(self, mat2, sizes);
  generated::check_out_dtype(ops::mm_out::entry(), out, self.scalar_type());
  prepare_out(ops::mm_out::entry(), out, sizes[0], self.scalar_type(),
              self.device());
  return out;
}

// test/codegen/testdata/sample.yaml:107
Tensor index_put_kernel(const Tensor& self,
                        ArrayRef<std::optional<Tensor>> indices,
                        const Tensor& values) {
  Dims sizes[1];
  contract::index_put(self, indices, values, sizes);
  const Tensor out = new_result(self, sizes[0], self.scalar_type());
  return out;
}

Tensor& index_put_out_kernel(const Tensor& self,
                             ArrayRef<std::optional<Tensor>> indices,
                             const Tensor& values, Tensor& out) {
  Dims sizes[1];
  contract::index_put(self, indices, values, sizes);
  generated::check_out_dtype(ops::index_put_out::entry(), out,
                             self.scalar_type());
  prepare_out(ops::index_put_out::entry(), out, sizes[0], self.scalar_type(),
              self.device());
  return out;
}

}  // namespace

SY_LIBRARY_IMPL(aten, Meta, m) {
  m.impl("mul.Tensor", SY_FN(mul_Tensor_kernel).checks_itself());
  m.impl("mul_.Tensor", SY_FN(mul__Tensor_kernel).checks_itself());
  m.impl("mul.out", SY_FN(mul_out_kernel).checks_itself());
  m.impl("soften", SY_FN(soften_kernel).checks_itself());
  m.impl("soften.out", SY_FN(soften_out_kernel).checks_itself());
  m.impl("sum.dim_IntList", SY_FN(sum_dim_IntList_kernel).checks_itself());
  m.impl("sum.IntList_out", SY_FN(sum_IntList_out_kernel).checks_itself());
  m.impl("aminmax", SY_FN(aminmax_kernel).checks_itself());
  m.impl("aminmax.out", SY_FN(aminmax_out_kernel).checks_itself());
  m.impl("cumsum", SY_FN(cumsum_kernel).checks_itself());
  m.impl("cumsum.out", SY_FN(cumsum_out_kernel).checks_itself());
  m.impl("cummax", SY_FN(cummax_kernel).checks_itself());
  m.impl("cummax.out", SY_FN(cummax_out_kernel).checks_itself());
  m.impl("mm", SY_FN(mm_kernel).checks_itself());
  m.impl("mm.out", SY_FN(mm_out_kernel).checks_itself());
  m.impl("index_put", SY_FN(index_put_kernel).checks_itself());
  m.impl("index_put.out", SY_FN(index_put_out_kernel).checks_itself());
}

}  // namespace sy::meta
