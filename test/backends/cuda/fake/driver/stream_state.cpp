#include <pthread.h>

#include <thread>

#include "test/backends/cuda/fake/driver/state.h"
#include "test/backends/cuda/fake/fake_cuda_control.h"

// Streams as queues.

namespace fake_cuda {
namespace {

struct Pause {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  std::atomic<bool> paused{false};
};
Pause& pause_state() {
  static Pause* const p = new Pause;
  return *p;
}

}  // namespace

void pause(int change) {
  Pause& p = pause_state();
  const std::lock_guard lock(p.mutex);
  p.count += change;
  p.paused = p.count > 0;
  p.changed.notify_all();
}

void wait_while_paused() {
  Pause& p = pause_state();
  if (!p.paused) return;
  std::unique_lock lock(p.mutex);
  p.changed.wait(lock, [&] { return p.count <= 0; });
}

void StreamState::run(const Task& task) {
  const unsigned slow = faults().slow;
  if (slow != 0) std::this_thread::sleep_for(std::chrono::microseconds(slow));
  if (task.always || context->failed == 0) task.run();
}

void StreamState::put(std::function<void()> task, bool always) {
  Task t{std::move(task), always};
  std::unique_lock lock(mutex_);
  if (settings().synchronous) {
    ++given_;
    run(t);
    ++done_;
    return;
  }
  changed_.wait(lock, [&] { return tasks_.size() < kMostTasks; });
  ++given_;
  tasks_.push_back(std::move(t));
  if (!started_) {
    started_ = true;
    std::thread([self = shared_from_this()] { self->work(); }).detach();
  }
  changed_.notify_all();
}

void StreamState::work() {
  pthread_setname_np(pthread_self(), "fake_stream");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !tasks_.empty() || closing_; });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    lock.unlock();
    wait_while_paused();
    run(task);
    task.run = nullptr;
    lock.lock();
    tasks_.pop_front();
    ++done_;
    done_.notify_all();
    changed_.notify_all();
  }
}

void StreamState::wait_for(uint64_t task) const {
  for (uint64_t done = done_; done < task; done = done_) done_.wait(done);
}

void StreamState::close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

std::vector<std::shared_ptr<StreamState>> ContextState::all_streams() {
  const std::lock_guard lock(mutex);
  auto all = streams;
  all.push_back(null_stream);
  return all;
}

void put_in_order(StreamState& stream, std::function<void()> task,
                  bool always) {
  ContextState& context = *stream.context;
  if (&stream != context.null_stream.get()) {
    if (stream.blocking && !context.null_stream->idle()) {
      stream.put([null = context.null_stream,
                  to = context.null_stream->given()] { null->wait_for(to); });
    }
  } else {
    for (const auto& other : context.all_streams()) {
      if (other.get() == &stream || !other->blocking || other->idle()) continue;
      stream.put([other, to = other->given()] { other->wait_for(to); });
    }
  }
  stream.put(std::move(task), always);
}

void wait_for_context(ContextState& context) {
  for (const auto& stream : context.all_streams()) stream->wait();
}

void fail_context(ContextState& context, Result code) {
  int none = 0;
  context.failed.compare_exchange_strong(none, code);
}

}  // namespace fake_cuda

extern "C" void fake_cuda_pause(int paused) {
  fake_cuda::pause(paused != 0 ? 1 : -1);
}
