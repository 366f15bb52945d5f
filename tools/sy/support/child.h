#pragma once

#include <functional>
#include <string>

// Something done in a process of its own, which may die of it.

namespace sy::tools {

struct ChildResult {
  int status = 0;      // of waitpid
  std::string answer;  // what `body` returned; "" if it did not come to it
  std::string said;    // on standard output and standard error
};

// Runs `body` in a fork of this process, for so many seconds at most: then it
// ends with SIGALRM. Throws Error if there can be none.
ChildResult in_child(unsigned seconds,
                     const std::function<std::string()>& body);

}  // namespace sy::tools
