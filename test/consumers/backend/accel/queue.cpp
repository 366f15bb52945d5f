#include "queue.h"

#include <sy/library.h>

#include <thread>

namespace accel {

void Flag::set() {
  const std::lock_guard lock(mutex_);
  set_ = true;
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

std::shared_ptr<Queue> Queue::start() {
  auto queue = std::make_shared<Queue>();
  std::thread([queue] { queue->run(); }).detach();
  return queue;
}

void Queue::push(std::string op, std::function<void()> kernel) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back({std::move(op), std::move(kernel)});
  ++pushed_;
  changed_.notify_all();
}

bool Queue::is_done() const {
  const std::lock_guard lock(mutex_);
  return done_ == pushed_;
}

void Queue::wait() const {
  std::unique_lock lock(mutex_);
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

void Queue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    std::exception_ptr error;
    {
      // Freed before it counts as done, with the tensors that it holds.
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      try {
        task.kernel();
      } catch (sy::Error& e) {
        if (!e.message().starts_with('[')) e.add_prefix("[" + task.op + "] ");
        error = std::current_exception();
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
