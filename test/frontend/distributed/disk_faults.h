#pragma once

// The calls by which this thread changes files, one by one: each can be made
// to fail, or to be where the process dies. Link with disk_faults.cpp, whose
// functions stand before those of the C library.

namespace sy::distributed {

enum class FaultKind {
  kNone,
  kFail,        // the call does nothing and says that the disk is full
  kDieBefore,   // the process dies instead
  kDieAfter,    // ... when it is done
  kDieHalfway,  // a write has written half; other calls: before
};

inline constexpr int kDied = 9;  // the exit code then

// The call number `at` (from 0) of this thread has the fault. Counts anew.
void arm_fault(FaultKind kind, int at);
// Calls since arm_fault(), which are counted no more.
int disarm_fault();

}  // namespace sy::distributed
