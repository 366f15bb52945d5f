#pragma once

#include "indexing.cuh"

// Arguments of the kernels of scatter.cu and scatter_join.cu.

namespace sy::cuda {

enum JoinWay : int { kJoinAdd, kJoinMultiply, kJoinMin, kJoinMax };

// How elements are joined to others. Numbers are elements of the tensor.
struct JoinHow {
  unsigned long long alpha = 0;
  unsigned long long identity = 0;  // joined to a value, it changes nothing
  int scales = 0;                   // sources count alpha times
  int fresh = 0;  // begins with the identity instead of what is there
  int mean = 0;
};

// Writes one element each, in no order: those that go to one place are equal.
struct WriteParams {
  LaunchHead head;
  Walk<3> walk;  // to, from, index
  char* to;
  const char* from;
  IndexOperand index;  // its steps are bytes
  int argument;
};

// A thread joins the elements of one line along a dim to the line's places, in
// order. The walk is over all other dims.
struct OwnedParams {
  LaunchHead head;
  Walk<3> walk;  // to, from, index
  char* to;
  const char* from;
  IndexOperand index;
  long long length, from_step, index_step;  // along the dim, in bytes
  int argument;
  JoinHow how;
};

// Sources that one thread joins, at most.
constexpr int kRun = 1024;

// Sources that are sorted by where they go. Source i goes to keys[i], which
// counts `key_step` bytes, and is `order[i]`-th of `sources`; each is `columns`
// elements.
struct SortedParams {
  LaunchHead head;
  Walk<1> sources;  // from
  Walk<2> columns;  // to, from
  char* to;
  const char* from;
  const long long *keys, *order;
  int divides;  // the divisor is that of columns.numel
  Divisor divisor;
  long long n, key_step;
  JoinHow how;
  // Partial results of a long run, but for its first kRun sources: a row of
  // `columns` registers for each kRun of them. nullptr if no run is so long.
  void* partials;
};

}  // namespace sy::cuda
