#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "frontend/distributed/group/operation.h"

namespace sy::distributed {

// Makes the calls of one rank go on: a thread while nobody waits, otherwise
// those who wait. The engine is only called with the lock held.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Adds a call to its group's queue, and begins it if it is the first. `wake`:
  // nobody will wait for it soon, so the thread goes on with it.
  void add(const std::shared_ptr<Operation>& op, bool wake);
  // Makes everything go on until the call has ended; false: the time is over.
  bool wait(Operation& op, std::optional<Clock::time_point> until);
  // The same until f(), called with the lock held, is true.
  bool wait_for(const std::function<bool()>& f,
                std::optional<Clock::time_point> until);

  // A group whose calls go on here; the caller holds the lock.
  void add_member(const std::shared_ptr<Member>& member);
  void remove_member(const Member& member) noexcept;
  std::mutex& lock() noexcept { return lock_; }
  // Ends the thread. Calls that have not ended stay as they are.
  void stop() noexcept;
  // Forgets the thread in a child of fork: it is not there.
  void forget_thread() noexcept;

 private:
  void run() noexcept;
  // Returns whether anything happened. `left`: whether calls remain.
  bool poll(bool* left) noexcept;

  std::mutex lock_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Member>> members_;
  std::atomic<int> waiters_{0};
  bool busy_ = false;  // the thread has something to do
  bool stopping_ = false;
  bool forgotten_ = false;
  std::thread thread_;
};

}  // namespace sy::distributed
