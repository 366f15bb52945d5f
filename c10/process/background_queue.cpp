#include "c10/process/background_queue.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

// Note [The end of a process]
// What a job uses must not be taken down under the thread, which therefore ends
// first, and is waited for to its very end. The function that is registered
// last runs first when the process ends. Libraries register their own parts
// when they are loaded, by prepare(), and when they are first used, by the
// first job; so close_all() is registered again behind these.

namespace sy {

namespace {

// All queues, by next_.
constinit std::atomic<BackgroundThread*> all{nullptr};

}  // namespace

// The handler of forks is registered behind those of the library's static
// objects: a child has all its parts in order when it starts a thread.
BackgroundThread::BackgroundThread(const BackgroundOptions& options)
    : options_(options) {
  const ForkSection section;
  [[maybe_unused]] static const int handler =
      pthread_atfork(nullptr, nullptr, &renew_all);
  next_ = all.load();
  while (!all.compare_exchange_weak(next_, this)) {
  }
}

bool BackgroundThread::is_closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

// Not a condition: the child of a fork would have to leave that of its parent,
// with threads in it that are gone.
void BackgroundThread::wait(std::unique_lock<ForkMutex>& lock) {
  const int seen = changes_;
  lock.unlock();
  changes_.wait(seen);
  lock.lock();
}

void BackgroundThread::wake() {
  ++changes_;
  changes_.notify_all();
}

void BackgroundThread::start() {
  if (thread_.joinable()) return;
  std::atexit(&close_all);
  thread_ = std::thread(&BackgroundThread::work, this);
}

void BackgroundThread::work() noexcept {
  const auto self = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, self, options_.niceness);
  pthread_setname_np(pthread_self(), options_.name);
  if (options_.prepare != nullptr) options_.prepare();
  std::unique_lock lock(mutex_);
  std::atexit(&close_all);
  for (bool is_first = true;; is_first = false) {
    while (!closed_ && !take()) wait(lock);
    if (closed_) return;
    lock.unlock();
    run();
    lock.lock();
    if (is_first) std::atexit(&close_all);
    drop();
    wake();
  }
}

// A job may be what ends the process.
void BackgroundThread::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || !thread_.joinable()) return;
    closed_ = true;
    if (options_.cancel != nullptr) options_.cancel();
    wake();
  }
  if (thread_.get_id() != std::this_thread::get_id()) thread_.join();
}

// In the child of a fork the thread is gone, and so are those who waited. Its
// id is given back: ThreadSanitizer takes it for one in use.
void BackgroundThread::renew() {
  new (&mutex_) ForkMutex;
  if (thread_.joinable()) pthread_detach(thread_.native_handle());
  new (&thread_) std::thread;
  if (!options_.goes_on_in_child || !forked_at_rest()) closed_ = true;
  if (!closed_ && take_back()) start();
}

void BackgroundThread::close_all() {
  for (BackgroundThread* t = all; t != nullptr; t = t->next_) t->close();
}

void BackgroundThread::renew_all() {
  for (BackgroundThread* t = all; t != nullptr; t = t->next_) t->renew();
}

}  // namespace sy
