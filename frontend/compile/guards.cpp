#include "frontend/compile/guards.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "autograd/hooks.h"
#include "autograd/meta.h"
#include "c10/process/error.h"
#include "frontend/compile/compile.h"

namespace sy::compiling {

void add_text(Arguments* to, std::string_view text) {
  add_word(to, text.size());
  for (size_t i = 0; i < text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min<size_t>(8, text.size() - i));
    add_word(to, word);
  }
}

namespace {

bool is_leaf(const TensorBase& t) {
  return !autograd::requires_grad(t) || autograd::grad_fn(*t.impl()) == nullptr;
}

}  // namespace

bool has_hooks(const Tensor& t) {
  const autograd::Meta* const m = autograd::meta_of(*t.impl());
  if (m == nullptr) return false;
  const autograd::Node* const n =
      m->grad_fn != nullptr ? m->grad_fn.get()
                            : m->accumulator.load(std::memory_order_acquire);
  if (n == nullptr || n->extra_or_null() == nullptr) return false;
  const std::lock_guard lock(n->lock());
  const autograd::NodeHooks* const h = n->extra_or_null()->hooks.get();
  if (h == nullptr) return false;
  const auto active = [](const auto& hook) { return hook->active(); };
  return std::any_of(h->pre.begin(), h->pre.end(), active) ||
         std::any_of(h->post.begin(), h->post.end(), active) ||
         std::any_of(h->leaf.begin(), h->leaf.end(), active) ||
         std::any_of(h->tensor.begin(), h->tensor.end(),
                     [](const auto& o) { return o.hook->active(); });
}

TensorGuard::TensorGuard(const Tensor& t) : defined_(t.defined()) {
  if (!defined_) return;
  requires_grad_ = autograd::requires_grad(t);
  leaf_ = is_leaf(t);
  inference_ = t.is_inference();
  dtype_ = t.scalar_type();
  device_ = t.device();
  keys_ = t.key_set();
  dims_.assign(t.sizes().begin(), t.sizes().end());
  dims_.insert(dims_.end(), t.strides().begin(), t.strides().end());
}

bool TensorGuard::holds(const Tensor& t) const {
  if (t.defined() != defined_) return false;
  if (!defined_) return true;
  const TensorImpl& i = *t.impl();
  const IntArrayRef sizes = i.sizes(), strides = i.strides();
  const size_t n = sizes.size();
  return i.dtype() == dtype_ && i.key_set() == keys_ && i.device() == device_ &&
         2 * n == dims_.size() &&
         std::equal(sizes.begin(), sizes.end(), dims_.begin()) &&
         std::equal(strides.begin(), strides.end(),
                    dims_.begin() + static_cast<int64_t>(n)) &&
         autograd::requires_grad(t) == requires_grad_ &&
         (!requires_grad_ || is_leaf(t) == leaf_) &&
         t.is_inference() == inference_;
}

std::string TensorGuard::difference(const Tensor& t) const {
  if (holds(t)) return "";
  if (t.defined() != defined_) {
    return defined_ ? "undefined, was defined" : "defined, was undefined";
  }
  const size_t n = dims_.size() / 2;
  const IntArrayRef sizes(dims_.data(), n), strides(dims_.data() + n, n);
  if (t.sizes() != sizes) return str("sizes {}, were {}", t.sizes(), sizes);
  if (t.scalar_type() != dtype_) {
    return str("dtype {}, was {}", t.scalar_type(), dtype_);
  }
  if (t.device() != device_) {
    return str("device {}, was {}", t.device(), device_);
  }
  if (t.strides() != strides) {
    return str("strides {}, were {}", t.strides(), strides);
  }
  if (autograd::requires_grad(t) != requires_grad_) {
    return requires_grad_ ? "requires no gradient, did before"
                          : "requires a gradient, did not before";
  }
  if (requires_grad_ && is_leaf(t) != leaf_) {
    return leaf_ ? "the result of a recorded call, was a leaf"
                 : "a leaf, was the result of a recorded call";
  }
  if (t.is_inference() != inference_) {
    return "made in inference mode or not, unlike before";
  }
  return str("keys {}, were {}", t.key_set(), keys_);
}

Modes Modes::now() {
  const ThreadState& s = thread_state;
  Modes m{s.included, s.excluded, !s.grad_disabled, s.inference,
          s.autocast_devices};
  if (m.autocast != 0) {
    std::copy_n(s.autocast_dtypes, m.autocast_dtypes.size(),
                m.autocast_dtypes.begin());
  }
  m.default_dtype = sy::default_dtype();
  return m;
}

std::string Modes::difference(const Modes& was) const {
  if (default_dtype != was.default_dtype) {
    return str("default dtype {}, was {}", default_dtype, was.default_dtype);
  }
  return *this == was ? "" : "the modes of the thread differ";
}

ArgumentGuard::Share ArgumentGuard::share_of(const Arguments& a, size_t i) {
  const Tensor& t = a.tensors[i];
  if (!t.defined()) return {i, 0};
  for (size_t k = 0; k < i; ++k) {
    const Tensor& other = a.tensors[k];
    if (other.defined() && other.storage().get() == t.storage().get()) {
      return {k, t.storage_offset() - other.storage_offset()};
    }
  }
  return {i, 0};
}

ArgumentGuard::ArgumentGuard(const Arguments& a)
    : modes_(Modes::now()), words_(a.words) {
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    tensors_.emplace_back(a.tensors[i]);
    shares_.push_back(share_of(a, i));
  }
}

bool ArgumentGuard::holds(const Arguments& a) const {
  if (a.tensors.size() != tensors_.size() || a.words != words_ ||
      Modes::now() != modes_) {
    return false;
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!tensors_[i].holds(a.tensors[i]) || share_of(a, i) != shares_[i]) {
      return false;
    }
  }
  return true;
}

// Whether strides, which follow the sizes, are in the same order.
bool TensorGuard::has_same_order(const TensorGuard& o) const {
  const size_t n = dims_.size() / 2;
  for (size_t i = n; i < 2 * n; ++i) {
    if ((dims_[i] == 0) != (o.dims_[i] == 0)) return false;
    for (size_t k = i + 1; k < 2 * n; ++k) {
      if ((dims_[i] < dims_[k]) != (o.dims_[i] < o.dims_[k])) return false;
    }
  }
  return true;
}

bool TensorGuard::is_but_for_sizes(const TensorGuard& o) const {
  return defined_ == o.defined_ && requires_grad_ == o.requires_grad_ &&
         leaf_ == o.leaf_ && inference_ == o.inference_ && dtype_ == o.dtype_ &&
         device_ == o.device_ && keys_ == o.keys_ &&
         dims_.size() == o.dims_.size() && has_same_order(o);
}

bool ArgumentGuard::is_but_for_sizes(const ArgumentGuard& o) const {
  return modes_ == o.modes_ && words_ == o.words_ &&
         std::equal(tensors_.begin(), tensors_.end(), o.tensors_.begin(),
                    o.tensors_.end(),
                    [](const TensorGuard& a, const TensorGuard& b) {
                      return a.is_but_for_sizes(b);
                    }) &&
         std::equal(
             shares_.begin(), shares_.end(), o.shares_.begin(), o.shares_.end(),
             [](const Share& a, const Share& b) { return a.with == b.with; });
}

std::string ArgumentGuard::difference(const Arguments& a) const {
  std::string text = Modes::now().difference(modes_);
  if (!text.empty()) return text;
  text = tensor_difference(a);
  if (!text.empty()) return text;
  return a.words != words_ ? "an argument that is no tensor differs" : "";
}

std::string ArgumentGuard::tensor_difference(const Arguments& a) const {
  if (a.tensors.size() != tensors_.size()) {
    return str("{} tensors, were {}", a.tensors.size(), tensors_.size());
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const std::string text = tensors_[i].difference(a.tensors[i]);
    if (!text.empty()) return str("tensor {}: {}", i, text);
    if (share_of(a, i) != shares_[i]) {
      return str("tensor {}: shares memory with another argument", i);
    }
  }
  return "";
}

}  // namespace sy::compiling
