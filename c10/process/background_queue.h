#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "c10/macros.h"
#include "c10/process/fork.h"

// Jobs for a thread of low priority, in which programs are compiled:
//
//   BackgroundQueue<Job>& queue() {
//     static auto* const q = new BackgroundQueue<Job>(
//         {.name = "sy-example", .niceness = 19, .goes_on_in_child = true},
//         [](const std::vector<Job>& jobs) noexcept { jobs[0].make(); });
//     return *q;
//   }
//
// A queue starts its thread with the first job, and closes when the process
// ends. A closed queue takes and begins no job, and nobody waits for it. Queues
// live for ever, as threads may outlive everything. Functions are thread-safe.

namespace sy {

struct BackgroundOptions {
  const char* name;  // of the thread, at most 15 characters
  int niceness = 0;  // 19: it runs if nobody else wants the processor
  // What becomes of the queue in the child of a fork. It does again what its
  // parent was doing, then what waits; or it is closed. A child that
  // forked_at_rest() knows nothing of always has a closed queue.
  bool goes_on_in_child = false;
  void (*prepare)() noexcept = nullptr;  // the thread calls it first
  // Makes the jobs that run end soon; the end of the process calls it with the
  // mutex of the queue held.
  void (*cancel)() noexcept = nullptr;
};

// The part of a queue that knows no jobs.
class SY_API BackgroundThread {
 public:
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  bool is_closed();
  // Calls f with the mutex of the queue held, and wakes those who wait.
  template <class F>
  void change(const F& f) {
    const std::lock_guard lock(mutex_);
    f();
    wake();
  }
  // Waits until is_true(), which is called with the mutex held, or until the
  // queue is closed. Jobs must not call it.
  template <class F>
  void wait_until(const F& is_true) {
    std::unique_lock lock(mutex_);
    while (!closed_ && !is_true()) wait(lock);
  }

 protected:
  explicit BackgroundThread(const BackgroundOptions& options);
  ~BackgroundThread() = default;

  // The caller holds the mutex.
  void start();
  void wait(std::unique_lock<ForkMutex>& lock);  // until somebody calls wake()
  void wake();

  ForkMutex mutex_;
  bool closed_ = false;

 private:
  // The thread calls these, with the mutex held but for run().
  virtual bool take() = 0;  // what to run next; false: nothing waits
  virtual void run() noexcept = 0;
  virtual void drop() = 0;  // what has run
  // A child calls it. Returns whether anything waits.
  virtual bool take_back() = 0;

  void work() noexcept;
  void close();
  void renew();
  static void close_all();
  static void renew_all();

  const BackgroundOptions options_;
  std::thread thread_;
  std::atomic<int> changes_{0};  // it grows when waiters are to wake
  BackgroundThread* next_;
};

template <class Job>
class BackgroundQueue final : public BackgroundThread {
 public:
  // Does one job, or a batch. An exception that leaves it ends the process.
  // Forks in it must be QuickForks.
  using Run = void (*)(const std::vector<Job>& batch) noexcept;
  // Whether a job that waits joins those that will run next, of which there is
  // one at least. Called with the mutex held.
  using Joins = bool (*)(const std::vector<Job>& batch, const Job& job);

  // Without `joins` jobs are done one by one, in the order of add().
  BackgroundQueue(const BackgroundOptions& options, Run run,
                  Joins joins = nullptr)
      : BackgroundThread(options), run_(run), joins_(joins) {}
  ~BackgroundQueue() = delete;

  void add(Job job) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    start();
    waiting_.push_back(std::move(job));
    wake();
  }
  // Waits until every job is done, as wait_until() does.
  void finish() {
    wait_until([this] { return waiting_.empty() && running_.empty(); });
  }
  // The jobs that wait or run.
  size_t pending() {
    const std::lock_guard lock(mutex_);
    return waiting_.size() + running_.size();
  }

 private:
  bool take() override {
    for (auto at = waiting_.begin();
         at != waiting_.end() && (running_.empty() || joins_ != nullptr);) {
      if (running_.empty() || joins_(running_, *at)) {
        running_.push_back(std::move(*at));
        at = waiting_.erase(at);
      } else {
        ++at;
      }
    }
    return !running_.empty();
  }
  void run() noexcept override { run_(running_); }
  void drop() override { running_.clear(); }
  bool take_back() override {
    for (; !running_.empty(); running_.pop_back()) {
      waiting_.push_front(std::move(running_.back()));
    }
    return !waiting_.empty();
  }

  const Run run_;
  const Joins joins_;
  std::deque<Job> waiting_;
  std::vector<Job> running_;
};

}  // namespace sy
