#include "frontend/compile/guards.h"

#include <algorithm>
#include <cstring>

#include "autograd/meta.h"
#include "c10/error.h"
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

TensorGuard::TensorGuard(const Tensor& t) : defined_(t.defined()) {
  if (!defined_) return;
  requires_grad_ = autograd::requires_grad(t);
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
         autograd::requires_grad(t) == requires_grad_;
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
  return str("keys {}, were {}", t.key_set(), keys_);
}

Modes Modes::now() {
  const ThreadState& s = thread_state;
  return {s.included, s.excluded, !s.grad_disabled, s.inference,
          s.autocast_devices};
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

std::string ArgumentGuard::difference(const Arguments& a) const {
  if (Modes::now() != modes_) return "the modes of the thread differ";
  const std::string text = tensor_difference(a);
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

bool TensorGuard::resized(const TensorGuard& other,
                          const capture::SizeRule& rule,
                          TensorGuard* to) const {
  TensorGuard like = other;
  like.dims_ = dims_;
  if (!(like == *this)) return false;
  *to = *this;
  return rule.next(IntArrayRef(dims_), IntArrayRef(other.dims_), &to->dims_);
}

bool ArgumentGuard::find_rule(const ArgumentGuard& other,
                              capture::SizeRule* rule, int* tensor,
                              int* dim) const {
  if (tensors_.size() != other.tensors_.size()) return false;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto &mine = tensors_[i].dims(), &its = other.tensors_[i].dims();
    if (mine.size() != its.size()) return false;
    for (size_t d = 0; d < mine.size() / 2; ++d) {
      if (mine[d] == its[d]) continue;
      *rule = {mine[d], its[d], its[d]};
      *tensor = static_cast<int>(i);
      *dim = static_cast<int>(d);
      ArgumentGuard like;
      return resized(other, *rule, &like);
    }
  }
  return false;
}

bool ArgumentGuard::find_rule(const ArgumentGuard& other, const Arguments& a,
                              capture::SizeRule* rule) const {
  int tensor = 0, dim = 0;
  if (!find_rule(other, rule, &tensor, &dim)) return false;
  const auto i = static_cast<size_t>(tensor), d = static_cast<size_t>(dim);
  if (i >= a.tensors.size() || !a.tensors[i].defined()) return false;
  const IntArrayRef sizes = a.tensors[i].sizes();
  if (d >= sizes.size()) return false;
  rule->n = sizes[d];
  return true;
}

bool ArgumentGuard::resized(const ArgumentGuard& other,
                            const capture::SizeRule& rule,
                            ArgumentGuard* to) const {
  ArgumentGuard like = other;
  like.tensors_ = tensors_;
  like.shares_ = shares_;
  if (!(like == *this) || tensors_.size() != other.tensors_.size()) {
    return false;
  }
  *to = *this;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!tensors_[i].resized(other.tensors_[i], rule, &to->tensors_[i]) ||
        shares_[i].with != other.shares_[i].with ||
        !rule.next(shares_[i].offset, other.shares_[i].offset,
                   &to->shares_[i].offset)) {
      return false;
    }
  }
  return true;
}

}  // namespace sy::compiling
