#pragma once

// The head of every kernel's argument, for the host and for kernels.

namespace sy::cuda {

// Errors that kernels check: what a kernel found in the values of its operands.
enum class Fault : int {
  kNone = 0,
  kIndex = 1,        // value: the index; bound: the size
  kDivision = 2,     // an integer was divided by 0
  kProbability = 3,  // value: bits of a double that is no probability
  kValue = 4,        // any other; the operator's host code knows the text
};

// One for each device, in memory that both sides see. The first error stays
// until the host takes it.
struct ErrorSlot {
  int code;                   // a Fault; written by compare and swap
  int argument;               // which argument of the operator, or -1
  unsigned long long ticket;  // the launch
  long long value, bound;
};

// launch() fills it in.
struct LaunchHead {
  // The launch writes its number here when it starts: all launches of the
  // stream before it are done then.
  unsigned long long* started;
  unsigned long long ticket;
  ErrorSlot* errors;
};

}  // namespace sy::cuda
