#include "c10/fork.h"

#include <pthread.h>
#include <time.h>

#include <chrono>
#include <new>

namespace sy {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLongestWait{10};
constexpr int kPauses = 100;  // of a thread that lets a fork go first

// Its address names the thread. How many locks and sections the thread has.
SY_TLS_FAST constinit thread_local int held = 0;
SY_TLS_FAST constinit thread_local bool quick = false;
SY_TLS_FAST constinit thread_local int own_sections = 0;

constinit std::atomic<int> forks{0};     // that wait or are being made
constinit std::atomic<int> sections{0};  // of all threads

const void* self() noexcept { return &held; }

void pause() noexcept {
  const timespec t{0, 50'000};
  nanosleep(&t, nullptr);
}

// A thread that holds something goes on: the fork waits for it.
void let_forks_pass() noexcept {
  if (SY_LIKELY(forks.load(std::memory_order_relaxed) == 0)) return;
  for (int i = 0; i < kPauses && held == 0; ++i) {
    if (forks.load(std::memory_order_relaxed) == 0) return;
    pause();
  }
}

}  // namespace

struct detail::ForkList {
  std::mutex mutex;  // of the lists; held while a process is copied
  ForkMutex* first = nullptr;
  ForkParticipant* participants = nullptr;
  ForkParticipant* taken_until = nullptr;  // those before it are taken

  void add(ForkMutex& m) {
    const std::lock_guard lock(mutex);
    if (m.listed_.load(std::memory_order_relaxed)) return;
    m.next_ = first;
    m.previous_ = nullptr;
    if (first != nullptr) first->previous_ = &m;
    first = &m;
    m.listed_.store(true, std::memory_order_release);
  }

  void remove(ForkMutex& m) {
    const std::lock_guard lock(mutex);
    (m.previous_ != nullptr ? m.previous_->next_ : first) = m.next_;
    if (m.next_ != nullptr) m.next_->previous_ = m.previous_;
    m.listed_.store(false, std::memory_order_relaxed);
  }

  // The list's mutex is held. Takes all that it can at once.
  bool take_all() {
    bool all = sections.load() == own_sections;
    for (taken_until = participants; all && taken_until != nullptr;
         taken_until = taken_until->next) {
      if (!taken_until->take()) {
        all = false;
        break;
      }
    }
    for (ForkMutex* m = first; m != nullptr; m = m->next_) {
      if (m->is_mine()) continue;
      m->taken_ = m->mutex_.try_lock();
      all = all && m->taken_;
    }
    return all;
  }

  void give_back(bool in_child) {
    for (ForkMutex* m = first; m != nullptr; m = m->next_) {
      if (m->taken_) {
        m->taken_ = false;
        m->mutex_.unlock();
      } else if (in_child && !m->is_mine()) {
        renew(*m);
      }
    }
    if (in_child && !quick) taken_until = nullptr;
    for (ForkParticipant* p = participants; p != taken_until; p = p->next) {
      p->give_back(in_child);
    }
    taken_until = participants;
  }

  // Who holds it is not in this process.
  static void renew(ForkMutex& m) {
    new (&m.mutex_) std::mutex;
    m.owner_.store(nullptr, std::memory_order_relaxed);
    m.depth_ = 0;
  }

  void before() {
    mutex.lock();
    taken_until = participants;
    if (quick) return;
    forks.fetch_add(1);
    const auto deadline = Clock::now() + kLongestWait;
    while (!take_all() && Clock::now() < deadline) {
      give_back(false);
      mutex.unlock();  // who holds a lock may need the list
      pause();
      mutex.lock();
    }
  }

  void after(bool in_child) {
    give_back(in_child);
    if (in_child) {
      forks.store(0, std::memory_order_relaxed);
      sections.store(own_sections, std::memory_order_relaxed);
    } else if (!quick) {
      forks.fetch_sub(1, std::memory_order_relaxed);
    }
    mutex.unlock();
  }
};

namespace {

constinit detail::ForkList list;

[[maybe_unused]] const int handlers = pthread_atfork(
    [] { list.before(); }, [] { list.after(false); }, [] { list.after(true); });

}  // namespace

ForkMutex::~ForkMutex() {
  if (listed_.load(std::memory_order_relaxed)) list.remove(*this);
}

bool ForkMutex::is_mine() const noexcept {
  return owner_.load(std::memory_order_relaxed) == self();
}

void ForkMutex::lock() {
  if (SY_UNLIKELY(!listed_.load(std::memory_order_acquire))) list.add(*this);
  let_forks_pass();
  mutex_.lock();
  owner_.store(self(), std::memory_order_relaxed);
  ++held;
}

bool ForkMutex::try_lock() {
  if (SY_UNLIKELY(!listed_.load(std::memory_order_acquire))) list.add(*this);
  if (!mutex_.try_lock()) return false;
  owner_.store(self(), std::memory_order_relaxed);
  ++held;
  return true;
}

void ForkMutex::unlock() {
  --held;
  owner_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
}

void RecursiveForkMutex::lock() {
  if (!is_mine()) ForkMutex::lock();
  ++depth_;
}

bool RecursiveForkMutex::try_lock() {
  if (!is_mine() && !ForkMutex::try_lock()) return false;
  ++depth_;
  return true;
}

void RecursiveForkMutex::unlock() {
  if (--depth_ == 0) ForkMutex::unlock();
}

ForkSection::ForkSection() {
  sections.fetch_add(1);
  if (SY_UNLIKELY(forks.load() != 0) && held == 0) {
    sections.fetch_sub(1);
    let_forks_pass();
    sections.fetch_add(1);
  }
  ++held;
  ++own_sections;
}

ForkSection::~ForkSection() {
  sections.fetch_sub(1);
  --own_sections;
  --held;
}

void add_fork_participant(ForkParticipant& p) {
  const std::lock_guard lock(list.mutex);
  p.next = list.participants;
  list.participants = &p;
}

QuickFork::QuickFork() noexcept { quick = true; }
QuickFork::~QuickFork() { quick = false; }

}  // namespace sy
