#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "c10/device/stream.h"
#include "frontend/distributed/group/call.h"

// Calls under way. Nothing here is public: programs hold Works.

namespace sy::distributed {

class Member;

using Clock = std::chrono::steady_clock;

// A call of a group, as a machine that goes on a little whenever it is stepped.
// The caller of step() holds the lock of the Progress.
class Operation {
 public:
  Operation(std::shared_ptr<Member> member, Call call);
  virtual ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Goes on as far as it can without waiting. Returns whether anything
  // happened.
  bool step() noexcept;
  // Ends it, well or with an error, unless it has ended. After an error the
  // engine may still write to memory, so the objects that keep it are never
  // freed.
  void end(std::exception_ptr error) noexcept;

  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  // The error of an operation that has ended.
  std::exception_ptr error() const noexcept { return error_; }
  // Copies results from the host to where they belong, once; throws the error.
  void finish();

  const Call& call() const noexcept { return call_; }
  Member& member() const noexcept { return *member_; }
  uint64_t sequence() const noexcept { return sequence_; }
  // "all_reduce(float32[4], sum), call 17 of group world".
  std::string describe() const;

  // The function that finish() calls first, and the tensors that are kept until
  // the end.
  std::function<void()> then;
  std::vector<Tensor> keep;
  // The work that a device has to do before its memory moves.
  std::vector<Event> before;

 protected:
  // Throws what goes wrong. Sets `moved` if anything happened. Returns whether
  // it is done.
  virtual bool advance(bool* moved) = 0;
  // The engine may still use the memory that this operation holds.
  virtual void abandon() noexcept = 0;

 private:
  friend class Member;
  // advance(), whose errors say who is gone, and are told to the other ranks.
  bool advance_or_explain(bool* moved);

  std::shared_ptr<Member> member_;
  Call call_;
  uint64_t sequence_ = 0;
  bool started_ = false;
  std::atomic<bool> ended_{false};
  std::exception_ptr error_;
  std::mutex finishing_;
  bool finished_ = false;
  Clock::time_point begun_{}, last_move_{};
  Clock::time_point last_look_{};
};

// A transfer that an engine has under way.
class Request {
 public:
  Request() = default;
  Request(Communicator& c, const Transfer& t)
      : communicator_(&c), request_(c.begin(t)) {}
  Request(Request&& o) noexcept;
  Request& operator=(Request&& o) noexcept;
  // Forgets a transfer that is not done.
  ~Request();
  bool done() const noexcept { return request_ == nullptr; }
  // Whether it is done now.
  bool test();
  size_t received() const noexcept { return received_; }
  void abandon() noexcept;

 private:
  Communicator* communicator_ = nullptr;
  void* request_ = nullptr;
  size_t received_ = 0;
};

}  // namespace sy::distributed
