#pragma once

#include "launch_head.cuh"

namespace sy::cuda {

// The place of a sequence, and its lengths.
struct SequencePlace {
  long long first;  // its first label
  long long steps, labels;
};

// Arguments of loss_sequence.cu. Strides are in elements; an operand without
// strides is dense.
struct SequenceParams {
  LaunchHead head;
  const SequencePlace* places;  // one for each sequence
  const long long* labels;      // the labels of all sequences
  const void* log_probs;        // (steps, batch, classes)
  long long step_stride, batch_stride, class_stride;
  long long steps, batch, classes;
  long long states;  // those of the longest sequence
  long long blank;
  int targets;  // the argument's index
  // Rows of `states` for each sequence and step.
  void* alpha;
  void* beta;
  void* losses;
  // The next equal label of each sequence and label (states / 2 of them), or
  // the end; its complement (~) where an earlier label is equal.
  long long* next;
  const void* grad;
  void* out;  // (steps, batch, classes)
  int zero_infinity;
};

}  // namespace sy::cuda
