#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontend/compile/function.h"

namespace sy::compiling {

// A search for the places where a callable has tensors, however far away. The
// way begins in the callable and in variables of the stack that it refers to,
// and goes on over objects on the heap, breadth first. Global variables of its
// library may have a tensor themselves. The search leaves out objects whose
// class has its virtual functions in this library, or in the one that captures,
// and what lies behind some hundred others. A find may be chance: memory beside
// a variable leads to anything.
class Search {
 public:
  struct Object {
    const char* at;
    const void* pointer;  // that leads to it; nullptr: the callable has that
    int from;             // the object that has the pointer; -1: none
  };
  // A word that is one of the tensors.
  struct Found {
    const void* at;
    const void* tensor;
    int object;  // that has the word; -1: it is a variable's
  };

  // `code` is a function of the library that has the callable.
  Search(std::vector<const void*> tensors, const Arguments& a,
         const void* code);

  const std::vector<Found>& found() const { return found_; }
  const Object& object(int i) const { return objects_[static_cast<size_t>(i)]; }

 private:
  class Finder;

  std::vector<Object> objects_;
  std::vector<Found> found_;
};

}  // namespace sy::compiling
