#pragma once

#include <concepts>
#include <initializer_list>
#include <tuple>
#include <vector>

#include "c10/tensor/array_ref.h"
#include "c10/tensor/tensor_base.h"

namespace sy {

class Tensor;
class TensorItem;
using TensorList = ArrayRef<Tensor>;

namespace indexing {
class TensorIndex;
}
namespace autograd {
class Node;
class HookHandle;
class TensorHook;
class LeafHook;
}  // namespace autograd

// A tensor, with every operator of the library as a method. It is one pointer
// and has no data beyond TensorBase: copies share the tensor. Methods with
// ATen's names and meaning are generated from schemas/ops. The methods written
// here are not operators.
class SY_API Tensor : public TensorBase {
 public:
  Tensor() = default;
  // A template, so that types derived from Tensor take the copy constructor.
  template <std::same_as<TensorBase> Base>
  explicit Tensor(Base base) : TensorBase(std::move(base)) {}
  explicit Tensor(intrusive_ptr<TensorImpl> impl)
      : TensorBase(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  // Assignment to a variable makes it refer to another tensor. Assignment to
  // the result of a call writes to that tensor: x[0] = 1, x.select(1, 2) = y.
  // The value broadcasts.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  Tensor& operator=(const Tensor& value) &&;
  Tensor& operator=(const Scalar& value) &&;

  // The only element as T. Throws ValueError if there is more than one.
  template <class T>
  T item() const {
    return item().to<T>();
  }
  Tensor cpu() const;
  // The tensor on the current device of CUDA.
  Tensor cuda() const;
  Tensor toType(ScalarType dtype) const;

  // The same as x[…] in Python: x.index({Slice(1, None), 0, mask}).
  // aten/tensor_indexing.h has the kinds of indices. Throws IndexError.
  Tensor operator[](int64_t i) const;
  TensorItem operator[](const Tensor& i) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  // x[…] = value, which broadcasts.
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices,
                     const Tensor& value) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices,
                     const Scalar& value) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices,
                     const Tensor& value) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices,
                     const Scalar& value) const;

  // Autograd (see autograd/). These throw NotImplementedError if the autograd
  // library is not linked.
  bool requires_grad() const;
  const Tensor& requires_grad_(bool v = true) const;
  const Tensor& set_requires_grad(bool v) const { return requires_grad_(v); }
  bool is_leaf() const;
  // Undefined if there is no gradient.
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  // Keeps the gradient of a tensor in .grad even if it is not a leaf.
  void retain_grad() const;
  bool retains_grad() const;
  // Adds d(this)/d(leaf) * gradient to .grad of every leaf that requires it.
  void backward(const Tensor& gradient = {}, bool retain_graph = false,
                bool create_graph = false) const;

  // The operation that made this tensor; nullptr for leaves. This function and
  // those below are in the autograd library, as are their types
  // (autograd/hooks.h and node.h).
  intrusive_ptr<autograd::Node> grad_fn() const;
  // Runs `hook` on every gradient of this tensor once it is complete, before it
  // is used or kept. The result of the hook takes the gradient's place. After
  // an in-place write, hooks stay with the value from before the write. Throws
  // ValueError if the tensor requires no gradient.
  autograd::HookHandle register_hook(const autograd::TensorHook& hook) const;
  // Runs `hook` on a leaf each time backward has added to its .grad.
  autograd::HookHandle register_post_accumulate_grad_hook(
      const autograd::LeafHook& hook) const;
  // The same as handle.remove(), as ATen spells it.
  void remove_hook(autograd::HookHandle handle) const;

#include "aten/tensor_methods_gen.h"
};

static_assert(sizeof(Tensor) == sizeof(void*));

// x[mask], x[indices]: a copy that knows its source, so that x[mask] = value
// writes to x.
class SY_API TensorItem : public Tensor {
 public:
  TensorItem(Tensor item, Tensor of, Tensor at)
      : Tensor(std::move(item)), of_(std::move(of)), at_(std::move(at)) {}
  using Tensor::operator=;
  Tensor& operator=(const Tensor& value) &&;
  Tensor& operator=(const Scalar& value) &&;

 private:
  Tensor of_, at_;
};

}  // namespace sy
