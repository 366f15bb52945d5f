#pragma once

#include "compact.cuh"
#include "launch_head.cuh"

// Arguments of the kernels of unique.cu. Elements lie in a row with equals side
// by side; runs of equals are groups.

namespace sy::cuda {

// starts[i]: whether element i begins a group.
struct MarkStartsParams {
  LaunchHead head;
  long long n;
  const void* in;
  unsigned char* starts;
};
// The value of each group, and how many it has.
struct TakeGroupsParams {
  LaunchHead head;
  long long n, groups;
  const void* in;
  const long long* first;
  void* values;
  long long* counts;  // nullptr: not wanted
};
// The group of each element: `before` has the number of starts before each tile
// of kCompactTile elements.
struct NumberGroupsParams {
  LaunchHead head;
  long long n;
  const unsigned char* starts;
  const unsigned long long* before;
  const long long* order;  // the former places of elements; nullptr: the same
  long long* groups;
};

}  // namespace sy::cuda
