#pragma once

#include "frontend/distributed/context.h"

namespace sy::tools {

// Makes this process, in its scope, a world of one rank, in which collectives
// can be called. After a fork: in the child.
class Alone {
 public:
  Alone() : context_(one_rank()), guard_(context_) {}

 private:
  static distributed::InitOptions one_rank() {
    distributed::InitOptions o;
    o.rank = 0;
    o.size = 1;
    return o;
  }

  distributed::Context context_;
  distributed::ContextGuard guard_;
};

}  // namespace sy::tools
