#include "frontend/compile/stack.h"

#include <pthread.h>

#include <cstdint>

namespace sy::compiling {

namespace {

// The stack of this thread; empty if nobody knows.
struct Stack {
  uintptr_t begin = 0, end = 0;

  Stack() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* first = nullptr;
    size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &first, &bytes) == 0) {
      begin = reinterpret_cast<uintptr_t>(first);
      end = begin + bytes;
    }
    pthread_attr_destroy(&attributes);
  }
};

const Stack& own_stack() noexcept {
  static thread_local const Stack stack;
  return stack;
}

}  // namespace

bool is_stack_memory(const void* at) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(at);
  return first >= own_stack().begin && first < own_stack().end;
}

bool is_on_stack(const void* at, size_t bytes, const void* frame) noexcept {
  const Stack& stack = own_stack();
  const auto first = reinterpret_cast<uintptr_t>(at);
  const auto here = reinterpret_cast<uintptr_t>(frame);
  // Code that runs on a stack of its own knows nothing of this one.
  return here >= stack.begin && first > here && first < stack.end &&
         stack.end - first >= bytes;
}

}  // namespace sy::compiling
