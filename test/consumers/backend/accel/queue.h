#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace accel {

// Set by one thread, for others to wait for. Work that is launched again sets
// it again.
class Flag {
 public:
  using Time = std::chrono::steady_clock::time_point;
  void set();
  void wait() const;
  bool is_set() const;
  Time time() const;  // when it was set

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool set_ = false;
  Time time_;
};

// One piece of work, and the operator that started it.
struct Task {
  std::string op;
  std::function<void()> kernel;
  // An Error of the kernel names the operator.
  void run() const;
};

// Work that was recorded instead of run. Memory that it uses is kept until
// `let_go` gives it back.
struct Recording {
  ~Recording() {
    for (const auto& f : let_go) f();
  }
  std::vector<Task> tasks;
  std::vector<std::function<void()>> let_go;
};

// One stream: a thread that runs what is put in, in order. Pieces of work are
// numbered from 1. The first error of a kernel is kept for who synchronizes;
// what comes after it still runs.
class Queue : public std::enable_shared_from_this<Queue> {
 public:
  static std::shared_ptr<Queue> start(int priority = 0);

  // The number of the work; 0 if it was recorded and does not run.
  uint64_t push(Task task);
  uint64_t last() const;
  uint64_t completed() const;
  bool is_done() const;
  // Waits until all that is in now is done. Throws Error while the queue
  // records.
  void wait() const;
  // Throws the error that is kept, if there is one, and forgets it.
  void throw_error();
  // The thread ends when all is done.
  void close();
  int priority() const { return priority_; }

  // From now on work is recorded.
  void begin_recording();
  // nullptr if it does not record.
  std::shared_ptr<Recording> recording() const;
  std::shared_ptr<Recording> end_recording();

 private:
  void run();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::shared_ptr<Recording> recording_;
  uint64_t pushed_ = 0, done_ = 0;
  std::exception_ptr error_;
  bool closed_ = false;
  int priority_ = 0;
};

}  // namespace accel
