// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#include "aten/engine/operator_steps.h"
#include "aten/ops/sample_kernels.h"
#include "aten/ops/sample_ops.h"
#include "backends/meta/sample_kernels_gen.h"
#include "c10/plugin/library.h"

namespace sy::meta {

namespace {

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
  m.impl("mm", SY_FN(mm_kernel).checks_itself());
  m.impl("mm.out", SY_FN(mm_out_kernel).checks_itself());
  m.impl("index_put", SY_FN(index_put_kernel).checks_itself());
  m.impl("index_put.out", SY_FN(index_put_out_kernel).checks_itself());
}

}  // namespace sy::meta
