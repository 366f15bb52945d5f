#pragma once

#include <mutex>

#include "backends/lazy/plan.h"
#include "c10/process/fork.h"

// Runs graphs one after the other: on the thread that waits for one, or on a
// thread of its own while the program records on.
//
// Note [Order]
// Graphs run in the order in which they were given. So a graph may read what an
// earlier one will have computed, and take over its memory, before that one has
// run. If one fails, those in the queue do not run either: their calls are
// recorded again, and run for whoever asks for their values.

namespace sy::lazy {

using GraphLock = std::unique_lock<RecursiveForkMutex>;

// The lock is held on entry and on return, but not meanwhile. With `wait`
// returns when the graph has run, and throws what it threw. Without, returns
// soon: it waits only while several graphs are in the queue.
void execute(RecordedGraph graph, intrusive_ptr<Plan> plan, bool wait,
             GraphLock& lock);

// Waits until the node is not running any more.
void wait_for(const LazyNode& node, GraphLock& lock);
// Waits until nothing runs. Throws the error of a graph that nobody waited for.
void wait_for_all(GraphLock& lock);
// Throws such an error, if there is one, once.
void throw_left_error();

}  // namespace sy::lazy
