#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace accel {

// Set once, by one thread, for others to wait for.
class Flag {
 public:
  void set();
  void wait() const;
  bool is_set() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool set_ = false;
};

// One stream: a thread that runs what is put in, in order. The first error of a
// kernel is kept for who synchronizes; what comes after it still runs.
class Queue {
 public:
  static std::shared_ptr<Queue> start();

  void push(std::string op, std::function<void()> kernel);
  bool is_done() const;
  // Until all that is in now is done.
  void wait() const;
  // Throws the error that is kept, if there is one, and forgets it.
  void throw_error();
  // The thread ends when all is done.
  void close();

 private:
  struct Task {
    std::string op;
    std::function<void()> kernel;
  };
  void run();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Task> tasks_;
  uint64_t pushed_ = 0, done_ = 0;
  std::exception_ptr error_;
  bool closed_ = false;
};

}  // namespace accel
