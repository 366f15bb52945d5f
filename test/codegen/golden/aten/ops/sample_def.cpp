// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#include "aten/backend/decompose.h"
#include "aten/engine/apart.h"
#include "aten/engine/foreach.h"
#include "aten/engine/geometry.h"
#include "aten/engine/guard.h"
#include "aten/engine/operator_steps.h"
#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"
#include "aten/engine/scan.h"
#include "aten/engine/view.h"
#include "aten/ops/sample_desc.h"
#include "aten/ops/sample_engine_kernels.h"
#include "aten/ops/sample_kernels.h"
#include "aten/ops/sample_ops.h"
#include "c10/plugin/library.h"

namespace sy {

// The functions that are called, declared here: another operator of their
// families is no reason to compile this again.
SY_API Tensor mul(const Tensor& self, const Scalar& other);
SY_API Tensor mul(const Tensor& self, const Tensor& other);
SY_API Tensor scalar_tensor(const Scalar& s, TensorOptions options = {});

namespace contract {

// test/codegen/testdata/sample.yaml:13
void soften([[maybe_unused]] const Tensor& self,
            [[maybe_unused]] const Tensor& weight,
            [[maybe_unused]] const Scalar& slope, std::string_view mode) {
  SY_CHECK(mode == "none" || mode == "half", Value,
           "[soften] mode: expected 'none' or 'half', got mode = {}", mode);
}

// test/codegen/testdata/sample.yaml:73
void mm(const Tensor& self, const Tensor& mat2, Dims* sizes) {
  const TensorBase* const tensors[] = {&self, &mat2};
  check_same_device(ops::mm::entry(), tensors, 2);
  SY_CHECK(self.dim() == 2, Value,
           "[mm] self: expected a matrix, got self.dim() = {}", self.dim());
  SY_CHECK(mat2.dim() == 2, Value,
           "[mm] mat2: expected a matrix, got mat2.dim() = {}", mat2.dim());
  SY_CHECK(self.size(1) == mat2.size(0), Value,
           "[mm] self: expected as many columns as mat2 has rows, got "
           "self.size(1) = {}, mat2.size(0) = {}", self.size(1), mat2.size(0));
  sizes[0] = Dims(IntArrayRef({self.size(0), mat2.size(1)}));
}

// test/codegen/testdata/sample.yaml:96
void mm_backward(const Tensor& grad_out, const Tensor& self, const Tensor& mat2,
                 ArrayRef<bool> output_mask) {
  const TensorBase* const tensors[] = {&grad_out, &self, &mat2};
  check_same_device(ops::mm_backward::entry(), tensors, 3);
  generated::check_list_size("mm_backward", "output_mask", output_mask.size(),
                             2);
}

// test/codegen/testdata/sample.yaml:102
void index_Tensor([[maybe_unused]] const Tensor& self,
                  [[maybe_unused]] ArrayRef<std::optional<Tensor>> indices) {}

// test/codegen/testdata/sample.yaml:107
void index_put(const Tensor& self,
               [[maybe_unused]] ArrayRef<std::optional<Tensor>> indices,
               const Tensor& values, Dims* sizes) {
  const TensorBase* const tensors[] = {&self, &values};
  check_same_device(ops::index_put::entry(), tensors, 2);
  sizes[0] = Dims(self.sizes());
}

}  // namespace contract

namespace {

Tensor mul_Tensor_guard(const Kernel* k, DispatchKeySet keys,
                        const Tensor& self, const Tensor& other) {
  const TensorBase* const inputs[] = {&self, &other};
  check_pointwise(desc::mul_Tensor, {inputs});
  return generated::call_guarded<ops::mul_Tensor>(k, keys, self, other);
}

Tensor& mul__Tensor_guard(const Kernel* k, DispatchKeySet keys, Tensor& self,
                          const Tensor& other) {
  const TensorBase* const inputs[] = {&self, &other};
  if (SY_UNLIKELY(
      reads_what_it_writes(desc::mul_Tensor, {inputs}, self, true))) {
    return mul__Tensor_guard(k, keys, self,
                             generated::another_apart(other, self));
  }
  check_pointwise_out(desc::mul_Tensor, {inputs}, self, true);
  self.impl()->bump_version(&ops::mul__Tensor::entry());
  return generated::call_guarded<ops::mul__Tensor>(k, keys, self, other);
}

Tensor& mul_out_guard(const Kernel* k, DispatchKeySet keys, const Tensor& self,
                      const Tensor& other, Tensor& out) {
  const TensorBase* const inputs[] = {&self, &other};
  if (SY_UNLIKELY(
      reads_what_it_writes(desc::mul_Tensor, {inputs}, out, false))) {
    return mul_out_guard(k, keys, generated::another_apart(self, out),
                         generated::another_apart(other, out), out);
  }
  check_pointwise_out(desc::mul_Tensor, {inputs}, out, false);
  out.impl()->bump_version(&ops::mul_out::entry());
  return generated::call_guarded<ops::mul_out>(k, keys, self, other, out);
}

Tensor& mul__Tensor_store(Tensor& self, const Tensor& other) {
  assert_no_partial_overlap("mul.Tensor", self, "other", other);
  const Tensor result = ops::mul_Tensor::call(self, other);
  store_inplace(ops::mul__Tensor::entry(), result, self);
  return self;
}

Tensor& mul_out_store(const Tensor& self, const Tensor& other, Tensor& out) {
  assert_no_partial_overlap("mul.Tensor", out, "self", self);
  assert_no_partial_overlap("mul.Tensor", out, "other", other);
  const Tensor result = ops::mul_Tensor::call(self, other);
  store_result(ops::mul_out::entry(), result, out);
  return out;
}

Tensor soften_guard(const Kernel* k, DispatchKeySet keys, const Tensor& self,
                    const Tensor& weight, const Scalar& slope,
                    std::string_view mode) {
  contract::soften(self, weight, slope, mode);
  const TensorBase* const inputs[] = {&self, &weight};
  const Scalar scalars[] = {slope, Scalar(mode == "half")};
  check_pointwise(desc::soften, {inputs, scalars});
  return generated::call_guarded<ops::soften>(k, keys, self, weight, slope,
                                              mode);
}

Tensor& soften_out_guard(const Kernel* k, DispatchKeySet keys,
                         const Tensor& self, const Tensor& weight,
                         const Scalar& slope, std::string_view mode,
                         Tensor& out) {
  contract::soften(self, weight, slope, mode);
  const TensorBase* const inputs[] = {&self, &weight};
  const Scalar scalars[] = {slope, Scalar(mode == "half")};
  if (SY_UNLIKELY(
      reads_what_it_writes(desc::soften, {inputs, scalars}, out, false))) {
    return soften_out_guard(k, keys, generated::another_apart(self, out),
                            generated::another_apart(weight, out), slope, mode,
                            out);
  }
  check_pointwise_out(desc::soften, {inputs, scalars}, out, false);
  out.impl()->bump_version(&ops::soften_out::entry());
  return generated::call_guarded<ops::soften_out>(k, keys, self, weight, slope,
                                                  mode, out);
}

Tensor& soften_out_store(const Tensor& self, const Tensor& weight,
                         const Scalar& slope, std::string_view mode,
                         Tensor& out) {
  assert_no_partial_overlap("soften", out, "self", self);
  assert_no_partial_overlap("soften", out, "weight", weight);
  const Tensor result = ops::soften::call(self, weight, slope, mode);
  store_result(ops::soften_out::entry(), result, out);
  return out;
}

// test/codegen/testdata/sample.yaml:25
Tensor mul_Scalar_composite(const Tensor& self, const Scalar& other) {
  return sy::mul(self, sy::scalar_tensor(other));
}

// test/codegen/testdata/sample.yaml:30
std::vector<Tensor> _foreach_mul_List_foreach(TensorList self,
                                              TensorList other) {
  generated::check_foreach("_foreach_mul.List", "self", self.size());
  generated::check_length("_foreach_mul.List", "other", other.size(),
                          self.size());
  std::vector<Tensor> results;
  results.reserve(self.size());
  for (size_t i = 0; i < self.size(); ++i) {
    results.push_back(sy::mul(self[i], other[i]));
  }
  return results;
}

void _foreach_mul__List_foreach(TensorList self, TensorList other) {
  generated::check_foreach("_foreach_mul_.List", "self", self.size());
  generated::check_length("_foreach_mul_.List", "other", other.size(),
                          self.size());
  for (size_t i = 0; i < self.size(); ++i) {
    Tensor each = self[i];
    each.mul_(other[i]);
  }
  generated::name_writers(ops::_foreach_mul__List::entry(), self);
}

void _foreach_mul_List_out_foreach(TensorList self, TensorList other,
                                   TensorList out) {
  generated::check_foreach("_foreach_mul.List_out", "self", self.size());
  generated::check_length("_foreach_mul.List_out", "out", out.size(),
                          self.size());
  generated::store_each(ops::_foreach_mul_List_out::entry(),
                        ops::_foreach_mul_List::call(self, other), out);
}

Tensor sum_dim_IntList_guard(const Kernel* k, DispatchKeySet keys,
                             const Tensor& self, OptionalIntArrayRef dim,
                             bool keepdim, std::optional<ScalarType> dtype) {
  check_reduce(desc::sum_dim_IntList, {&self, dim, keepdim, dtype});
  return generated::call_guarded<ops::sum_dim_IntList>(k, keys, self, dim,
                                                       keepdim, dtype);
}

Tensor& sum_IntList_out_guard(const Kernel* k, DispatchKeySet keys,
                              const Tensor& self, OptionalIntArrayRef dim,
                              bool keepdim, std::optional<ScalarType> dtype,
                              Tensor& out) {
  if (SY_UNLIKELY(generated::shares(self, out))) {
    return sum_IntList_out_guard(k, keys, generated::apart(self, out), dim,
                                 keepdim, dtype, out);
  }
  check_reduce_out(desc::sum_dim_IntList, {&self, dim, keepdim, dtype}, out);
  out.impl()->bump_version(&ops::sum_IntList_out::entry());
  return generated::call_guarded<ops::sum_IntList_out>(k, keys, self, dim,
                                                       keepdim, dtype, out);
}

Tensor& sum_IntList_out_store(const Tensor& self, OptionalIntArrayRef dim,
                              bool keepdim, std::optional<ScalarType> dtype,
                              Tensor& out) {
  const Tensor result = ops::sum_dim_IntList::call(self, dim, keepdim, dtype);
  store_result(ops::sum_IntList_out::entry(), result, out);
  return out;
}

std::tuple<Tensor, Tensor> aminmax_guard(const Kernel* k, DispatchKeySet keys,
                                         const Tensor& self,
                                         OptionalIntArrayRef dim,
                                         bool keepdim) {
  check_reduce(desc::aminmax, {&self, dim, keepdim});
  return generated::call_guarded<ops::aminmax>(k, keys, self, dim, keepdim);
}

std::tuple<Tensor&, Tensor&> aminmax_out_guard(
    const Kernel* k, DispatchKeySet keys, const Tensor& self,
    OptionalIntArrayRef dim, bool keepdim, Tensor& out0, Tensor& out1) {
  if (SY_UNLIKELY(generated::shares(self, out0, out1))) {
    return aminmax_out_guard(k, keys, generated::apart(self, out0, out1), dim,
                             keepdim, out0, out1);
  }
  generated::check_outs_apart(ops::aminmax_out::entry(), {&out0, &out1});
  Tensor* const outs[] = {&out0, &out1};
  check_reduce_outs(desc::aminmax, {&self, dim, keepdim}, outs);
  out0.impl()->bump_version(&ops::aminmax_out::entry());
  out1.impl()->bump_version(&ops::aminmax_out::entry());
  return generated::call_guarded<ops::aminmax_out>(k, keys, self, dim, keepdim,
                                                   out0, out1);
}

std::tuple<Tensor&, Tensor&> aminmax_out_store(const Tensor& self,
                                               OptionalIntArrayRef dim,
                                               bool keepdim, Tensor& out0,
                                               Tensor& out1) {
  generated::check_outs_apart(ops::aminmax_out::entry(), {&out0, &out1});
  const auto results = ops::aminmax::call(self, dim, keepdim);
  generated::check_out_dtype(ops::aminmax_out::entry(), out0,
                             std::get<0>(results).scalar_type());
  generated::check_out_dtype(ops::aminmax_out::entry(), out1,
                             std::get<1>(results).scalar_type());
  store_result(ops::aminmax_out::entry(), std::get<0>(results), out0);
  store_result(ops::aminmax_out::entry(), std::get<1>(results), out1);
  return {out0, out1};
}

Tensor cumsum_guard(const Kernel* k, DispatchKeySet keys, const Tensor& self,
                    int64_t dim, std::optional<ScalarType> dtype) {
  check_scan(desc::cumsum, {&self, dim, dtype});
  return generated::call_guarded<ops::cumsum>(k, keys, self, dim, dtype);
}

Tensor& cumsum_out_guard(const Kernel* k, DispatchKeySet keys,
                         const Tensor& self, int64_t dim,
                         std::optional<ScalarType> dtype, Tensor& out) {
  if (SY_UNLIKELY(generated::shares(self, out))) {
    return cumsum_out_guard(k, keys, generated::apart(self, out), dim, dtype,
                            out);
  }
  Tensor* const outs[] = {&out};
  check_scan_outs(desc::cumsum, {&self, dim, dtype}, outs);
  out.impl()->bump_version(&ops::cumsum_out::entry());
  return generated::call_guarded<ops::cumsum_out>(k, keys, self, dim, dtype,
                                                  out);
}

Tensor& cumsum_out_store(const Tensor& self, int64_t dim,
                         std::optional<ScalarType> dtype, Tensor& out) {
  const Tensor result = ops::cumsum::call(self, dim, dtype);
  store_result(ops::cumsum_out::entry(), result, out);
  return out;
}

std::tuple<Tensor, Tensor> cummax_guard(const Kernel* k, DispatchKeySet keys,
                                        const Tensor& self, int64_t dim) {
  check_scan(desc::cummax, {&self, dim});
  return generated::call_guarded<ops::cummax>(k, keys, self, dim);
}

std::tuple<Tensor&, Tensor&> cummax_out_guard(const Kernel* k,
                                              DispatchKeySet keys,
                                              const Tensor& self, int64_t dim,
                                              Tensor& out0, Tensor& out1) {
  if (SY_UNLIKELY(generated::shares(self, out0, out1))) {
    return cummax_out_guard(k, keys, generated::apart(self, out0, out1), dim,
                            out0, out1);
  }
  generated::check_outs_apart(ops::cummax_out::entry(), {&out0, &out1});
  Tensor* const outs[] = {&out0, &out1};
  check_scan_outs(desc::cummax, {&self, dim}, outs);
  out0.impl()->bump_version(&ops::cummax_out::entry());
  out1.impl()->bump_version(&ops::cummax_out::entry());
  return generated::call_guarded<ops::cummax_out>(k, keys, self, dim, out0,
                                                  out1);
}

std::tuple<Tensor&, Tensor&> cummax_out_store(const Tensor& self, int64_t dim,
                                              Tensor& out0, Tensor& out1) {
  generated::check_outs_apart(ops::cummax_out::entry(), {&out0, &out1});
  const auto results = ops::cummax::call(self, dim);
  generated::check_out_dtype(ops::cummax_out::entry(), out0,
                             std::get<0>(results).scalar_type());
  generated::check_out_dtype(ops::cummax_out::entry(), out1,
                             std::get<1>(results).scalar_type());
  store_result(ops::cummax_out::entry(), std::get<0>(results), out0);
  store_result(ops::cummax_out::entry(), std::get<1>(results), out1);
  return {out0, out1};
}

// test/codegen/testdata/sample.yaml:62
Tensor transpose_int_view(const Tensor& self, int64_t dim0, int64_t dim1) {
  const Dims new_sizes =
      geometry::swapped("transpose.int", self.sizes(), dim0, dim1);
  const Dims new_strides =
      geometry::swapped("transpose.int", self.strides(), dim0, dim1);
  generated::ViewArgs view_args;
  view_args.add(dim0).add(dim1);
  return make_view(self, ops::transpose_int::entry(), new_sizes, new_strides,
                   self.storage_offset(), view_args.data(), view_args.size());
}

Tensor mm_guard(const Kernel* k, DispatchKeySet keys, const Tensor& self,
                const Tensor& mat2) {
  Dims sizes[1];
  contract::mm(self, mat2, sizes);
  return generated::call_guarded<ops::mm>(k, keys, self, mat2);
}

Tensor& mm_out_guard(const Kernel* k, DispatchKeySet keys, const Tensor& self,
                     const Tensor& mat2, Tensor& out) {
  if (SY_UNLIKELY(
      generated::shares(self, out) || generated::shares(mat2, out))) {
    return mm_out_guard(k, keys, generated::apart(self, out),
                        generated::apart(mat2, out), out);
  }
  Dims sizes[1];
  contract::mm(self, mat2, sizes);
  prepare_out(ops::mm_out::entry(), out, sizes[0], self.scalar_type(),
              self.device());
  return generated::call_guarded<ops::mm_out>(k, keys, self, mat2, out);
}

Tensor& mm_out_store(const Tensor& self, const Tensor& mat2, Tensor& out) {
  const Tensor result = ops::mm::call(self, mat2);
  generated::check_out_dtype(ops::mm_out::entry(), out, result.scalar_type());
  store_result(ops::mm_out::entry(), result, out);
  return out;
}

std::tuple<Tensor, Tensor> mm_backward_guard(
    const Kernel* k, DispatchKeySet keys, const Tensor& grad_out,
    const Tensor& self, const Tensor& mat2, ArrayRef<bool> output_mask) {
  contract::mm_backward(grad_out, self, mat2, output_mask);
  return generated::call_guarded<ops::mm_backward>(k, keys, grad_out, self,
                                                   mat2, output_mask);
}

std::tuple<Tensor&, Tensor&> mm_backward_out_guard(
    const Kernel* k, DispatchKeySet keys, const Tensor& grad_out,
    const Tensor& self, const Tensor& mat2, ArrayRef<bool> output_mask,
    Tensor& out0, Tensor& out1) {
  if (SY_UNLIKELY(generated::shares(
      grad_out, out0, out1) || generated::shares(
          self, out0, out1) || generated::shares(mat2, out0, out1))) {
    return mm_backward_out_guard(
        k, keys, generated::apart(grad_out, out0, out1),
        generated::apart(self, out0, out1), generated::apart(mat2, out0, out1),
        output_mask, out0, out1);
  }
  generated::check_outs_apart(ops::mm_backward_out::entry(), {&out0, &out1});
  contract::mm_backward(grad_out, self, mat2, output_mask);
  generated::bump_version(ops::mm_backward_out::entry(), "out0", out0);
  generated::bump_version(ops::mm_backward_out::entry(), "out1", out1);
  return generated::call_guarded<ops::mm_backward_out>(
      k, keys, grad_out, self, mat2, output_mask, out0, out1);
}

std::tuple<Tensor&, Tensor&> mm_backward_out_store(
    const Tensor& grad_out, const Tensor& self, const Tensor& mat2,
    ArrayRef<bool> output_mask, Tensor& out0, Tensor& out1) {
  generated::check_outs_apart(ops::mm_backward_out::entry(), {&out0, &out1});
  const auto results =
      ops::mm_backward::call(grad_out, self, mat2, output_mask);
  generated::check_out_dtype(ops::mm_backward_out::entry(), out0,
                             std::get<0>(results).scalar_type());
  generated::check_out_dtype(ops::mm_backward_out::entry(), out1,
                             std::get<1>(results).scalar_type());
  store_result(ops::mm_backward_out::entry(), std::get<0>(results), out0);
  store_result(ops::mm_backward_out::entry(), std::get<1>(results), out1);
  return {out0, out1};
}

Tensor index_Tensor_guard(const Kernel* k, DispatchKeySet keys,
                          const Tensor& self,
                          ArrayRef<std::optional<Tensor>> indices) {
  contract::index_Tensor(self, indices);
  return generated::call_guarded<ops::index_Tensor>(k, keys, self, indices);
}

Tensor& index_Tensor_out_guard(const Kernel* k, DispatchKeySet keys,
                               const Tensor& self,
                               ArrayRef<std::optional<Tensor>> indices,
                               Tensor& out) {
  if (SY_UNLIKELY(
      generated::shares(self, out) || generated::shares(indices, out))) {
    return index_Tensor_out_guard(k, keys, generated::apart(self, out),
                                  generated::apart(indices, out), out);
  }
  contract::index_Tensor(self, indices);
  generated::bump_version(ops::index_Tensor_out::entry(), "out", out);
  return generated::call_guarded<ops::index_Tensor_out>(k, keys, self, indices,
                                                        out);
}

Tensor& index_Tensor_out_store(const Tensor& self,
                               ArrayRef<std::optional<Tensor>> indices,
                               Tensor& out) {
  const Tensor result = ops::index_Tensor::call(self, indices);
  generated::check_out_dtype(ops::index_Tensor_out::entry(), out,
                             result.scalar_type());
  store_result(ops::index_Tensor_out::entry(), result, out);
  return out;
}

Tensor index_put_guard(const Kernel* k, DispatchKeySet keys, const Tensor& self,
                       ArrayRef<std::optional<Tensor>> indices,
                       const Tensor& values) {
  Dims sizes[1];
  contract::index_put(self, indices, values, sizes);
  return generated::call_guarded<ops::index_put>(k, keys, self, indices,
                                                 values);
}

Tensor& index_put__guard(const Kernel* k, DispatchKeySet keys, Tensor& self,
                         ArrayRef<std::optional<Tensor>> indices,
                         const Tensor& values) {
  Dims sizes[1];
  contract::index_put(self, indices, values, sizes);
  generated::check_inplace_sizes(ops::index_put_::entry(), self, sizes[0]);
  generated::bump_version(ops::index_put_::entry(), "self", self);
  return generated::call_guarded<ops::index_put_>(k, keys, self, indices,
                                                  values);
}

Tensor& index_put_out_guard(const Kernel* k, DispatchKeySet keys,
                            const Tensor& self,
                            ArrayRef<std::optional<Tensor>> indices,
                            const Tensor& values, Tensor& out) {
  if (SY_UNLIKELY(
      generated::shares(self, out) || generated::shares(
          indices, out) || generated::shares(values, out))) {
    return index_put_out_guard(k, keys, generated::apart(self, out),
                               generated::apart(indices, out),
                               generated::apart(values, out), out);
  }
  Dims sizes[1];
  contract::index_put(self, indices, values, sizes);
  prepare_out(ops::index_put_out::entry(), out, sizes[0], self.scalar_type(),
              self.device());
  return generated::call_guarded<ops::index_put_out>(k, keys, self, indices,
                                                     values, out);
}

Tensor& index_put__store(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                         const Tensor& values) {
  const Tensor result = ops::index_put::call(self, indices, values);
  store_inplace(ops::index_put_::entry(), result, self);
  return self;
}

Tensor& index_put_out_store(const Tensor& self,
                            ArrayRef<std::optional<Tensor>> indices,
                            const Tensor& values, Tensor& out) {
  const Tensor result = ops::index_put::call(self, indices, values);
  generated::check_out_dtype(ops::index_put_out::entry(), out,
                             result.scalar_type());
  store_result(ops::index_put_out::entry(), result, out);
  return out;
}

}  // namespace

namespace {

const OperatorInfo kInfo[] = {
    {OperatorInfo::kPointwise, "The product of two tensors, which broadcast.",
     "test/codegen/testdata/sample.yaml:3", &desc::mul_Tensor_node},
    {OperatorInfo::kPointwise, "A weight times something smooth.",
     "test/codegen/testdata/sample.yaml:13", &desc::soften_node},
    {OperatorInfo::kComposite, "The product with a number.",
     "test/codegen/testdata/sample.yaml:25"},
    {OperatorInfo::kComposite, "The product of each two tensors.",
     "test/codegen/testdata/sample.yaml:30"},
    {OperatorInfo::kReduce, "The sum along some dims.",
     "test/codegen/testdata/sample.yaml:34", &desc::sum_dim_IntList_node},
    {OperatorInfo::kReduce,
     "The smallest and the largest element along some dims.",
     "test/codegen/testdata/sample.yaml:43", &desc::aminmax_node},
    {OperatorInfo::kScan, "The sums up to each element along a dim.",
     "test/codegen/testdata/sample.yaml:51", &desc::cumsum_node},
    {OperatorInfo::kScan,
     "The largest element up to each along a dim, and where it is.",
     "test/codegen/testdata/sample.yaml:57", &desc::cummax_node},
    {OperatorInfo::kView, "Two dims swapped.",
     "test/codegen/testdata/sample.yaml:62"},
    {OperatorInfo::kDispatch, "The product of two matrices.",
     "test/codegen/testdata/sample.yaml:73"},
    {OperatorInfo::kDispatch, "A number as a tensor.",
     "test/codegen/testdata/sample.yaml:86"},
    {OperatorInfo::kDispatch, "The only element as a number.",
     "test/codegen/testdata/sample.yaml:91"},
    {OperatorInfo::kDispatch, "The derivatives of mm that output_mask names.",
     "test/codegen/testdata/sample.yaml:96"},
    {OperatorInfo::kDispatch, "The elements at indices.",
     "test/codegen/testdata/sample.yaml:102"},
    {OperatorInfo::kDispatch, "self with values at indices.",
     "test/codegen/testdata/sample.yaml:107"},
    {OperatorInfo::kDispatch,
     "Whether a result of one dtype may be stored as another.",
     "test/codegen/testdata/sample.yaml:119"},
};

constexpr int8_t kPlaces0[] = {0, 1};
constexpr int8_t kPlaces1[] = {0};
constexpr int8_t kPlaces2[] = {2};
constexpr int8_t kPlaces3[] = {0, 1, 2, 3};
constexpr int8_t kPlaces4[] = {4};
constexpr int8_t kPlaces5[] = {0, 1, 2};
constexpr int8_t kPlaces6[] = {3, 4};
constexpr int8_t kPlaces7[] = {3};
constexpr int8_t kPlaces8[] = {2, 3};
constexpr int8_t kPlaces9[] = {4, 5};

const FunctionalForm kForms[] = {
    {"aten::mul.Tensor", kPlaces0, kPlaces1, 2, 1},
    {"aten::mul.Tensor", kPlaces0, kPlaces2, 2, 1},
    {"aten::soften", kPlaces3, kPlaces4, 4, 1},
    {"aten::_foreach_mul.List", kPlaces0, kPlaces1, 2, 1},
    {"aten::_foreach_mul.List", kPlaces0, kPlaces2, 2, 1},
    {"aten::sum.dim_IntList", kPlaces3, kPlaces4, 4, 1},
    {"aten::aminmax", kPlaces5, kPlaces6, 3, 2},
    {"aten::cumsum", kPlaces5, kPlaces7, 3, 1},
    {"aten::cummax", kPlaces0, kPlaces8, 2, 2},
    {"aten::mm", kPlaces0, kPlaces2, 2, 1},
    {"aten::mm_backward", kPlaces3, kPlaces9, 4, 2},
    {"aten::index.Tensor", kPlaces0, kPlaces2, 2, 1},
    {"aten::index_put", kPlaces5, kPlaces1, 3, 1},
    {"aten::index_put", kPlaces5, kPlaces7, 3, 1},
};

using generated::operator_def;

const OperatorDef kDefs[] = {
    operator_def<ops::mul_Tensor>("mul.Tensor(Tensor self, Tensor other) -> "
                                  "Tensor",
                                  reinterpret_cast<void*>(&mul_Tensor_guard),
                                  OperatorDef::kDifferentiable, &kInfo[0]),
    operator_def<ops::mul__Tensor>(
        "mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        reinterpret_cast<void*>(&mul__Tensor_guard),
        OperatorDef::kInplace | OperatorDef::kDifferentiable, &kInfo[0],
        &kForms[0]),
    operator_def<ops::mul_out>("mul.out(Tensor self, Tensor other, *, "
                               "Tensor(a!) out) -> Tensor(a!)",
                               reinterpret_cast<void*>(&mul_out_guard),
                               OperatorDef::kOut, &kInfo[0], &kForms[1]),
    operator_def<ops::soften>("soften(Tensor self, Tensor weight, *, Scalar "
                              "slope=1, str mode='none') -> Tensor",
                              reinterpret_cast<void*>(&soften_guard),
                              OperatorDef::kDifferentiable, &kInfo[1]),
    operator_def<ops::soften_out>("soften.out(Tensor self, Tensor weight, *, "
                                  "Scalar slope=1, str mode='none', Tensor(a!) "
                                  "out) -> Tensor(a!)",
                                  reinterpret_cast<void*>(&soften_out_guard),
                                  OperatorDef::kOut, &kInfo[1], &kForms[2]),
    operator_def<ops::mul_Scalar>(
        "mul.Scalar(Tensor self, Scalar other) -> Tensor", nullptr,
        OperatorDef::kDifferentiable | OperatorDef::kExactOut, &kInfo[2]),
    operator_def<ops::_foreach_mul_List>(
        "_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]", nullptr,
        OperatorDef::kDifferentiable, &kInfo[3]),
    operator_def<ops::_foreach_mul__List>(
        "_foreach_mul_.List(Tensor(a!)[] self, Tensor[] other) -> ()", nullptr,
        OperatorDef::kInplace | OperatorDef::kDifferentiable, &kInfo[3],
        &kForms[3]),
    operator_def<ops::_foreach_mul_List_out>(
        "_foreach_mul.List_out(Tensor[] self, Tensor[] other, *, Tensor(a!)[] "
        "out) -> ()", nullptr, OperatorDef::kOut, &kInfo[3], &kForms[4]),
    operator_def<ops::sum_dim_IntList>(
        "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor",
        reinterpret_cast<void*>(&sum_dim_IntList_guard), 0, &kInfo[4]),
    operator_def<ops::sum_IntList_out>(
        "sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, "
        "ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
        reinterpret_cast<void*>(&sum_IntList_out_guard), OperatorDef::kOut,
        &kInfo[4], &kForms[5]),
    operator_def<ops::aminmax>("aminmax(Tensor self, int[]? dim, bool keepdim) "
                               "-> (Tensor min, Tensor max)",
                               reinterpret_cast<void*>(&aminmax_guard),
                               OperatorDef::kExactOut, &kInfo[5]),
    operator_def<ops::aminmax_out>(
        "aminmax.out(Tensor self, int[]? dim, bool keepdim, *, Tensor(a!) "
        "out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
        reinterpret_cast<void*>(&aminmax_out_guard),
        OperatorDef::kOut | OperatorDef::kExactOut, &kInfo[5], &kForms[6]),
    operator_def<ops::cumsum>(
        "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
        reinterpret_cast<void*>(&cumsum_guard), 0, &kInfo[6]),
    operator_def<ops::cumsum_out>("cumsum.out(Tensor self, int dim, *, "
                                  "ScalarType? dtype=None, Tensor(a!) out) -> "
                                  "Tensor(a!)",
                                  reinterpret_cast<void*>(&cumsum_out_guard),
                                  OperatorDef::kOut, &kInfo[6], &kForms[7]),
    operator_def<ops::cummax>("cummax(Tensor self, int dim) -> (Tensor values, "
                              "Tensor indices)",
                              reinterpret_cast<void*>(&cummax_guard),
                              OperatorDef::kExactOut, &kInfo[7]),
    operator_def<ops::cummax_out>(
        "cummax.out(Tensor self, int dim, *, Tensor(a!) out0, Tensor(b!) out1) "
        "-> (Tensor(a!), Tensor(b!))",
        reinterpret_cast<void*>(&cummax_out_guard),
        OperatorDef::kOut | OperatorDef::kExactOut, &kInfo[7], &kForms[8]),
    operator_def<ops::transpose_int>(
        "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
        nullptr, OperatorDef::kNoDeviceCheck | OperatorDef::kView |
        OperatorDef::kDifferentiable, &kInfo[8]),
    operator_def<ops::mm>("mm(Tensor self, Tensor mat2) -> Tensor",
                          reinterpret_cast<void*>(&mm_guard),
                          OperatorDef::kDifferentiable | OperatorDef::kExactOut,
                          &kInfo[9]),
    operator_def<ops::mm_out>(
        "mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
        reinterpret_cast<void*>(&mm_out_guard),
        OperatorDef::kOut | OperatorDef::kExactOut, &kInfo[9], &kForms[9]),
    operator_def<ops::scalar_tensor>(
        "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? "
        "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        nullptr, OperatorDef::kExactOut, &kInfo[10]),
    operator_def<ops::item>("item(Tensor self) -> Scalar", nullptr,
                            OperatorDef::kDifferentiable |
                            OperatorDef::kExactOut, &kInfo[11]),
    operator_def<ops::mm_backward>("mm_backward(Tensor grad_out, Tensor self, "
                                   "Tensor mat2, bool[2] output_mask) -> "
                                   "(Tensor, Tensor)",
                                   reinterpret_cast<void*>(&mm_backward_guard),
                                   OperatorDef::kExactOut, &kInfo[12]),
    operator_def<ops::mm_backward_out>(
        "mm_backward.out(Tensor grad_out, Tensor self, Tensor mat2, bool[2] "
        "output_mask, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), "
        "Tensor(b!))", reinterpret_cast<void*>(&mm_backward_out_guard),
        OperatorDef::kOut | OperatorDef::kExactOut, &kInfo[12], &kForms[10]),
    operator_def<ops::index_Tensor>(
        "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
        reinterpret_cast<void*>(&index_Tensor_guard), OperatorDef::kExactOut,
        &kInfo[13]),
    operator_def<ops::index_Tensor_out>(
        "index.Tensor_out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) "
        "-> Tensor(a!)", reinterpret_cast<void*>(&index_Tensor_out_guard),
        OperatorDef::kOut | OperatorDef::kExactOut, &kInfo[13], &kForms[11]),
    operator_def<ops::index_put>(
        "index_put(Tensor self, Tensor?[] indices, Tensor values) -> Tensor",
        reinterpret_cast<void*>(&index_put_guard),
        OperatorDef::kDifferentiable | OperatorDef::kExactOut, &kInfo[14]),
    operator_def<ops::index_put_>(
        "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values) -> "
        "Tensor(a!)", reinterpret_cast<void*>(&index_put__guard),
        OperatorDef::kInplace | OperatorDef::kDifferentiable |
        OperatorDef::kExactOut, &kInfo[14], &kForms[12]),
    operator_def<ops::index_put_out>(
        "index_put.out(Tensor self, Tensor?[] indices, Tensor values, *, "
        "Tensor(a!) out) -> Tensor(a!)",
        reinterpret_cast<void*>(&index_put_out_guard),
        OperatorDef::kOut | OperatorDef::kExactOut, &kInfo[14], &kForms[13]),
    operator_def<ops::can_cast>("can_cast(ScalarType from_, ScalarType to) -> "
                                "bool", nullptr, OperatorDef::kDifferentiable |
                                OperatorDef::kExactOut, &kInfo[15]),
};

const SharedEngineKernels shared(&engine_kernels::add_sample<EnginesOfKernel>);

}  // namespace

SY_LIBRARY_FRAGMENT(aten, m) {
  m.def_static(kDefs, sizeof(kDefs) / sizeof(kDefs[0]));
}

SY_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("mul_.Tensor", SY_FN(mul__Tensor_store).checks_itself());
  m.impl("mul.out", SY_FN(mul_out_store).checks_itself());
  m.impl("soften", Kernel::from_boxed(&decompose));
  m.impl("soften.out", SY_FN(soften_out_store).checks_itself());
  m.impl("_foreach_mul.List_out",
         SY_FN(_foreach_mul_List_out_foreach).checks_itself());
  m.impl("sum.IntList_out", SY_FN(sum_IntList_out_store).checks_itself());
  m.impl("aminmax", Kernel::from_boxed(&decompose));
  m.impl("aminmax.out", SY_FN(aminmax_out_store).checks_itself());
  m.impl("cumsum.out", SY_FN(cumsum_out_store).checks_itself());
  m.impl("cummax.out", SY_FN(cummax_out_store).checks_itself());
  m.impl("transpose.int", SY_FN(transpose_int_view).checks_itself());
  m.impl("mm.out", SY_FN(mm_out_store).checks_itself());
  m.impl("scalar_tensor", SY_FN(composite::scalar_tensor));
  m.impl("mm_backward.out", SY_FN(mm_backward_out_store).checks_itself());
  m.impl("index.Tensor_out", SY_FN(index_Tensor_out_store).checks_itself());
  m.impl("index_put_", SY_FN(index_put__store).checks_itself());
  m.impl("index_put.out", SY_FN(index_put_out_store).checks_itself());
}

SY_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("mul.Scalar", SY_FN(mul_Scalar_composite).checks_itself());
  m.impl("_foreach_mul.List", SY_FN(_foreach_mul_List_foreach).checks_itself());
  m.impl("_foreach_mul_.List",
         SY_FN(_foreach_mul__List_foreach).checks_itself());
  m.impl("item", SY_FN(composite::item));
  m.impl("can_cast", SY_FN(composite::can_cast_dtype));
}

}  // namespace sy
