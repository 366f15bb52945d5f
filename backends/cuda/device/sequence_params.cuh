#pragma once

#include "launch_head.cuh"

namespace sy::cuda {

// Where a sequence is, and how long.
struct SequencePlace {
  long long first;  // of its labels
  long long steps, labels;
};

// Of loss_sequence.cu. Strides are in elements; what has none is dense.
struct SequenceParams {
  LaunchHead head;
  const SequencePlace* places;  // one for each sequence
  const long long* labels;      // of all sequences
  const void* log_probs;        // (steps, batch, classes)
  long long step_stride, batch_stride, class_stride;
  long long steps, batch, classes;
  long long states;  // of the longest sequence
  long long blank;
  int targets;  // the argument's index
  // Rows of `states` for each sequence and step.
  void* alpha;
  void* beta;
  void* losses;
  // For each sequence and label (states / 2 of them) the next equal one, or the
  // end; ~ of that where an earlier label is equal.
  long long* next;
  const void* grad;
  void* out;  // (steps, batch, classes)
  int zero_infinity;
};

}  // namespace sy::cuda
