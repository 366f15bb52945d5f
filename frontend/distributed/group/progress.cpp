#include "frontend/distributed/group/progress.h"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "frontend/distributed/group/member.h"
#include "frontend/distributed/group/state.h"

namespace sy::distributed {

namespace {

// Waits a little between looks at transfers that did not go on: first not at
// all, then longer and longer, so that others may have the core.
class Backoff {
 public:
  explicit Backoff(int spins) : spins_(spins) {}
  void moved() noexcept { idle_ = 0; }
  void pause() noexcept {
    constexpr int kSteps = 2000;
    if (++idle_ < spins_) {
      sched_yield();
      return;
    }
    // 20 us, after some 40 ms 200 us, after half a second 1 ms.
    const int more = idle_ - spins_;
    const timespec t{0, more < kSteps       ? 20'000
                        : more < 2 * kSteps ? 200'000
                                            : 1'000'000};
    nanosleep(&t, nullptr);
  }

 private:
  const int spins_;
  int idle_ = 0;
};

constexpr int kWaiterSpins = 1000;
constexpr int kThreadSpins = 100;

}  // namespace

Progress::Progress() = default;

Progress::~Progress() { stop(); }

void Progress::add(const std::shared_ptr<Operation>& op, bool wake) {
  // This check comes before the lock, which a thread of the parent may hold for
  // ever.
  check_not_forked();
  const std::lock_guard guard(lock_);
  op->member().push(op);
  if (!wake) return;
  bool left = false;
  op->member().step(&left);
  if (!left) return;
  if (!thread_.joinable() && !forgotten_) {
    thread_ = std::thread([this] { run(); });
  }
  busy_ = true;
  wake_.notify_one();
}

bool Progress::poll(bool* left) noexcept {
  bool moved = false;
  *left = false;
  for (size_t i = 0; i < members_.size(); ++i) {
    bool more = false;
    // Keeps the member, for a call that ends may drop the group.
    const std::shared_ptr<Member> m = members_[i];
    moved |= m->step(&more);
    *left |= more;
  }
  return moved;
}

bool Progress::wait(Operation& op, std::optional<Clock::time_point> until) {
  if (op.ended()) return true;
  return wait_for([&] { return op.ended(); }, until);
}

bool Progress::wait_for(const std::function<bool()>& f,
                        std::optional<Clock::time_point> until) {
  check_not_forked();
  Backoff backoff(kWaiterSpins);
  waiters_.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock guard(lock_);
  bool left = false, done = false;
  for (;;) {
    const bool moved = poll(&left);
    done = f();
    if (done || (until && Clock::now() >= *until)) break;
    if (moved) {
      backoff.moved();
      continue;
    }
    guard.unlock();
    backoff.pause();
    guard.lock();
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  if (left && thread_.joinable()) {
    busy_ = true;
    wake_.notify_one();
  }
  return done;
}

void Progress::run() noexcept {
  Backoff backoff(kThreadSpins);
  std::unique_lock guard(lock_);
  while (!stopping_) {
    if (!busy_ || waiters_.load(std::memory_order_relaxed) > 0) {
      wake_.wait(guard);
      backoff.moved();
      continue;
    }
    if (poll(&busy_)) {
      backoff.moved();
      continue;
    }
    guard.unlock();
    backoff.pause();
    guard.lock();
  }
}

void Progress::add_member(const std::shared_ptr<Member>& member) {
  members_.push_back(member);
}

void Progress::remove_member(const Member& member) noexcept {
  std::erase_if(members_, [&](const auto& m) { return m.get() == &member; });
}

void Progress::stop() noexcept {
  {
    if (forgotten_) return;
    const std::lock_guard guard(lock_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Progress::forget_thread() noexcept {
  forgotten_ = true;
  // The handle of a thread of the parent is neither joined nor destroyed.
  if (thread_.joinable()) thread_.detach();
}

}  // namespace sy::distributed
