// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#include "aten/backend/engine_kernels.h"
#include "aten/engine/operator_steps.h"
#include "aten/ops/sample_engine_kernels.h"
#include "aten/ops/sample_kernels.h"
#include "aten/ops/sample_ops.h"
#include "backends/cpu/backend_gen.h"
#include "backends/cpu/sample_kernels_gen.h"
#include "c10/plugin/library.h"

namespace sy::cpu {

namespace {

// test/codegen/testdata/sample.yaml:73
Tensor mm_kernel(const Tensor& self, const Tensor& mat2) {
  Dims sizes[1];
  contract::mm(self, mat2, sizes);
  const Tensor out = new_result(self, sizes[0], self.scalar_type());
  mm_out(self, mat2, out);
  return out;
}

Tensor& mm_out_kernel(const Tensor& self, const Tensor& mat2, Tensor& out) {
  Dims sizes[1];
  contract::mm(self, mat2, sizes);
  generated::check_out_dtype(ops::mm_out::entry(), out, self.scalar_type());
  const auto fill = [&](const Tensor& result) { mm_out(self, mat2, result); };
  generated::fill_out(ops::mm_out::entry(), out, sizes[0], self.scalar_type(),
                      self.device(), {&self, &mat2}, fill);
  return out;
}

// test/codegen/testdata/sample.yaml:107
Tensor index_put_kernel(const Tensor& self,
                        ArrayRef<std::optional<Tensor>> indices,
                        const Tensor& values) {
  Dims sizes[1];
  contract::index_put(self, indices, values, sizes);
  const Tensor out = new_result(self, sizes[0], self.scalar_type());
  index_put_out(self, indices, values, out);
  return out;
}

Tensor& index_put_out_kernel(const Tensor& self,
                             ArrayRef<std::optional<Tensor>> indices,
                             const Tensor& values, Tensor& out) {
  Dims sizes[1];
  contract::index_put(self, indices, values, sizes);
  generated::check_out_dtype(ops::index_put_out::entry(), out,
                             self.scalar_type());
  const Tensor result = new_result(self, sizes[0], self.scalar_type());
  index_put_out(self, indices, values, result);
  store_result(ops::index_put_out::entry(), result, out);
  return out;
}

Tensor& index_put__kernel(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                          const Tensor& values) {
  Dims sizes[1];
  contract::index_put(self, indices, values, sizes);
  generated::check_inplace_sizes(ops::index_put_::entry(), self, sizes[0]);
  const auto fill = [&](const Tensor& result) {
    index_put_out(self, indices, values, result);
  };
  generated::fill_out(ops::index_put_::entry(), self, sizes[0],
                      self.scalar_type(), self.device(), {&values}, fill);
  return self;
}

}  // namespace

SY_LIBRARY_IMPL(aten, CPU, m) {
  EngineKernels kernels(m, kEngines);
  engine_kernels::add_sample<KnownEngines<kEngines>>(kernels);
  m.impl("mm", SY_FN(mm_kernel).checks_itself());
  m.impl("mm.out", SY_FN(mm_out_kernel).checks_itself());
  m.impl("mm_backward", SY_FN(mm_backward));
  m.impl("index.Tensor", SY_FN(index_tensor));
  m.impl("index_put", SY_FN(index_put_kernel).checks_itself());
  m.impl("index_put.out", SY_FN(index_put_out_kernel).checks_itself());
  m.impl("index_put_", SY_FN(index_put__kernel).checks_itself());
}

}  // namespace sy::cpu
