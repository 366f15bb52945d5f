#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/distributed/process_group.h"

namespace sy::distributed {

// The messages between the ranks of a checkpoint. All ranks call the same
// functions in the same order; a process without a group talks to nobody.
class Talk {
 public:
  // nullptr: the world. Begins it with init() if the program has not; throws
  // Error if it has ended and had other ranks.
  Talk(const char* op, std::shared_ptr<ProcessGroup> group);

  int rank() const noexcept;
  int size() const noexcept;

  // Calls f, and returns once all ranks have. If f threw on some rank, all
  // throw: that rank its own error, the others Error "[op] rank 1: ...".
  void step(const std::function<void()>& f) const;
  // Rank 0's text, on all ranks.
  std::string from_root(const std::string& text) const;
  // All ranks' texts, on rank 0; elsewhere empty.
  std::vector<std::string> to_root(const std::string& text) const;

 private:
  // The largest of all ranks' numbers.
  int64_t most(int64_t own) const;

  const char* op_;
  std::shared_ptr<ProcessGroup> group_;
};

}  // namespace sy::distributed
