#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/distributed/engine.h"
#include "frontend/distributed/store/store.h"

namespace sy::distributed {

// The ranks that are waited for, and the time-out.
struct Watch {
  const char* op;          // of the message
  std::string group;       // its name
  std::vector<int> ranks;  // numbers of the world
  int self = 0;
  Milliseconds timeout{0};
  Store* store = nullptr;  // nullptr: nobody says who is gone
};

// Calls `f`, which waits inside the engine for all ranks and cannot be stopped,
// on a thread of its own, and returns what it makes. Throws its error; or Error
// if a rank is gone or the time is over. Then the thread stays in the engine,
// which must not be used any more, and neither what `f` refers to freed.
Communicator* watched(const Watch& watch, std::function<Communicator*()> f);

}  // namespace sy::distributed
