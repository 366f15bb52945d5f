#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "c10/macros.h"
#include "frontend/distributed/store/store.h"

namespace sy::distributed {

class Operation;  // operation.h

// A collective that was begun. Copies are the same work; dropping all of them
// neither waits nor stops it. Thread-safe. Its tensors are kept until it is
// done; those that it writes must not be read or written before wait() has
// returned, those that it reads not be written.
class SY_API Work {
 public:
  Work() = default;  // done
  explicit Work(std::shared_ptr<Operation> op) noexcept : op_(std::move(op)) {}

  // Waits until the results are there. Throws what went wrong: every waiter
  // gets the same error. With a time-out, throws Error when it is over; the
  // work goes on.
  void wait(std::optional<Milliseconds> timeout = std::nullopt) const;
  // Whether it has ended, well or not. Neither waits nor throws.
  bool is_completed() const noexcept;
  bool is_success() const noexcept;
  // nullptr if there is none, or not yet.
  std::exception_ptr exception() const noexcept;
  // "all_reduce(float32[4], sum), call 17 of group world"; "" for a Work that
  // was never begun.
  std::string describe() const;

 private:
  std::shared_ptr<Operation> op_;
};

}  // namespace sy::distributed
