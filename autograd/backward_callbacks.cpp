#include "autograd/backward_callbacks.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "autograd/callback_scope.h"
#include "autograd/meta.h"
#include "c10/process/fork.h"

namespace sy::autograd {

void queue_callback(std::function<void()> f) {
  SY_CHECK(f != nullptr, Value,
           "[queue_callback] f: expected a function, got an empty one");
  SY_CHECK(detail::thread.callbacks != nullptr, Error,
           "[queue_callback] expected a call while backward runs in this "
           "thread: from a hook, or from the backward of a Function");
  detail::thread.callbacks->queue(std::move(f));
}

struct LeafWatch::State {
  std::vector<Tensor> leaves;
  LeafWatchFunction on_start;
};

namespace {

using Watch = std::shared_ptr<const LeafWatch::State>;

struct Registry {
  ForkMutex mutex;
  std::vector<Watch> watches;
};

// Leaked: handles may be destroyed after statics.
Registry& registry() {
  static Registry* const r = new Registry;
  return *r;
}

// Takes no lock of `leaf`: a thread that changes it may not run backward to it.
bool is_reached(const Tensor& leaf, const std::function<bool(Node&)>& reached) {
  const Meta* m = meta_of(*leaf.impl());
  Node* n =
      m == nullptr ? nullptr : m->accumulator.load(std::memory_order_acquire);
  return n != nullptr && reached(*n);
}

}  // namespace

LeafWatch::LeafWatch(std::shared_ptr<const State> state) noexcept
    : state_(std::move(state)) {}

LeafWatch::LeafWatch(LeafWatch&& other) noexcept
    : state_(std::move(other.state_)) {}

LeafWatch& LeafWatch::operator=(LeafWatch&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

LeafWatch::~LeafWatch() {
  if (state_ == nullptr) return;
  Registry& r = registry();
  const std::lock_guard guard(r.mutex);
  r.watches.erase(std::find(r.watches.begin(), r.watches.end(), state_));
  detail::leaf_watches.fetch_sub(1, std::memory_order_relaxed);
}

LeafWatch watch_leaves(std::vector<Tensor> leaves, LeafWatchFunction on_start) {
  SY_CHECK(on_start != nullptr, Value,
           "[watch_leaves] on_start: expected a function, got an empty one");
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Tensor& t = leaves[i];
    SY_CHECK(t.defined() && requires_grad(t) && !grad_fn(*t.impl()), Value,
             "[watch_leaves] leaves[{}]: expected a leaf that requires a "
             "gradient, got {}",
             i, describe(t));
  }
  const auto state = std::make_shared<const LeafWatch::State>(
      LeafWatch::State{std::move(leaves), std::move(on_start)});
  Registry& r = registry();
  const std::lock_guard guard(r.mutex);
  r.watches.push_back(state);
  detail::leaf_watches.fetch_add(1, std::memory_order_relaxed);
  return LeafWatch(state);
}

namespace detail {

constinit std::atomic<uint32_t> leaf_watches{0};

void tell_leaf_watches(const std::function<bool(Node&)>& reached) {
  std::vector<Watch> watches;
  {
    const std::lock_guard guard(registry().mutex);
    watches = registry().watches;
  }
  for (const Watch& w : watches) {
    std::vector<size_t> unreached;
    for (size_t i = 0; i < w->leaves.size(); ++i) {
      if (!is_reached(w->leaves[i], reached)) unreached.push_back(i);
    }
    if (unreached.size() < w->leaves.size()) w->on_start(unreached);
  }
}

void CallbackScope::call_all() {
  for (size_t i = 0; i < queued_.size(); ++i) {
    const std::function<void()> f = std::move(queued_[i]);
    f();
  }
}

}  // namespace detail

}  // namespace sy::autograd
