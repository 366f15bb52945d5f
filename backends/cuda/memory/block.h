#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "backends/cuda/memory/free_index.h"
#include "backends/cuda/memory/size_class.h"

// The allocator's records of device memory, in memory of the host. They are
// read and written under the allocator's mutex, unless a comment says
// otherwise.

namespace sy::cuda {

struct Block;

// The small blocks that a block is cut into, by number.
struct Span {
  explicit Span(unsigned c)
      : cls(c),
        total(static_cast<uint16_t>(span_bytes(c) / class_bytes(c))),
        next(new uint16_t[total]) {}

  const unsigned cls;
  const uint16_t total;
  uint16_t free_head = 0;   // of a list through `next`
  uint16_t free_count = 0;  // in that list
  uint16_t fresh = 0;       // from here on nothing was ever handed out
  bool listed = false;      // in Lane::spans
  std::unique_ptr<uint16_t[]> next;
  Block *before = nullptr, *after = nullptr;  // in Lane::spans

  unsigned available() const { return free_count + (total - fresh); }
};

// The device's state for one stream. Lanes are never destroyed; one whose
// stream is gone becomes that of another stream.
struct Lane {
  // Any thread may read it.
  std::atomic<uint64_t> stream{0};
  // Free blocks that work of the stream may still use, for each heap.
  std::array<FreeIndex, 2> pending;
  // The spans that have free small blocks, per class.
  std::array<Block*, kClasses> spans{};
  bool unused = false;  // the stream is gone, and its work is done
};

// A piece of a heap. The blocks of a heap form a list in the order of their
// addresses.
struct Block {
  enum State : uint8_t {
    kUsed,     // handed out, or a span
    kIdle,     // free, and no work uses it
    kPending,  // free; work of `lane` uses it until `ticket` is done
    kMixed,    // free; work of several streams uses it
    kHole      // addresses without memory
  };

  uint64_t address = 0;
  // The stream that it was handed out for, or that of kPending. The holder of
  // the block, or of a small one of its span, may read it.
  Lane* lane = nullptr;
  // How many blocks of the span, or whether this block, are used by other
  // streams than that of `lane`. Any thread.
  std::atomic<uint32_t> foreign{0};
  State state = kIdle;
  // The first of memory that the driver gave in one piece: it is never merged
  // with the block before.
  bool first = false;
  size_t bytes = 0;
  uint64_t ticket = 0;
  Block *before = nullptr, *after = nullptr;   // by address
  Block *previous = nullptr, *next = nullptr;  // in a FreeIndex
  std::unique_ptr<Span> span;
  // The bytes asked for, and the operator, of a large block that is handed out.
  size_t asked = 0;
  std::string_view op;

  uint64_t end() const { return address + bytes; }
};

// Tickets of free blocks whose work is all that is in the stream when someone
// looks: next time, or this time.
inline constexpr uint64_t kTicketUnknown = ~uint64_t{0};
inline constexpr uint64_t kTicketAsked = kTicketUnknown - 1;

}  // namespace sy::cuda
