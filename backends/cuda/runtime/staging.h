#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

#include "backends/cuda/runtime/stream_state.h"

namespace sy::cuda {

class DeviceState;

// Pinned memory through which copies from pageable memory to a device go.
// Pieces are handed out round and round; a piece is used again when the copy
// through it is done. Memory is taken on the first use and kept. Thread-safe.
class Staging {
 public:
  explicit Staging(size_t bytes) : size_(bytes) {}
  Staging(const Staging&) = delete;

  // The largest piece.
  size_t most() const { return size_ / 4; }

  struct Piece {
    size_t begin = 0, end = 0;
    uint64_t stream = kFilled, ticket = 0;
    // The stream of a piece that the host still fills.
    static constexpr uint64_t kFilled = ~uint64_t{0};
  };
  using Place = std::list<Piece>::iterator;

  // A piece for the caller to fill, until used_by(). False, and the copy that
  // is in the way, if one is: it does not wait.
  bool take(DeviceState& device, size_t bytes, Place* piece, Piece* in_the_way);
  char* data(Place piece) const { return memory_ + piece->begin; }
  // Work of the stream uses the piece. Ticket 0: none does.
  void used_by(Place piece, uint64_t stream, uint64_t ticket) noexcept;
  // Waits until the copy is done, whatever comes after it in its stream.
  void wait_for(DeviceState& device, const Piece& p);

 private:
  bool is_done(DeviceState& device, const Piece& p) const;

  std::mutex mutex_;
  const size_t size_;
  char* memory_ = nullptr;
  size_t next_ = 0;
  std::list<Piece> pieces_;  // in use, oldest first
};

// Pinned memory for copies to pageable memory: buffers of one size, each of
// which has one user until the host has emptied it. As many are kept as threads
// copied at the same time. Thread-safe.
class PinnedBuffers {
 public:
  explicit PinnedBuffers(size_t bytes) : size_(bytes) {}
  PinnedBuffers(const PinnedBuffers&) = delete;
  size_t size() const { return size_; }

  class Use {
   public:
    Use(PinnedBuffers& buffers, DeviceState& device)
        : buffers_(buffers), data_(buffers.take(device)) {}
    ~Use() { buffers_.put(data_); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    char* data() const { return data_; }

   private:
    PinnedBuffers& buffers_;
    char* const data_;
  };

 private:
  char* take(DeviceState& device);
  void put(char* data) noexcept;

  std::mutex mutex_;
  const size_t size_;
  std::vector<char*> free_;
};

}  // namespace sy::cuda
