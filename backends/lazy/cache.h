#pragma once

#include <string>
#include <vector>

#include "backends/lazy/plan.h"

// Plans are found again by the structure of the graph.
//
// Note [Keys]
// A key is a list of words: what each node computes, of which values, and the
// layout of its results. It has no numbers of the calls: these are given to
// each run. It has no sizes either: a size is 0, 1 or the number of its first
// appearance, so one plan serves all sizes that are equal where they were equal
// before. Keys are compared in full; a hash alone chooses nothing.

namespace sy::lazy {

struct Key {
  std::vector<uint64_t> words;
  std::vector<uint32_t> begin;  // the first word of each node
  uint64_t hash = 0;
};

// The plan for the graph, new or found. The caller holds graph_mutex().
intrusive_ptr<Plan> find_plan(const RecordedGraph& graph);

// The reason for the last plan: the nearest plan that was known, and the first
// difference to it.
std::string explain_last_miss();
// The last plan that ran.
std::string last_plan_text();
std::string last_plan_dot();
void set_cache_capacity(size_t plans);
void clear_cache();
// For tests: all hashes are 0.
void plant_collisions(bool on);

}  // namespace sy::lazy
