#include "frontend/distributed/group/state.h"

#include <pthread.h>

#include <atomic>
#include <new>
#include <utility>

#include "c10/process/error.h"

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

std::string Context::State::status_of_groups() const {
  std::string s;
  for (const auto& [name, group] : groups) {
    const std::string of_group = group->member()->status();
    if (of_group.empty()) continue;
    if (!s.empty()) s += "; ";
    s += of_group;
  }
  return s;
}

// Others may still ask why this rank did not come.
void Context::State::note_last_words() noexcept {
  const std::lock_guard guard(groups_lock);
  try {
    last_words = status_of_groups();
    if (!last_words.empty()) last_words += "; ";
  } catch (const std::bad_alloc&) {
  }
}

std::string Context::State::status() const {
  const std::lock_guard guard(groups_lock);
  std::string s = status_of_groups();
  if (destroyed) return last_words + "is ending";
  return s.empty() ? "has called no collective yet" : s;
}

}  // namespace sy::distributed
