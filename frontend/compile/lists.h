#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontend/compile/function.h"

namespace sy::compiling {

// A possible std::vector in the stack, with elements of whole words: three
// words like its pointers.
struct StackList {
  const char* header;
  uintptr_t begin, end, limit;
  // Its memory is a block of malloc. Otherwise nobody knows.
  bool sure = false;

  size_t size() const { return (end - begin) / sizeof(void*); }
  // The elements; empty if they cannot be read.
  std::vector<const void*> words() const;
};

// The lists in the 512 bytes of the stack from each variable on that the
// callable refers to. The callable itself may lie there: its words are
// left out. Three words that begin or end within a sure one are none, whatever
// they look like.
std::vector<StackList> stack_lists(const Arguments& a);

}  // namespace sy::compiling
