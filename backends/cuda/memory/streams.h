#pragma once

#include <cstdint>

#include "backends/cuda/runtime/stream.h"
#include "c10/memory/block_uses.h"

// The allocators' questions to the device's streams. A stream that was
// destroyed and has done its work has completed every ticket.

namespace sy::cuda {

inline constexpr uint64_t kEveryTicket = ~uint64_t{0};

inline uint64_t last_ticket(int device, uint64_t stream) noexcept {
  return stream_interface().last_ticket(device, stream);
}
inline uint64_t completed_ticket(int device, uint64_t stream) noexcept {
  return stream_interface().completed_ticket(device, stream);
}

// Forgets uses that are done. Returns whether none is left.
inline bool settle(BlockUses& uses) { return uses.settle(stream_interface()); }

// Waits for the work that is in the stream, and leaves the error of a kernel to
// whoever waits next. Does nothing for a stream that is gone, and for one that
// records a graph. Throws if the device has failed.
void wait_for(int device, uint64_t stream);

}  // namespace sy::cuda
