#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "backends/cuda/runtime/stream_state.h"

namespace sy::cuda {

class DeviceState;

// Pinned memory through which copies from pageable memory to a device go.
// Pieces are handed out round and round; a piece is used again when the copy
// through it is done. Memory is taken on the first use and kept. The members
// need the lock of mutex().
class Staging {
 public:
  explicit Staging(size_t bytes) : size_(bytes) {}
  Staging(const Staging&) = delete;

  std::mutex& mutex() { return mutex_; }
  // The largest piece.
  size_t most() const { return size_ / 4; }
  // Waits for the copies that are in the way, if there are any. The piece is
  // the caller's until the next call, unless work uses it.
  void* take(DeviceState& device, size_t bytes);
  // The piece that was taken last is used by work of a stream.
  void used_by(const StreamState& stream, uint64_t ticket);

 private:
  struct Piece {
    size_t begin = 0, end = 0;
    uint64_t stream = 0, ticket = 0;
  };
  static void wait_for(DeviceState& device, const Piece& p);
  static bool is_done(DeviceState& device, const Piece& p);

  std::mutex mutex_;
  const size_t size_;
  char* memory_ = nullptr;
  size_t next_ = 0;
  Piece taken_;
  std::deque<Piece> pieces_;  // in use, oldest first
};

// And those to pageable memory: buffers of one size, each of which has one user
// until the host has emptied it. As many are kept as threads copied at the same
// time. Thread-safe.
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
