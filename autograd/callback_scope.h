#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "autograd/thread.h"

// The engine's part of backward_callbacks.h.

namespace sy::autograd {

class Node;

namespace detail {

extern constinit std::atomic<uint32_t> leaf_watches;  // how many there are
inline bool any_leaf_watches() {
  return leaf_watches.load(std::memory_order_relaxed) != 0;
}
// `reached` says whether the run that begins reaches a node.
void tell_leaf_watches(const std::function<bool(Node&)>& reached);

// One run; the outermost of a thread keeps the queued callbacks.
class CallbackScope {
 public:
  CallbackScope() {
    if (thread.callbacks == nullptr) thread.callbacks = this;
  }
  ~CallbackScope() {
    if (thread.callbacks == this) thread.callbacks = nullptr;
  }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  void queue(std::function<void()> f) { queued_.push_back(std::move(f)); }
  // The run has ended well. Scopes of inner runs have nothing queued.
  void finish() {
    if (SY_UNLIKELY(!queued_.empty())) call_all();
  }

 private:
  void call_all();

  std::vector<std::function<void()>> queued_;
};

}  // namespace detail

}  // namespace sy::autograd
