#pragma once

#include <sy/sy.h>

// Graphs, and what streams have beyond order: names, priorities, times, and
// memory that waits for them. Tried on one device.

namespace host {

void graphs_run_again(sy::Device device);
void streams_have_names_and_times(sy::Device device);
void memory_is_used_again_in_order(sy::Device device);

}  // namespace host
