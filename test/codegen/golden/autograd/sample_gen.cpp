// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#include "aten/backend/fused_pointwise.h"
#include "aten/ops/sample_ops.h"
#include "autograd/formulas.h"
#include "autograd/generated_support.h"

namespace sy {

// The functions that are called, declared here: another operator of their
// families is no reason to compile this again.
SY_API Tensor index(const Tensor& self,
                    ArrayRef<std::optional<Tensor>> indices);
SY_API Tensor mm(const Tensor& self, const Tensor& mat2);
SY_API Tensor mul(const Tensor& self, const Scalar& other);
SY_API Tensor mul(const Tensor& self, const Tensor& other);
SY_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);

}  // namespace sy

namespace sy::autograd {

namespace {

using lang::Prim;
using lang::RegClass;
using lang::Uniform;
using lang::UniformOperand;
using lang::UniformStep;

// mul.Tensor  test/codegen/testdata/sample.yaml:3
struct MulTensorBackward final : NodeOf<2> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    if (f.needs(0)) {
      const Tensor other = other_.unpack(*this, "other");
      f.set(0, sy::mul(grad, other));
    }
    if (f.needs(1)) {
      const Tensor self = self_.unpack(*this, "self");
      f.set(1, sy::mul(grad, self));
    }
  }
  void visit_saved(SavedVisitor& v) noexcept override {
    v("self", self_);
    v("other", other_);
  }

  SavedTensor self_;
  SavedTensor other_;
};

Tensor mul_Tensor(DispatchKeySet ks, const Tensor& self, const Tensor& other) {
  if (!any_requires_grad(self, other)) {
    return ops::mul_Tensor::redispatch(below_autograd(ks), self, other);
  }
  auto node =
      make_node<MulTensorBackward>(ops::mul_Tensor::entry(), self, other);
  if (node->needs(1)) node->self_.save(self);
  if (node->needs(0)) node->other_.save(other);
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::mul_Tensor::redispatch(below_autograd(ks), self, other);
  }();
  set_history(result, std::move(node));
  return result;
}

Tensor& mul__Tensor(DispatchKeySet ks, Tensor& self, const Tensor& other) {
  if (!inplace_requires_grad(self, other)) {
    return ops::mul__Tensor::redispatch(below_autograd(ks), self, other);
  }
  check_inplace(ops::mul__Tensor::entry(), self);
  auto node =
      make_node<MulTensorBackward>(ops::mul__Tensor::entry(), self, other);
  if (node->needs(1)) node->self_.save(clone_before_write(self));
  if (node->needs(0)) save_before_write(node->other_, other, self);
  {
    const AutoDispatchBelowAutograd guard;
    ops::mul__Tensor::redispatch(below_autograd(ks), self, other);
  }
  rebase_history(self, std::move(node));
  return self;
}

Tensor& mul_out(DispatchKeySet ks, const Tensor& self, const Tensor& other,
                Tensor& out) {
  if (any_requires_grad(self, other, out)) {
    reject_out(ops::mul_out::entry());
  }
  return ops::mul_out::redispatch(below_autograd(ks), self, other, out);
}

constexpr const char* kSoftenSelfGradInputs[] = {"grad", "weight"};
constexpr const char* kSoftenSelfGradScalars[] = {"mode", "slope"};
//   u0 = select((mode == 'half'), 0.5, 1)
//   t0 = mul(grad, u0)
//   t0 = mul(t0, weight)
//   t0 = mul(t0, slope)
//   return t0
constexpr lang::Step kSoftenSelfGradSteps[] = {
    {Prim::mul, 4, 0, 2, 0},
    {Prim::mul, 4, 4, 1, 0},
    {Prim::mul, 4, 4, 3, 0},
};
constexpr lang::Result kSoftenSelfGradResults[] = {{4, false}};
constexpr Uniform kSoftenSelfGradConstants[] = {
    Uniform::of(0.5),
    Uniform::of(int64_t{1}),
};
constexpr UniformStep kSoftenSelfGradUniformSteps[] = {{Prim::select, 0, 2, 3}};
constexpr UniformOperand kSoftenSelfGradUniforms[] = {
    {4, RegClass::kValue},
    {1, RegClass::kValue},
};
constexpr program::Program kSoftenSelfGradBody = {
    .steps = kSoftenSelfGradSteps,
    .results = kSoftenSelfGradResults,
    .n_steps = 3,
    .n_registers = 5,
    .n_inputs = 2,
    .n_uniforms = 2,
    .n_results = 1,
};
constexpr ElementProgram kSoftenSelfGradProgram = {
    .body = kSoftenSelfGradBody,
    .constants = kSoftenSelfGradConstants,
    .uniform_steps = kSoftenSelfGradUniformSteps,
    .uniforms = kSoftenSelfGradUniforms,
    .n_scalars = 2,
    .n_constants = 2,
    .n_uniform_steps = 1,
};
//   t0 = mul(grad, weight)
//   return t0
constexpr lang::Step kSoftenSelfGradAtDefaultsSteps[] = {
    {Prim::mul, 2, 0, 1, 0},
};
constexpr lang::Result kSoftenSelfGradAtDefaultsResults[] = {{2, false}};
constexpr program::Program kSoftenSelfGradAtDefaultsBody = {
    .steps = kSoftenSelfGradAtDefaultsSteps,
    .results = kSoftenSelfGradAtDefaultsResults,
    .n_steps = 1,
    .n_registers = 3,
    .n_inputs = 2,
    .n_results = 1,
};
constexpr ElementProgram kSoftenSelfGradAtDefaultsProgram = {
    .body = kSoftenSelfGradAtDefaultsBody,
};
constexpr Uniform kSoftenSelfGradDefaults[] = {
    Uniform::of(int64_t{0}),
    Uniform::of(int64_t{1}),
};
const PointwiseOp soften_self_grad = {
    .name = "soften backward",
    .promote = PromoteRule::Default,
    .n_inputs = 2,
    .n_scalars = 2,
    .promote_inputs = 3,
    .input_names = kSoftenSelfGradInputs,
    .scalar_names = kSoftenSelfGradScalars,
    .program = kSoftenSelfGradProgram,
    .at_defaults = &kSoftenSelfGradAtDefaultsProgram,
    .defaults = kSoftenSelfGradDefaults,
};
constinit FusedPointwise fused_soften_self_grad{soften_self_grad};

constexpr const char* kSoftenWeightGradInputs[] = {"grad", "self"};
constexpr const char* kSoftenWeightGradScalars[] = {"mode", "slope"};
//   u0 = select((mode == 'half'), 0.5, 1)
//   t0 = mul(grad, u0)
//   t0 = mul(t0, self)
//   t0 = mul(t0, slope)
//   return t0
constexpr lang::Step kSoftenWeightGradSteps[] = {
    {Prim::mul, 4, 0, 2, 0},
    {Prim::mul, 4, 4, 1, 0},
    {Prim::mul, 4, 4, 3, 0},
};
constexpr lang::Result kSoftenWeightGradResults[] = {{4, false}};
constexpr Uniform kSoftenWeightGradConstants[] = {
    Uniform::of(0.5),
    Uniform::of(int64_t{1}),
};
constexpr UniformStep kSoftenWeightGradUniformSteps[] = {
    {Prim::select, 0, 2, 3},
};
constexpr UniformOperand kSoftenWeightGradUniforms[] = {
    {4, RegClass::kValue},
    {1, RegClass::kValue},
};
constexpr program::Program kSoftenWeightGradBody = {
    .steps = kSoftenWeightGradSteps,
    .results = kSoftenWeightGradResults,
    .n_steps = 3,
    .n_registers = 5,
    .n_inputs = 2,
    .n_uniforms = 2,
    .n_results = 1,
};
constexpr ElementProgram kSoftenWeightGradProgram = {
    .body = kSoftenWeightGradBody,
    .constants = kSoftenWeightGradConstants,
    .uniform_steps = kSoftenWeightGradUniformSteps,
    .uniforms = kSoftenWeightGradUniforms,
    .n_scalars = 2,
    .n_constants = 2,
    .n_uniform_steps = 1,
};
//   t0 = mul(grad, self)
//   return t0
constexpr lang::Step kSoftenWeightGradAtDefaultsSteps[] = {
    {Prim::mul, 2, 0, 1, 0},
};
constexpr lang::Result kSoftenWeightGradAtDefaultsResults[] = {{2, false}};
constexpr program::Program kSoftenWeightGradAtDefaultsBody = {
    .steps = kSoftenWeightGradAtDefaultsSteps,
    .results = kSoftenWeightGradAtDefaultsResults,
    .n_steps = 1,
    .n_registers = 3,
    .n_inputs = 2,
    .n_results = 1,
};
constexpr ElementProgram kSoftenWeightGradAtDefaultsProgram = {
    .body = kSoftenWeightGradAtDefaultsBody,
};
constexpr Uniform kSoftenWeightGradDefaults[] = {
    Uniform::of(int64_t{0}),
    Uniform::of(int64_t{1}),
};
const PointwiseOp soften_weight_grad = {
    .name = "soften backward",
    .promote = PromoteRule::Default,
    .n_inputs = 2,
    .n_scalars = 2,
    .promote_inputs = 3,
    .input_names = kSoftenWeightGradInputs,
    .scalar_names = kSoftenWeightGradScalars,
    .program = kSoftenWeightGradProgram,
    .at_defaults = &kSoftenWeightGradAtDefaultsProgram,
    .defaults = kSoftenWeightGradDefaults,
};
constinit FusedPointwise fused_soften_weight_grad{soften_weight_grad};

// soften  test/codegen/testdata/sample.yaml:13
struct SoftenBackward final : NodeOf<2> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    if (f.needs(0)) {
      Tensor weight = weight_.unpack(*this, "weight");
      const auto& slope = slope_;
      const std::string_view mode = mode_;
      const TensorBase* const inputs[] = {&grad, &weight};
      const Scalar scalars[] = {Scalar(mode == "half"), slope};
      Tensor g = fused_soften_self_grad({inputs, scalars});
      if (!g.defined()) {
        weight = as_numbers(weight, grad);
        g = sy::mul(sy::mul(sy::mul(grad, mode == "half" ? 0.5 : 1), weight),
                    slope);
      }
      f.set(0, std::move(g));
    }
    if (f.needs(1)) {
      Tensor self = self_.unpack(*this, "self");
      const auto& slope = slope_;
      const std::string_view mode = mode_;
      const TensorBase* const inputs[] = {&grad, &self};
      const Scalar scalars[] = {Scalar(mode == "half"), slope};
      Tensor g = fused_soften_weight_grad({inputs, scalars});
      if (!g.defined()) {
        self = as_numbers(self, grad);
        g = sy::mul(sy::mul(sy::mul(grad, mode == "half" ? 0.5 : 1), self),
                    slope);
      }
      f.set(1, std::move(g));
    }
  }
  void visit_saved(SavedVisitor& v) noexcept override {
    v("self", self_);
    v("weight", weight_);
  }

  SavedTensor self_;
  SavedTensor weight_;
  Scalar slope_;
  std::string mode_;
};

Tensor soften(DispatchKeySet ks, const Tensor& self, const Tensor& weight,
              const Scalar& slope, std::string_view mode) {
  if (!any_requires_grad(self, weight)) {
    return ops::soften::redispatch(below_autograd(ks), self, weight, slope,
                                   mode);
  }
  auto node = make_node<SoftenBackward>(ops::soften::entry(), self, weight);
  if (node->needs(1)) node->self_.save(self);
  if (node->needs(0)) node->weight_.save(weight);
  node->slope_ = slope;
  node->mode_ = mode;
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::soften::redispatch(below_autograd(ks), self, weight, slope,
                                   mode);
  }();
  set_history(result, std::move(node));
  return result;
}

Tensor& soften_out(DispatchKeySet ks, const Tensor& self, const Tensor& weight,
                   const Scalar& slope, std::string_view mode, Tensor& out) {
  if (any_requires_grad(self, weight, out)) {
    reject_out(ops::soften_out::entry());
  }
  return ops::soften_out::redispatch(below_autograd(ks), self, weight, slope,
                                     mode, out);
}

void _foreach_mul_List_out(DispatchKeySet ks, TensorList self, TensorList other,
                           TensorList out) {
  if (any_requires_grad(self, other, out)) {
    reject_out(ops::_foreach_mul_List_out::entry());
  }
  return ops::_foreach_mul_List_out::redispatch(below_autograd(ks), self, other,
                                                out);
}

// transpose.int  test/codegen/testdata/sample.yaml:62
struct TransposeIntBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    const auto& dim0 = dim0_;
    const auto& dim1 = dim1_;
    f.set(0, sy::transpose(grad, dim0, dim1));
  }

  int64_t dim0_ = 0;
  int64_t dim1_ = 0;
};

Tensor transpose_int(DispatchKeySet ks, const Tensor& self, int64_t dim0,
                     int64_t dim1) {
  if (!any_requires_grad(self)) {
    return ops::transpose_int::redispatch(below_autograd(ks), self, dim0, dim1);
  }
  auto node =
      make_node<TransposeIntBackward>(ops::transpose_int::entry(), self);
  node->dim0_ = dim0;
  node->dim1_ = dim1;
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::transpose_int::redispatch(below_autograd(ks), self, dim0, dim1);
  }();
  set_history(result, std::move(node));
  return result;
}

// mm  test/codegen/testdata/sample.yaml:73
struct MmBackward final : NodeOf<2> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    if (f.needs(0)) {
      const Tensor mat2 = mat2_.unpack(*this, "mat2");
      f.set(0, sy::mm(grad, sy::transpose(mat2, 0, 1)));
    }
    if (f.needs(1)) {
      const Tensor self = self_.unpack(*this, "self");
      f.set(1, sy::mm(sy::transpose(self, 0, 1), grad));
    }
  }
  void visit_saved(SavedVisitor& v) noexcept override {
    v("self", self_);
    v("mat2", mat2_);
  }

  SavedTensor self_;
  SavedTensor mat2_;
};

Tensor mm(DispatchKeySet ks, const Tensor& self, const Tensor& mat2) {
  if (!any_requires_grad(self, mat2)) {
    return ops::mm::redispatch(below_autograd(ks), self, mat2);
  }
  auto node = make_node<MmBackward>(ops::mm::entry(), self, mat2);
  if (node->needs(1)) node->self_.save(self);
  if (node->needs(0)) node->mat2_.save(mat2);
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::mm::redispatch(below_autograd(ks), self, mat2);
  }();
  set_history(result, std::move(node));
  return result;
}

Tensor& mm_out(DispatchKeySet ks, const Tensor& self, const Tensor& mat2,
               Tensor& out) {
  if (any_requires_grad(self, mat2, out)) {
    reject_out(ops::mm_out::entry());
  }
  return ops::mm_out::redispatch(below_autograd(ks), self, mat2, out);
}

// index_put  test/codegen/testdata/sample.yaml:107
struct IndexPutBackward final : NodeOf<2> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    if (f.needs(0)) {
      f.set(0, grad);
    }
    if (f.needs(1)) {
      const auto indices_list = indices_.unpack_optional(*this, "indices");
      const ArrayRef<std::optional<Tensor>> indices = indices_list;
      f.set(1, sy::index(grad, indices));
    }
  }
  void visit_saved(SavedVisitor& v) noexcept override {
    v("indices", indices_);
  }

  SavedTensorList indices_;
};

Tensor index_put(DispatchKeySet ks, const Tensor& self,
                 ArrayRef<std::optional<Tensor>> indices,
                 const Tensor& values) {
  if (!any_requires_grad(self, values)) {
    return ops::index_put::redispatch(below_autograd(ks), self, indices,
                                      values);
  }
  auto node =
      make_node<IndexPutBackward>(ops::index_put::entry(), self, values);
  if (node->needs(1)) node->indices_.save(indices);
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::index_put::redispatch(below_autograd(ks), self, indices,
                                      values);
  }();
  set_history(result, std::move(node));
  return result;
}

Tensor& index_put_(DispatchKeySet ks, Tensor& self,
                   ArrayRef<std::optional<Tensor>> indices,
                   const Tensor& values) {
  if (!inplace_requires_grad(self, values)) {
    return ops::index_put_::redispatch(below_autograd(ks), self, indices,
                                       values);
  }
  check_inplace(ops::index_put_::entry(), self);
  auto node =
      make_node<IndexPutBackward>(ops::index_put_::entry(), self, values);
  if (node->needs(1)) node->indices_.save(indices);
  {
    const AutoDispatchBelowAutograd guard;
    ops::index_put_::redispatch(below_autograd(ks), self, indices, values);
  }
  rebase_history(self, std::move(node));
  return self;
}

Tensor& index_put_out(DispatchKeySet ks, const Tensor& self,
                      ArrayRef<std::optional<Tensor>> indices,
                      const Tensor& values, Tensor& out) {
  if (any_requires_grad(self, values, out)) {
    reject_out(ops::index_put_out::entry());
  }
  return ops::index_put_out::redispatch(below_autograd(ks), self, indices,
                                        values, out);
}

}  // namespace

SY_LIBRARY_IMPL(aten, Autograd, m) {
  m.impl("mul.Tensor", SY_FN(mul_Tensor));
  m.impl("mul_.Tensor", SY_FN(mul__Tensor));
  m.impl("mul.out", SY_FN(mul_out));
  m.impl("soften", SY_FN(soften));
  m.impl("soften.out", SY_FN(soften_out));
  m.impl("_foreach_mul.List_out", SY_FN(_foreach_mul_List_out));
  m.impl("sum.dim_IntList", Kernel::fallthrough());
  m.impl("sum.IntList_out", Kernel::fallthrough());
  m.impl("aminmax", Kernel::fallthrough());
  m.impl("aminmax.out", Kernel::fallthrough());
  m.impl("cumsum", Kernel::fallthrough());
  m.impl("cumsum.out", Kernel::fallthrough());
  m.impl("cummax", Kernel::fallthrough());
  m.impl("cummax.out", Kernel::fallthrough());
  m.impl("transpose.int", SY_FN(transpose_int));
  m.impl("mm", SY_FN(mm));
  m.impl("mm.out", SY_FN(mm_out));
  m.impl("mm_backward", Kernel::fallthrough());
  m.impl("mm_backward.out", Kernel::fallthrough());
  m.impl("index.Tensor", Kernel::fallthrough());
  m.impl("index.Tensor_out", Kernel::fallthrough());
  m.impl("index_put", SY_FN(index_put));
  m.impl("index_put_", SY_FN(index_put_));
  m.impl("index_put.out", SY_FN(index_put_out));
}

}  // namespace sy::autograd
