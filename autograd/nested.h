#pragma once

#include <functional>

#include "autograd/thread.h"

namespace sy::autograd {

// Counts one run of backward on this thread's stack. Runs that hooks and
// Functions begin within other runs take 1.5 KB each, and what the user's code
// takes.
class Nested {
 public:
  Nested() { ++detail::thread.nested; }
  ~Nested() { --detail::thread.nested; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

  static constexpr uint32_t kOnAStack = 64;
  // Whether the next run should get a stack of its own.
  static bool is_full() { return detail::thread.nested >= kOnAStack; }
};

// Calls f on another thread with this thread's modes, and waits for it. Throws
// what f throws, and Error if there are no more threads.
void on_another_stack(const std::function<void()>& f);

}  // namespace sy::autograd
