#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cuda/driver/api.h"
#include "c10/macros.h"
#include "c10/tensor/scalar_type.h"

// Streams as the runtime keeps them. See Note [Tickets] in stream_state.cpp.

namespace sy {
class OperatorEntry;
class TensorBase;
}  // namespace sy

namespace sy::cuda {

class DeviceState;

// The record of a piece of work, for errors.
struct LaunchRecord {
  static constexpr int kDims = 4;

  uint64_t ticket = 0;
  const OperatorEntry* op = nullptr;
  const char* kernel = "";  // or what else it is: "copy to the host"
  unsigned grid[3] = {}, threads = 0;
  // The first operand: so many of its sizes. -1: it has none.
  int8_t num_dims = -1;
  ScalarType dtype = ScalarType::Float;
  int64_t sizes[kDims] = {};

  // "launch 81 of stream 2, kernel gather, grid 16 x 1 x 1 of 256 threads,
  // float32[4096, 7]"
  std::string text(uint64_t stream) const;
};

// A stream of one device. Lives at its place for ever; the place is used again
// after the stream was destroyed and its work was done.
class StreamState {
 public:
  // Launches are kept for errors: more than a driver lets be in flight.
  static constexpr uint64_t kRecords = 2048;
  static constexpr uint64_t kNone = ~uint64_t{0};
  // Kernels write the number of their launch with the place of their stream.
  static constexpr int kPlaceShift = 48;
  static constexpr uint64_t kTicketMask = (uint64_t{1} << kPlaceShift) - 1;

  driver::Stream handle() const noexcept { return handle_; }
  uint64_t number() const noexcept {
    return number_.load(std::memory_order_acquire);
  }
  int priority() const noexcept { return priority_; }

  uint64_t last() const noexcept {
    return last_.load(std::memory_order_acquire);
  }
  // The highest ticket that is known to be done; asks the driver if that may
  // say more. After a failure of the device it is last().
  uint64_t completed() noexcept;
  // The highest that is known to be done without asking anybody.
  uint64_t known() const noexcept {
    return known_.load(std::memory_order_acquire);
  }
  // The ticket of the newest kernel that has begun.
  uint64_t started() const noexcept;
  // All tickets up to this one are done: the caller has waited.
  void note_done(uint64_t ticket) noexcept;

  // Puts one piece of work into the stream: `call(stream)` is a call of the
  // driver. `what` names it, for ever. Returns its ticket. Nothing is there if
  // the driver refuses. A `lasting` piece is noted by an event, so that it is
  // known to be done before the stream is idle.
  template <class F>
  uint64_t enqueue(const char* what, bool lasting, driver::Result* result,
                   F&& call) {
    const std::lock_guard lock(mutex_);
    const uint64_t ticket = last_.load(std::memory_order_relaxed) + 1;
    LaunchRecord& r = record(ticket);
    r.kernel = what;
    r.threads = 0;
    r.num_dims = -1;
    *result = call(handle_);
    if (*result != driver::kSuccess) return 0;
    last_.store(ticket, std::memory_order_release);
    if (lasting) mark(ticket);
    return ticket;
  }

  // nullptr if the launch is forgotten.
  const LaunchRecord* find(uint64_t ticket) const noexcept;

 private:
  friend class StreamTable;
  friend class Launcher;  // launch.cpp

  // The record of the next piece of work, with the running operator. Under
  // mutex_.
  LaunchRecord& record(uint64_t ticket) {
    if (SY_UNLIKELY(records_ == nullptr)) make_records();
    LaunchRecord& r = records_[ticket % kRecords];
    begin_record(r, ticket);
    return r;
  }
  static void begin_record(LaunchRecord& r, uint64_t ticket) noexcept;
  SY_COLD void make_records();
  // An event behind the work with that ticket, for work that is no kernel.
  // Under mutex_.
  void mark(uint64_t ticket) noexcept;
  void poll_marks() noexcept;
  void forget_marks() noexcept;

  // Held while work enters, so that tickets enter in their order.
  std::mutex mutex_;
  driver::Stream handle_ = nullptr;
  std::atomic<uint64_t> number_{kNone};
  DeviceState* device_ = nullptr;
  uint64_t place_ = 0;
  int priority_ = 0;
  bool adopted_ = false;
  bool closed_ = false;  // destroyed; its work may go on
  std::atomic<uint64_t> last_{0}, last_kernel_{0}, known_{0};
  std::atomic<unsigned> polls_{0};
  unsigned long long* started_ = nullptr;
  unsigned long long* started_on_device_ = nullptr;
  std::unique_ptr<LaunchRecord[]> records_;
  struct Mark {
    uint64_t ticket;
    driver::Event event;
  };
  static constexpr size_t kMarks = 16;
  std::vector<Mark> marks_;  // oldest first
};

// The streams of one device by their numbers. Number 0 is there from the start.
// Thread-safe; looking up takes no lock.
class StreamTable {
 public:
  explicit StreamTable(DeviceState& device) : device_(device) {}
  StreamTable(const StreamTable&) = delete;

  // The stream belongs to the table, unless it is adopted. Throws Error if
  // there are too many.
  StreamState& add(driver::Stream handle, int priority, bool adopted);
  // Its work is still done; then its place is used again.
  void remove(uint64_t number) noexcept;
  // nullptr if there is none of that number, or if it was destroyed and all
  // its work is done.
  StreamState* find(uint64_t number) noexcept;
  StreamState* at_place(uint64_t place) noexcept;
  StreamState& first() noexcept { return *at_place(0); }

  // How many there are, with those that still work.
  int count() const noexcept { return count_.load(std::memory_order_relaxed); }
  // f(stream) for each of them, none of which goes away meanwhile.
  template <class F>
  void each(F&& f) {
    const std::lock_guard lock(mutex_);
    for (uint64_t p = 0; p < places_; ++p) {
      StreamState& s = *at_place(p);
      if (s.number() != StreamState::kNone) f(s);
    }
  }

 private:
  static constexpr uint64_t kChunk = 64, kChunks = 1024;
  // Destroyed streams that are done give up their places. Under mutex_.
  void reap() noexcept;
  void add_chunk();

  DeviceState& device_;
  std::recursive_mutex mutex_;  // a fault may be met while it is held
  std::atomic<int> count_{0};
  uint64_t places_ = 0;
  std::vector<uint64_t> free_;
  std::vector<StreamState*> closed_;
  std::vector<uint64_t> generations_;
  std::atomic<StreamState*> chunks_[kChunks] = {};
};

}  // namespace sy::cuda
