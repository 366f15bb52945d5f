#include "autograd/accumulate.h"

#include "autograd/hooks.h"
#include "autograd/meta.h"
#include "autograd/runtime_ops.h"
#include "autograd/user_error.h"
#include "c10/dispatch/capture.h"

namespace sy::autograd {

namespace {

// A gradient is laid out as its leaf if that is dense, else row-major.
bool laid_out_like(const TensorImpl& grad, const TensorImpl& leaf) {
  if (grad.is_contiguous() && leaf.is_contiguous()) return true;
  return leaf.is_non_overlapping_and_dense() ? grad.strides() == leaf.strides()
                                             : grad.is_contiguous();
}

Tensor copy_for(const TensorImpl& leaf, const Tensor& grad) {
  if (GradMode::is_enabled()) return rt::clone(grad);
  Tensor r = leaf.is_non_overlapping_and_dense()
                 ? rt::empty_strided(leaf.sizes(), leaf.strides(),
                                     grad.scalar_type(), grad.device())
                 : Tensor(make_tensor(leaf.sizes(), grad.scalar_type(),
                                      grad.device()));
  rt::copy_(r, grad);
  return r;
}

}  // namespace

void AccumulateGrad::apply(GradFrame& f) {
  const intrusive_ptr<TensorImpl> leaf = leaf_.lock();
  if (!leaf) return;
  Tensor grad = f.take_grad();
  const std::lock_guard guard(mutex_);
  if (thread_state.capture != nullptr) thread_state.capture->on_grad(leaf);
  Tensor& sum = materialize_meta(*leaf).grad;
  if (!sum.defined()) {
    const bool steal = !GradMode::is_enabled() && grad.use_count() == 1 &&
                       grad.storage().use_count() == 1 &&
                       laid_out_like(*grad.impl(), *leaf);
    sum = steal ? std::move(grad) : copy_for(*leaf, grad);
  } else if (!GradMode::is_enabled()) {
    rt::add_(sum, grad);
  } else {
    sum = rt::add(sum, grad);
  }
  if (SY_UNLIKELY(extra_or_null() != nullptr)) run_hooks(leaf);
}

void AccumulateGrad::run_hooks(const intrusive_ptr<TensorImpl>& leaf) {
  if (!extra().hooks) return;
  std::vector<intrusive_ptr<Hook>> hooks;
  {
    const std::lock_guard guard(lock());
    hooks = extra().hooks->leaf;
  }
  std::erase_if(hooks, [](const auto& h) { return !h->active(); });
  if (!hooks.empty()) tell_capture_acts("a hook runs");
  Tensor t(leaf);
  for (const auto& h : hooks) {
    call_user(
        [&] {
          (*h)({&t, 1, nullptr, 0});
        },
        [&] { return "in " + h->describe(); });
  }
}

}  // namespace sy::autograd
