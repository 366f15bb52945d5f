#include "test/autograd/sample_ops.h"

#include "autograd/formulas.h"
#include "autograd/generated_support.h"

// Nodes and kernels in the form that autograd/README.md gives generated code.

namespace sy::sample {

namespace {

using namespace sy::autograd;  // generated code lies in that namespace
using sy::autograd::Node;

struct MulTensorBackward final : NodeOf<2> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    if (f.needs(0)) {
      const Tensor other = other_.unpack(*this, "other");
      f.set(0, mul(grad, other));
    }
    if (f.needs(1)) {
      const Tensor self = self_.unpack(*this, "self");
      f.set(1, mul(grad, self));
    }
  }
  void visit_saved(SavedVisitor& v) noexcept override {
    v("self", self_);
    v("other", other_);
  }
  SavedTensor self_, other_;
};

Tensor mul_Tensor(DispatchKeySet ks, const Tensor& self, const Tensor& other) {
  if (!any_requires_grad(self, other)) {
    return ops::mul_Tensor::redispatch(below_autograd(ks), self, other);
  }
  auto node =
      make_node<MulTensorBackward>(ops::mul_Tensor::entry(), self, other);
  if (node->needs(0)) node->other_.save(other);
  if (node->needs(1)) node->self_.save(self);
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
  if (node->needs(0)) save_before_write(node->other_, other, self);
  if (node->needs(1)) node->self_.save(clone_before_write(self));
  {
    const AutoDispatchBelowAutograd guard;
    ops::mul__Tensor::redispatch(below_autograd(ks), self, other);
  }
  rebase_history(self, std::move(node));
  return self;
}

Tensor& mul_out(DispatchKeySet ks, const Tensor& self, const Tensor& other,
                Tensor& out) {
  if (any_requires_grad(self, other, out)) reject_out(ops::mul_out::entry());
  return ops::mul_out::redispatch(below_autograd(ks), self, other, out);
}

struct AddTensorBackward final : NodeOf<2> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    if (f.needs(0)) f.set(0, grad);
    if (f.needs(1)) f.set(1, mul(grad, tensor({alpha_.to_double()}, {})));
  }
  Scalar alpha_;
};

Tensor add_Tensor(DispatchKeySet ks, const Tensor& self, const Tensor& other,
                  const Scalar& alpha) {
  if (!any_requires_grad(self, other)) {
    return ops::add_Tensor::redispatch(below_autograd(ks), self, other, alpha);
  }
  auto node =
      make_node<AddTensorBackward>(ops::add_Tensor::entry(), self, other);
  node->alpha_ = alpha;
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::add_Tensor::redispatch(below_autograd(ks), self, other, alpha);
  }();
  set_history(result, std::move(node));
  return result;
}

Tensor& add__Tensor(DispatchKeySet ks, Tensor& self, const Tensor& other,
                    const Scalar& alpha) {
  if (!inplace_requires_grad(self, other)) {
    return ops::add__Tensor::redispatch(below_autograd(ks), self, other, alpha);
  }
  check_inplace(ops::add__Tensor::entry(), self);
  auto node =
      make_node<AddTensorBackward>(ops::add__Tensor::entry(), self, other);
  node->alpha_ = alpha;
  {
    const AutoDispatchBelowAutograd guard;
    ops::add__Tensor::redispatch(below_autograd(ks), self, other, alpha);
  }
  rebase_history(self, std::move(node));
  return self;
}

struct ExpBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    if (f.needs(0)) {
      const Tensor result = result_.unpack(*this, "result");
      f.set(0, mul(grad, result));
    }
  }
  void visit_saved(SavedVisitor& v) noexcept override { v("result", result_); }
  SavedTensor result_;
};

Tensor exp_kernel(DispatchKeySet ks, const Tensor& self) {
  if (!any_requires_grad(self)) {
    return ops::exp::redispatch(below_autograd(ks), self);
  }
  auto node = make_node<ExpBackward>(ops::exp::entry(), self);
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::exp::redispatch(below_autograd(ks), self);
  }();
  set_history(result, node);
  node->result_.save_output(result);
  return result;
}

Tensor& exp__kernel(DispatchKeySet ks, Tensor& self) {
  if (!inplace_requires_grad(self)) {
    return ops::exp_::redispatch(below_autograd(ks), self);
  }
  check_inplace(ops::exp_::entry(), self);
  auto node = make_node<ExpBackward>(ops::exp_::entry(), self);
  {
    const AutoDispatchBelowAutograd guard;
    ops::exp_::redispatch(below_autograd(ks), self);
  }
  rebase_history(self, node);
  node->result_.save_output(self);
  return self;
}

// `t` with dim `d` put in, of size 1.
Tensor unsqueezed(const Tensor& t, size_t d) {
  std::vector<int64_t> sizes(t.sizes().vec());
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(d), 1);
  return view(t.is_contiguous() ? t : clone(t), sizes);
}

// The gradient of a sum, at every element that was summed.
Tensor expand_reduced(const Tensor& grad, const SavedMeta& self,
                      OptionalIntArrayRef dims, bool keepdim) {
  Tensor g = grad;
  for (int64_t d = 0; d < self.dim() && !keepdim; ++d) {
    bool reduced = !dims || dims->empty();
    for (const int64_t k : reduced ? IntArrayRef() : *dims) {
      reduced |= (k + self.dim()) % self.dim() == d;
    }
    if (reduced) g = unsqueezed(g, static_cast<size_t>(d));
  }
  return expand(g, self.sizes());
}

struct SumDimIntListBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    const SavedMeta& self = f.argument(0);
    if (f.needs(0)) {
      f.set(0, expand_reduced(grad, self, dim_, keepdim_));
    }
  }
  std::optional<SavedInts> dim_;
  bool keepdim_ = false;
};

Tensor sum_dim_IntList(DispatchKeySet ks, const Tensor& self,
                       OptionalIntArrayRef dim, bool keepdim,
                       std::optional<ScalarType> dtype) {
  if (!any_requires_grad(self)) {
    return ops::sum_dim_IntList::redispatch(below_autograd(ks), self, dim,
                                            keepdim, dtype);
  }
  auto node =
      make_node<SumDimIntListBackward>(ops::sum_dim_IntList::entry(), self);
  if (dim) node->dim_ = SavedInts(*dim);
  node->keepdim_ = keepdim;
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::sum_dim_IntList::redispatch(below_autograd(ks), self, dim,
                                            keepdim, dtype);
  }();
  set_history(result, std::move(node));
  return result;
}

struct CatBackward final : NodeOfMany {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    if (f.needs(0)) {
      std::vector<Tensor> parts;
      int64_t start = 0;
      for (const SavedMeta& t : tensors_) {
        parts.push_back(slice(grad, dim_, start, start + t.size(dim_)));
        start += t.size(dim_);
      }
      f.set_list(0, parts);
    }
  }
  std::vector<SavedMeta> tensors_;
  int64_t dim_ = 0;
};

Tensor cat_kernel(DispatchKeySet ks, TensorList tensors, int64_t dim) {
  if (!any_requires_grad(tensors)) {
    return ops::cat::redispatch(below_autograd(ks), tensors, dim);
  }
  auto node = make_node<CatBackward>(ops::cat::entry(), tensors);
  for (const Tensor& t : tensors) node->tensors_.emplace_back(t);
  node->dim_ = dim;
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::cat::redispatch(below_autograd(ks), tensors, dim);
  }();
  set_history(result, std::move(node));
  return result;
}

// 1 where `dim` is at the index, else 0.
Tensor one_hot(const Tensor& indices, const SavedMeta& self, size_t dim) {
  const Tensor r(make_tensor(self.sizes(), self.dtype(), self.device()));
  int64_t inner = 1;
  for (size_t d = dim + 1; d < self.sizes().size(); ++d) {
    inner *= self.sizes()[d];
  }
  const int64_t n = self.sizes()[dim];
  for (int64_t i = 0; i < r.numel(); ++i) {
    const int64_t at = i / (inner * n) * inner + i % inner;
    put(r, i, get(indices, at) == static_cast<double>(i / inner % n));
  }
  return r;
}

struct MaxDimBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad(0);
    const SavedMeta& self = f.argument(0);
    if (f.needs(0) && grad.defined()) {
      const Tensor indices = indices_.unpack(*this, "indices");
      const auto d = static_cast<size_t>((dim_ + self.dim()) % self.dim());
      const Tensor at = keepdim_ ? grad : unsqueezed(grad, d);
      f.set(0, mul(at, one_hot(indices, self, d)));
    }
  }
  void visit_saved(SavedVisitor& v) noexcept override {
    v("indices", indices_);
  }
  SavedTensor indices_;
  int64_t dim_ = 0;
  bool keepdim_ = false;
};

std::tuple<Tensor, Tensor> max_dim(DispatchKeySet ks, const Tensor& self,
                                   int64_t dim, bool keepdim) {
  if (!any_requires_grad(self)) {
    return ops::max_dim::redispatch(below_autograd(ks), self, dim, keepdim);
  }
  auto node = make_node<MaxDimBackward>(ops::max_dim::entry(), self);
  node->dim_ = dim;
  node->keepdim_ = keepdim;
  auto result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::max_dim::redispatch(below_autograd(ks), self, dim, keepdim);
  }();
  set_history(std::get<0>(result), node);
  skip_output(node);
  node->indices_.save_output(std::get<1>(result), 1);
  return result;
}

struct SincosBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    if (f.needs(0)) {
      const Tensor sin = sin_.unpack(*this, "result0");
      const Tensor cos = cos_.unpack(*this, "result1");
      f.set(0, add(mul(f.grad_or_zeros(0), cos), mul(f.grad_or_zeros(1), sin),
                   -1));
    }
  }
  void visit_saved(SavedVisitor& v) noexcept override {
    v("sin", sin_);
    v("cos", cos_);
  }
  SavedTensor sin_, cos_;
};

std::tuple<Tensor, Tensor> sincos(DispatchKeySet ks, const Tensor& self) {
  if (!any_requires_grad(self)) {
    return ops::sincos::redispatch(below_autograd(ks), self);
  }
  auto node = make_node<SincosBackward>(ops::sincos::entry(), self);
  auto result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::sincos::redispatch(below_autograd(ks), self);
  }();
  set_history(std::get<0>(result), node);
  set_history(std::get<1>(result), node);
  node->sin_.save_output(std::get<0>(result), 0);
  node->cos_.save_output(std::get<1>(result), 1);
  return result;
}

struct ScaleBackward final : NodeOf<2> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    const std::optional<Tensor> by = by_.unpack_optional(*this, "by");
    if (f.needs(0)) f.set(0, by ? mul(grad, *by) : grad);
    if (f.needs(1)) f.set(1, mul(grad, self_.unpack(*this, "self")));
  }
  void visit_saved(SavedVisitor& v) noexcept override {
    v("self", self_);
    v("by", by_);
  }
  SavedTensor self_, by_;
};

Tensor scale(DispatchKeySet ks, const Tensor& self,
             const std::optional<Tensor>& by) {
  if (!any_requires_grad(self, by)) {
    return ops::scale::redispatch(below_autograd(ks), self, by);
  }
  auto node = make_node<ScaleBackward>(ops::scale::entry(), self, by);
  if (node->needs(0)) node->by_.save(by);
  if (node->needs(1)) node->self_.save(self);
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::scale::redispatch(below_autograd(ks), self, by);
  }();
  set_history(result, std::move(node));
  return result;
}

struct ViewBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    const SavedMeta& self = f.argument(0);
    if (f.needs(0)) {
      f.set(0, view(grad.is_contiguous() ? grad : clone(grad), self.sizes()));
    }
  }
};

Tensor view_kernel(DispatchKeySet ks, const Tensor& self, IntArrayRef size) {
  if (!any_requires_grad(self)) {
    return ops::view::redispatch(below_autograd(ks), self, size);
  }
  auto node = make_node<ViewBackward>(ops::view::entry(), self);
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::view::redispatch(below_autograd(ks), self, size);
  }();
  set_history(result, std::move(node));
  return result;
}

// The node of views whose formula is their geometry: where they lie, and where
// self did.
struct GeometryBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    const Tensor& grad = f.grad();
    if (f.needs(0)) f.set(0, as_strided_backward(grad, self_, result_));
  }
  Geometry self_, result_;
};

Tensor as_strided_kernel(DispatchKeySet ks, const Tensor& self,
                         IntArrayRef size, IntArrayRef stride,
                         std::optional<int64_t> storage_offset) {
  if (!any_requires_grad(self)) {
    return ops::as_strided::redispatch(below_autograd(ks), self, size, stride,
                                       storage_offset);
  }
  auto node = make_node<GeometryBackward>(ops::as_strided::entry(), self);
  node->self_ = Geometry(*self.impl());
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::as_strided::redispatch(below_autograd(ks), self, size, stride,
                                       storage_offset);
  }();
  node->result_ = Geometry(*result.impl());
  set_history(result, std::move(node));
  return result;
}

// The formula `grad`: of expand, where the engine sums, of clone and of to.
struct PassBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    if (f.needs(0)) f.set(0, f.grad());
  }
};

template <class Op, class... A>
Tensor pass(DispatchKeySet ks, const Tensor& self, A... args) {
  if (!any_requires_grad(self)) {
    return Op::redispatch(below_autograd(ks), self, args...);
  }
  auto node = make_node<PassBackward>(Op::entry(), self);
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return Op::redispatch(below_autograd(ks), self, args...);
  }();
  set_history(result, std::move(node));
  return result;
}

Tensor expand_kernel(DispatchKeySet ks, const Tensor& self, IntArrayRef size,
                     bool implicit) {
  return pass<ops::expand>(ks, self, size, implicit);
}
Tensor clone_kernel(DispatchKeySet ks, const Tensor& self,
                    std::optional<MemoryFormat> format) {
  return pass<ops::clone>(ks, self, format);
}
Tensor to_dtype(DispatchKeySet ks, const Tensor& self, ScalarType dtype,
                bool non_blocking, bool copy,
                std::optional<MemoryFormat> format) {
  return pass<ops::to_dtype>(ks, self, dtype, non_blocking, copy, format);
}

Tensor slice_Tensor(DispatchKeySet ks, const Tensor& self, int64_t dim,
                    std::optional<int64_t> start, std::optional<int64_t> end,
                    int64_t step) {
  if (!any_requires_grad(self)) {
    return ops::slice_Tensor::redispatch(below_autograd(ks), self, dim, start,
                                         end, step);
  }
  auto node = make_node<GeometryBackward>(ops::slice_Tensor::entry(), self);
  node->self_ = Geometry(*self.impl());
  Tensor result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::slice_Tensor::redispatch(below_autograd(ks), self, dim, start,
                                         end, step);
  }();
  node->result_ = Geometry(*result.impl());
  set_history(result, std::move(node));
  return result;
}

struct UnbindIntBackward final : NodeOf<1> {
  void apply(GradFrame& f) override {
    if (!f.needs(0)) return;
    std::vector<Tensor> rows;
    for (const Tensor& g : f.grads()) {
      std::vector<int64_t> sizes(g.sizes().vec());
      sizes.insert(sizes.begin() + dim_, 1);
      rows.push_back(view(clone(g), sizes));
    }
    f.set(0, cat(rows, dim_));
  }
  int64_t dim_ = 0;
};

std::vector<Tensor> unbind_int(DispatchKeySet ks, const Tensor& self,
                               int64_t dim) {
  if (!any_requires_grad(self)) {
    return ops::unbind_int::redispatch(below_autograd(ks), self, dim);
  }
  auto node = make_node<UnbindIntBackward>(ops::unbind_int::entry(), self);
  node->dim_ = dim;
  std::vector<Tensor> result = [&] {
    const AutoDispatchBelowAutograd guard;
    return ops::unbind_int::redispatch(below_autograd(ks), self, dim);
  }();
  set_history_views(result, node);
  return result;
}

struct CopyBackward final : NodeOf<2> {
  void apply(GradFrame& f) override {
    if (f.needs(1)) f.set(1, f.grad());
  }
};

Tensor& copy_(DispatchKeySet ks, Tensor& self, const Tensor& src,
              bool non_blocking) {
  if (!inplace_requires_grad(self, src)) {
    return ops::copy_::redispatch(below_autograd(ks), self, src, non_blocking);
  }
  check_inplace(ops::copy_::entry(), self);
  auto node = make_node<CopyBackward>(ops::copy_::entry(), self, src);
  {
    const AutoDispatchBelowAutograd guard;
    ops::copy_::redispatch(below_autograd(ks), self, src, non_blocking);
  }
  rebase_history(self, std::move(node));
  return self;
}

struct FillScalarBackward final : NodeOf<1> {
  void apply(GradFrame&) override {}
};

Tensor& fill__Scalar(DispatchKeySet ks, Tensor& self, const Scalar& value) {
  if (!inplace_requires_grad(self)) {
    return ops::fill__Scalar::redispatch(below_autograd(ks), self, value);
  }
  check_inplace(ops::fill__Scalar::entry(), self);
  auto node = make_node<FillScalarBackward>(ops::fill__Scalar::entry(), self);
  {
    const AutoDispatchBelowAutograd guard;
    ops::fill__Scalar::redispatch(below_autograd(ks), self, value);
  }
  rebase_history(self, std::move(node));
  return self;
}

SY_LIBRARY_IMPL(sample, Autograd, m) {
  m.impl("mul.Tensor", SY_FN(mul_Tensor));
  m.impl("mul_.Tensor", SY_FN(mul__Tensor));
  m.impl("mul.out", SY_FN(mul_out));
  m.impl("add.Tensor", SY_FN(add_Tensor));
  m.impl("add_.Tensor", SY_FN(add__Tensor));
  m.impl("exp", SY_FN(exp_kernel));
  m.impl("exp_", SY_FN(exp__kernel));
  m.impl("sum.dim_IntList", SY_FN(sum_dim_IntList));
  m.impl("cat", SY_FN(cat_kernel));
  m.impl("max.dim", SY_FN(max_dim));
  m.impl("sincos", SY_FN(sincos));
  m.impl("scale", SY_FN(scale));
  m.impl("view", SY_FN(view_kernel));
  m.impl("as_strided", SY_FN(as_strided_kernel));
  m.impl("expand", SY_FN(expand_kernel));
  m.impl("clone", SY_FN(clone_kernel));
  m.impl("to.dtype", SY_FN(to_dtype));
  m.impl("slice.Tensor", SY_FN(slice_Tensor));
  m.impl("unbind.int", SY_FN(unbind_int));
  m.impl("copy_", SY_FN(copy_));
  m.impl("fill_.Scalar", SY_FN(fill__Scalar));
  m.impl("detach", Kernel::fallthrough());
}

}  // namespace

}  // namespace sy::sample
