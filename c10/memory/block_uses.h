#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "c10/device/stream.h"

namespace sy {

// The work that still uses a block of memory. Allocators keep one for each
// block, on devices whose kernels run after the call. It takes no locks.
class BlockUses {
 public:
  // See Allocator::note_use().
  void add(int device, uint64_t stream, uint64_t ticket) {
    for (Use& u : uses_) {
      if (u.device != device || u.stream != stream) continue;
      u.ticket = std::max(u.ticket, ticket);
      return;
    }
    uses_.push_back({device, stream, ticket});
  }
  // Forgets work that is done. Returns whether none is left: then any work may
  // use the block.
  bool settle(const StreamInterface& streams) {
    std::erase_if(uses_, [&](const Use& u) {
      return streams.completed_ticket(u.device, u.stream) >= u.ticket;
    });
    return uses_.empty();
  }
  // Whether all work that is left is in this stream: then work that enters the
  // stream later may use the block at once.
  bool only_in(int device, uint64_t stream) const {
    return std::all_of(uses_.begin(), uses_.end(), [&](const Use& u) {
      return u.device == device && u.stream == stream;
    });
  }

 private:
  struct Use {
    int device;
    uint64_t stream;
    uint64_t ticket;  // of the last use
  };
  std::vector<Use> uses_;
};

}  // namespace sy
