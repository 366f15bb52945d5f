#pragma once

#include <string>

#include "backends/lazy/graph.h"

// Reports which code makes graphs run, on request: set_report_syncs(), or
// SWITCHYARD_LAZY_SYNCS=1 for a whole process.

namespace sy::lazy {

// The caller holds graph_mutex(). `op` may be nullptr.
void note_sync(Cause cause, const OperatorEntry* op);
void set_report_syncs(bool on);
// The code outside of Switchyard that called, as in syncs_text().
std::string calling_place();
// One line for each place that has made graphs run, most often first.
std::string syncs_text();

}  // namespace sy::lazy
