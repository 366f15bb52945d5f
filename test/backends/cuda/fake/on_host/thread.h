#pragma once

#include <cstddef>
#include <cstdint>

#include "on_host/vectors.h"

// Kernels are compiled with -fsanitize=thread and without its library: gcc puts
// a call before each access to memory, and checked.h, or the emulator, has what
// is called. These functions are left out.
#define SY_ON_HOST_PLAIN __attribute__((no_sanitize("thread")))
#define SY_ON_HOST_INLINE inline __attribute__((always_inline))

// The thread that a kernel compiled for the host runs as, and the functions by
// which it asks the emulator to wait for others. The shared object of a kernel
// refers to no symbol of the emulator: everything hangs on the stack.

namespace sy_on_host {

// Each kernel has one beside it.
struct KernelInfo {
  unsigned params_bytes;
  unsigned params_align;
  unsigned max_threads;
};

using Kernel = void (*)(const void* params);

// The operations that the lanes of a warp do together.
enum class Collective : int {
  kSync,
  kShuffle,   // the value of lane `source`
  kBallot,    // the lanes whose value is not 0
  kMatchAny,  // the lanes with the same value
  kAdd,
  kMin,  // signed
  kMax,
  kMinUnsigned,
  kMaxUnsigned,
  kAnd,
  kOr,
  kXor,
};

// How a thread touches memory.
enum class Access : unsigned {
  kRead,
  kWrite,
  kConstantRead,  // by __ldg: nobody has written it in this launch
  kVolatileRead,
  kVolatileWrite,
  kAtomic,       // for all blocks
  kAtomicBlock,  // for the own block
};

// The barriers of the threads of a block.
enum class Barrier : int { kSync, kCount, kAnd, kOr };

struct Operations {
  int (*barrier)(Barrier kind, int predicate);
  uint64_t (*collective)(Collective kind, unsigned mask, uint64_t value,
                         int source);
  // Lets other threads of the block run: a thread that waits for memory to
  // change calls it by __nanosleep(), fences and atomics.
  void (*yield)();
  // The launch ends as a fault of the device.
  void (*trap)(const char* why);
  // Called before the thread touches memory other than its own: the launch ends
  // if another thread touches it and nothing orders the two. `from` is the code
  // that does it. May let others run first.
  void (*access)(Access how, const void* p, size_t bytes, const void* from);
  void (*fence)(bool for_all_blocks);
};

// The state of each coroutine, above its stack.
struct Thread {
  uint3 thread_index, block_index;
  dim3 block_dim, grid_dim;
  unsigned lane;
  unsigned calls;                      // of atomics and fences, for yield
  bool is_checked;                     // its accesses are
  char* shared;                        // dynamic
  uintptr_t memory_begin, memory_end;  // of the device
  const Operations* operations;
};

// Rooms for a stack and its Thread are aligned to their size. The place of the
// Thread depends on the room, so that they do not all compete for the same
// lines of a cache.
inline constexpr size_t kRoomBytes = size_t{256} << 10;
inline constexpr size_t kThreadBytes = 256;  // at most
SY_ON_HOST_INLINE Thread* thread_of(uintptr_t room) {
  constexpr uintptr_t kPlaces = 64;
  static_assert(kRoomBytes == kThreadBytes << 10);
  return reinterpret_cast<Thread*>(room + kRoomBytes - kPlaces * kThreadBytes +
                                   (room >> 10 & (kPlaces - 1) * kThreadBytes));
}

// The running thread. The result is the same wherever the compiler moves the
// instructions to.
SY_ON_HOST_INLINE Thread& self() {
  uintptr_t room;
  asm("movq %%rsp, %0\n\tandq %1, %0"
      : "=r"(room)
      : "i"(-static_cast<int>(kRoomBytes)));
  return *thread_of(room);
}

// Whether the address is in the room of the thread itself.
SY_ON_HOST_INLINE bool is_own(const Thread& me, const void* p) {
  return (reinterpret_cast<uintptr_t>(p) ^ reinterpret_cast<uintptr_t>(&me)) <
         kRoomBytes;
}

}  // namespace sy_on_host

#define threadIdx (::sy_on_host::self().thread_index)
#define blockIdx (::sy_on_host::self().block_index)
#define blockDim (::sy_on_host::self().block_dim)
#define gridDim (::sy_on_host::self().grid_dim)

inline constexpr int warpSize = 32;
