#include "frontend/compile/kept.h"

#include <map>
#include <mutex>

#include "c10/process/fork.h"

namespace sy::compiling {

namespace {

// Leaked: captures may go while the process ends.
struct All {
  ForkMutex mutex;
  std::map<const TensorImpl*, std::weak_ptr<void>> counts;
};
All& all() {
  static All& a = *new All;
  return a;
}

}  // namespace

Kept::Count::~Count() {
  const std::lock_guard lock(all().mutex);
  const auto at = all().counts.find(impl);
  if (at != all().counts.end() && at->second.expired()) all().counts.erase(at);
}

Kept::Kept(const Tensor& t) {
  const std::lock_guard lock(all().mutex);
  std::weak_ptr<void>& known = all().counts[t.impl()];
  count_ = std::static_pointer_cast<Count>(known.lock());
  if (count_ != nullptr) return;
  count_ = std::make_shared<Count>(t.impl());
  known = count_;
}

Outer::Outer(const Tensor& t)
    : tensor(t),
      storage(t.storage()),
      guard(t),
      offset(t.storage_offset()),
      kept(t) {
  ++kept.count_->captures;
}

Outer::~Outer() {
  if (tensor.defined()) --kept.count_->captures;
}

}  // namespace sy::compiling
