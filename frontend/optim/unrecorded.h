#pragma once

#include "c10/thread_state.h"

namespace sy::optim {

// While one lives, the calls of this thread are made at once and are part of no
// capture: for tensors that a captured step finds as if they had always been
// there.
class Unrecorded {
 public:
  Unrecorded() { static_cast<ThreadModes&>(thread_state) = {}; }
  ~Unrecorded() { static_cast<ThreadModes&>(thread_state) = before_; }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  const ThreadModes before_ = thread_state;
};

}  // namespace sy::optim
