#pragma once

#include <cstdint>

#include "c10/macros.h"

namespace sy::autograd {

class GradFrame;
class Node;
struct SavedHooks;

namespace detail {

class CallbackScope;

// Autograd's data of a thread. For the sources of this library.
struct Thread {
  uint64_t sequence_nr = 0;
  Node* dead = nullptr;  // linked list of nodes to free
  // The functions of the innermost SavedTensorHooks guard.
  SavedHooks* saved_hooks = nullptr;
  // In anomaly mode: the node whose gradient is being computed.
  const Node* running = nullptr;
  // The frame of the custom Function whose backward is running.
  const GradFrame* frame = nullptr;
  // The scope of the outermost run, also on the stacks of runs within it;
  // nullptr while no backward runs.
  CallbackScope* callbacks = nullptr;
  uint32_t nested = 0;  // runs within runs, on this stack
  bool destroying = false;
  bool anomaly = false;
  bool check_nan = false;
};

// Hidden, but not local: gold, Bazel's linker, computes wrong initial-exec
// offsets for local thread-locals in shared objects.
extern SY_TLS_FAST constinit thread_local Thread thread;

}  // namespace detail

}  // namespace sy::autograd
