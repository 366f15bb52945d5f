#include "queue.h"

#include <sy/library.h>

#include <thread>
#include <utility>

namespace accel {

void Flag::set() {
  const std::lock_guard lock(mutex_);
  set_ = true;
  time_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

void Flag::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return set_; });
}

bool Flag::is_set() const {
  const std::lock_guard lock(mutex_);
  return set_;
}

Flag::Time Flag::time() const {
  const std::lock_guard lock(mutex_);
  return time_;
}

void Task::run() const {
  try {
    kernel();
  } catch (sy::Error& e) {
    if (!e.message().starts_with('[')) e.add_prefix("[" + op + "] ");
    throw;
  }
}

std::shared_ptr<Queue> Queue::start(int priority) {
  auto queue = std::make_shared<Queue>();
  queue->priority_ = priority;
  std::thread([queue] { queue->run(); }).detach();
  return queue;
}

uint64_t Queue::push(Task task) {
  const std::lock_guard lock(mutex_);
  if (recording_ != nullptr) {
    recording_->tasks.push_back(std::move(task));
    return 0;
  }
  tasks_.push_back(std::move(task));
  changed_.notify_all();
  return ++pushed_;
}

uint64_t Queue::last() const {
  const std::lock_guard lock(mutex_);
  return pushed_;
}

uint64_t Queue::completed() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

bool Queue::is_done() const {
  const std::lock_guard lock(mutex_);
  return done_ == pushed_;
}

void Queue::wait() const {
  std::unique_lock lock(mutex_);
  SY_CHECK(recording_ == nullptr, Error,
           "waits for a stream that records a graph: nothing has run");
  changed_.wait(lock, [&, last = pushed_] { return done_ >= last; });
}

void Queue::throw_error() {
  std::exception_ptr error;
  {
    const std::lock_guard lock(mutex_);
    std::swap(error, error_);
  }
  if (error) std::rethrow_exception(error);
}

void Queue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Queue::begin_recording() {
  const std::lock_guard lock(mutex_);
  recording_ = std::make_shared<Recording>();
}

std::shared_ptr<Recording> Queue::recording() const {
  const std::lock_guard lock(mutex_);
  return recording_;
}

std::shared_ptr<Recording> Queue::end_recording() {
  const std::lock_guard lock(mutex_);
  return std::exchange(recording_, nullptr);
}

void Queue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    std::exception_ptr error;
    {
      // Freed before it counts as done, with what it holds.
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      try {
        task.run();
      } catch (...) {
        error = std::current_exception();
      }
    }
    lock.lock();
    if (error && !error_) error_ = error;
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace accel
