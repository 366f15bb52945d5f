#pragma once

#include <cstddef>
#include <vector>

#include "frontend/compile/search.h"

namespace sy::compiling {

// The way to a word of what a callable sees: from a variable or an object that
// it refers to over pointers in memory. The thread that has the stack asks.
class Path {
 public:
  // The pointer before leads to it.
  struct Object {
    const void* at;
    size_t offset;  // of the next pointer, or of the word
  };
  // `first`: a pointer that is there as long as the code, or the word itself.
  Path(const void* first, std::vector<Object> objects);
  Path(const Search& search, const Search::Found& word);

  enum State : uint8_t {
    kSame,    // the word is where it was
    kMoved,   // a pointer leads elsewhere
    kUnknown  // it begins in a function that has returned, or another thread's
  };
  State state() const noexcept;
  // Reads the word as it is now, over the pointers as they are; nullptr if
  // these lead nowhere. Returns false for kUnknown.
  bool read(const void** word) const noexcept;
  // Whether it is the same way, wherever the pointers lead.
  bool is_same(const Path& other) const noexcept;

 private:
  bool is_known() const noexcept;

  const void* first_;
  bool on_stack_;
  std::vector<Object> objects_;
};

}  // namespace sy::compiling
