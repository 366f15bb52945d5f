#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "aten/tensor.h"

// Tells other libraries of a run of backward: when it begins, which leaves it
// will not reach, and when it has ended.

namespace sy::autograd {

// Calls f once, when the outermost run of this thread has ended well, before
// its backward() or grad() returns: in the order queued, without recording
// unless the run records. backward() throws what f throws. f may queue more. If
// the run throws, f is dropped without a call. Hooks and Functions call this,
// also in runs within runs. Throws Error if no backward runs.
SY_API void queue_callback(std::function<void()> f);

// Leaves that someone watches, as long as the handle lives. Movable.
class SY_API LeafWatch {
 public:
  struct State;

  LeafWatch() noexcept = default;
  explicit LeafWatch(std::shared_ptr<const State> state) noexcept;
  // A call that is just running in another thread may end afterwards.
  ~LeafWatch();
  LeafWatch(LeafWatch&& other) noexcept;
  LeafWatch& operator=(LeafWatch&& other) noexcept;

 private:
  std::shared_ptr<const State> state_;  // nullptr: watches nothing
};

// Indices of the watched leaves that a run does not reach.
using LeafWatchFunction =
    std::function<void(const std::vector<size_t>& unreached)>;

// Calls on_start when a run begins that adds to leaves (none of grad()) and
// reaches at least one of these, in the run's thread, before any node runs.
// on_start may call queue_callback(); backward() throws what it throws. Runs
// within runs count as runs: leaves used inside a Function whose backward runs
// backward again are unreached at first, and reached by that run. A leaf that
// is reached still gets no gradient if all that flows to it is undefined.
// Thread-safe. Throws ValueError for a tensor that is no leaf or requires no
// gradient.
[[nodiscard]] SY_API LeafWatch watch_leaves(std::vector<Tensor> leaves,
                                            LeafWatchFunction on_start);

}  // namespace sy::autograd
