#pragma once

#include <mutex>

#include "autograd/node.h"
#include "c10/process/fork.h"

namespace sy::autograd {

// Adds incoming gradients to .grad of a leaf. The leaf owns it, and it refers
// to the leaf weakly: a gradient for a leaf that is gone is dropped. Several
// threads may run it at once.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const intrusive_ptr<TensorImpl>& leaf)
      : Node(nullptr, 0), leaf_(leaf) {
    set_sequence_nr(kFirst);
  }
  void apply(GradFrame& f) override;
  std::string name() const override { return "AccumulateGrad"; }

 private:
  void run_hooks(const intrusive_ptr<TensorImpl>& leaf);

  weak_intrusive_ptr<TensorImpl> leaf_;
  // Held while hooks of the leaf run. They may run backward to the same leaf.
  RecursiveForkMutex mutex_;
};

}  // namespace sy::autograd
