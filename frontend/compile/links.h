#pragma once

#include <vector>

#include "frontend/compile/search.h"

namespace sy::compiling {

struct MainHeap;

// Words that are tensors of a graph, and the pointers on the way there
// (Search), as they were. hold() looks at the memory behind a pointer while
// that leads there.
//
// One thread at a time may use it.
class Links {
 public:
  Links() = default;
  explicit Links(const Search& search);

  // Whether each word is as it was.
  bool hold() noexcept;
  // Follows `before`, which did not hold. The call that found these links gave
  // the same graph as that of `before`.
  void follow(const Links& before);
  // Begins the count of changes anew.
  void rest() noexcept;

 private:
  struct Link {
    const void* at;
    const void* was;
    int from;          // the link that leads there; -1 if none has to
    bool is_variable;  // which is there as long as the code
    bool on_stack;
    bool is_tensor = false;  // otherwise a pointer on the way
    bool differs = false;    // or a link on the way does
    bool changed = false;    // itself
    int changes = 0;
  };

  void look_at(Link* l, const void* frame, const MainHeap& heap) const noexcept;
  void move_to(std::vector<Link>* to, std::vector<bool> wanted) const;

  std::vector<Link> links_;
};

}  // namespace sy::compiling
