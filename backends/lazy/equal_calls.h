#pragma once

#include "backends/lazy/graph.h"

namespace sy::lazy {

// Takes calls out of a list in order that compute the same as an earlier one:
// their readers read that one instead. Calls whose results a tensor holds stay.
// The caller holds graph_mutex().
void share_equal_calls(std::vector<intrusive_ptr<LazyNode>>* nodes);

}  // namespace sy::lazy
