#include "backends/cuda/runtime/staging.h"

#include "backends/cuda/runtime/device_state.h"

namespace sy::cuda {

using driver::api;

bool Staging::is_done(DeviceState& device, const Piece& p) {
  StreamState* const s = device.streams.find(p.stream);
  return s == nullptr || s->completed() >= p.ticket;
}

void Staging::wait_for(DeviceState& device, const Piece& p) {
  StreamState* const s = device.streams.find(p.stream);
  if (s == nullptr) return;
  const uint64_t last = s->last();
  check(device, api().stream_synchronize(s->handle()), "cuStreamSynchronize");
  s->note_done(last);
}

namespace {

char* pin(DeviceState& device, size_t bytes) {
  void* memory = nullptr;
  check(device, api().host_allocate(&memory, bytes, driver::kHostPortable),
        "cuMemHostAlloc");
  return static_cast<char*>(memory);
}

}  // namespace

void* Staging::take(DeviceState& device, size_t bytes) {
  constexpr size_t kAlignment = 256;
  if (memory_ == nullptr) memory_ = pin(device, size_);
  const size_t room = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  // What is in the cache of the host is best used again.
  while (!pieces_.empty() && is_done(device, pieces_.front())) {
    pieces_.pop_front();
  }
  if (pieces_.empty() || next_ + room > size_) next_ = 0;
  const auto in_the_way = [&](const Piece& p) {
    return p.begin < next_ + room && next_ < p.end;
  };
  for (auto p = pieces_.begin(); p != pieces_.end();) {
    if (!in_the_way(*p)) {
      ++p;
      continue;
    }
    wait_for(device, *p);
    p = pieces_.erase(p);
  }
  taken_ = {next_, next_ + room, 0, 0};
  next_ += room;
  return memory_ + taken_.begin;
}

void Staging::used_by(const StreamState& stream, uint64_t ticket) {
  taken_.stream = stream.number();
  taken_.ticket = ticket;
  pieces_.push_back(taken_);
  taken_ = {};
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
