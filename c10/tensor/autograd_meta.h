#pragma once

#include <cstdint>

#include "c10/macros.h"
#include "c10/tensor/intrusive_ptr.h"

namespace sy {

class TensorImpl;
class OperatorEntry;

// The data that autograd keeps with a tensor. The autograd library defines it;
// c10 only owns it.
class SY_API AutogradMeta {
 public:
  virtual ~AutogradMeta();
};

// How a tensor came to be a view.
enum class ViewCreation : uint8_t { Default, NoGrad, Inference, MultiOutput };

// How a view was made: from which tensor, by which operator, with which
// arguments. That is enough to make the view again on another tensor; strides
// alone are not, because some backends have none. `parent` is the tensor that
// the operator was given; the root of the chain of parents is the base.
class SY_API ViewMeta final : public RefCounted {
 public:
  static constexpr int kInlineArgs = 9;

  // `args` are the operator's arguments after `self`, as they were given (dims
  // may count from the end). A list is its length, then its elements; None is
  // INT64_MIN.
  static intrusive_ptr<ViewMeta> make(intrusive_ptr<TensorImpl> parent,
                                      const OperatorEntry* op,
                                      const int64_t* args, int n,
                                      ViewCreation creation);
  const intrusive_ptr<TensorImpl>& parent() const { return parent_; }
  const OperatorEntry* op() const { return op_; }
  const int64_t* args() const { return n_ > kInlineArgs ? heap_ : inline_; }
  int num_args() const { return n_; }
  ViewCreation creation() const { return creation_; }
  // The index of this output if there are several (unbind, split); else 0.
  int output() const { return output_; }
  void set_output(int i) { output_ = i; }
  void set_creation(ViewCreation c) { creation_ = c; }

  static void destroy(ViewMeta* m) noexcept;

 private:
  ViewMeta() = default;
  ~ViewMeta();
  intrusive_ptr<TensorImpl> parent_;
  const OperatorEntry* op_ = nullptr;
  union {
    int64_t inline_[kInlineArgs];
    int64_t* heap_;
  };
  int n_ = 0;
  int output_ = 0;
  ViewCreation creation_ = ViewCreation::Default;
};

}  // namespace sy
