#pragma once

#include <string>
#include <vector>

#include "frontend/distributed/engine.h"

// The checks that every engine must pass, for tests of engines: each rank calls
// the same checks.

namespace sy::distributed {

// Waits for a transfer; throws Error after 20 seconds. Returns the bytes that
// came, of a recv.
size_t finish(Communicator& c, void* request);
size_t finish(Communicator& c, const Transfer& t);

// Runs all checks; returns what was wrong, one line each. `exact`: receivers
// say how much comes, as NCCL wants it.
std::vector<std::string> check_engine(Communicator& world, bool exact = false);

// Takes part in transfers of `bytes` bytes without checking more than the sum.
std::vector<std::string> check_large(Communicator& world, int64_t bytes);

}  // namespace sy::distributed
