#include "frontend/distributed/group/state.h"

#include <pthread.h>

#include <atomic>
#include <utility>

#include "c10/error.h"

namespace sy::distributed {

namespace {

std::atomic<int> contexts{0};
std::atomic<bool> forked{false};

[[maybe_unused]] const int watching = [] {
  return pthread_atfork(nullptr, nullptr, [] {
    if (contexts > 0) forked = true;
  });
}();

}  // namespace

Unforkable::Unforkable() noexcept { ++contexts; }
Unforkable::~Unforkable() { --contexts; }

bool is_forked() noexcept { return forked.load(std::memory_order_relaxed); }

void check_not_forked() {
  SY_CHECK(!is_forked(), Error,
           "[distributed] this process was forked from a rank: only the rank "
           "itself may use its groups. Start ranks by `sy launch`");
}

std::string Context::State::status() const {
  std::string s;
  const std::lock_guard guard(groups_lock);
  for (const auto& [name, group] : groups) {
    const std::string of_group = group->member()->status();
    if (of_group.empty()) continue;
    if (!s.empty()) s += "; ";
    s += of_group;
  }
  if (destroyed) return s += (s.empty() ? "" : "; ") + std::string("is ending");
  return s.empty() ? "has called no collective yet" : s;
}

}  // namespace sy::distributed
