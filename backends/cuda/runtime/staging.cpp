#include "backends/cuda/runtime/staging.h"

#include <chrono>
#include <thread>

#include "backends/cuda/runtime/device_state.h"

namespace sy::cuda {

using driver::api;

namespace {

char* pin(DeviceState& device, size_t bytes) {
  void* memory = nullptr;
  check(device, api().host_allocate(&memory, bytes, driver::kHostPortable),
        "cuMemHostAlloc");
  return static_cast<char*>(memory);
}

}  // namespace

bool Staging::is_done(DeviceState& device, const Piece& p) const {
  if (p.stream == Piece::kFilled) return false;
  StreamState* const s = device.streams.find(p.stream);
  return s == nullptr || s->completed() >= p.ticket;
}

bool Staging::take(DeviceState& device, size_t bytes, Place* piece,
                   Piece* in_the_way) {
  constexpr size_t kAlignment = 256;
  const size_t room = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard lock(mutex_);
  if (memory_ == nullptr) memory_ = pin(device, size_);
  // Memory that is in the cache of the host is best used again.
  while (!pieces_.empty() && is_done(device, pieces_.front())) {
    pieces_.pop_front();
  }
  if (pieces_.empty() || next_ + room > size_) next_ = 0;
  for (auto p = pieces_.begin(); p != pieces_.end();) {
    if (p->begin >= next_ + room || next_ >= p->end) {
      ++p;
    } else if (is_done(device, *p)) {
      p = pieces_.erase(p);
    } else {
      *in_the_way = *p;
      return false;
    }
  }
  *piece = pieces_.insert(pieces_.end(), {next_, next_ + room});
  next_ += room;
  return true;
}

void Staging::used_by(Place piece, uint64_t stream, uint64_t ticket) noexcept {
  const std::lock_guard lock(mutex_);
  if (ticket == 0) {
    pieces_.erase(piece);
    return;
  }
  piece->stream = stream;
  piece->ticket = ticket;
}

void Staging::wait_for(DeviceState& device, const Piece& p) {
  // The stream may have long work after the copy: only its tickets say when the
  // copy is done.
  using namespace std::chrono_literals;
  constexpr int kSpins = 100;
  for (int i = 0; p.stream != Piece::kFilled && !is_done(device, p); ++i) {
    if (i < kSpins) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(50us);
    }
  }
  if (p.stream == Piece::kFilled) std::this_thread::yield();
  device.errors.throw_failure();
}

char* PinnedBuffers::take(DeviceState& device) {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      char* const data = free_.back();
      free_.pop_back();
      return data;
    }
    free_.reserve(free_.capacity() + 1);  // so that put() needs no memory
  }
  return pin(device, size_);
}

void PinnedBuffers::put(char* data) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(data);
}

}  // namespace sy::cuda
