#include "backends/cuda/runtime/stream_state.h"

#include "backends/cuda/runtime/device_state.h"
#include "c10/device/device_guard.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"

// Note [Tickets]
//
// The pieces of work of a stream have numbers, one more for each. A kernel
// writes its number to memory of the host when it begins; then all before it is
// done. So the host knows how far a stream is by a load, except for what comes
// last: only the driver can say whether that is done too, and it is asked when
// all kernels have begun. A stream that has nothing but copies for a while
// would be known no better than by asking whether it is idle. Copies that may
// lie there for long have an event behind them, of which a few are kept.
//
// Numbers of streams are a place and a generation: a caller that asks for the
// tickets of a stream that is gone hears that all is done, though another has
// its place. That one goes on counting: a thread that is late with what it saw
// of the stream before says nothing wrong of the new one.

namespace sy::cuda {

namespace {

using driver::api;
using driver::Result;

unsigned long long load(unsigned long long* word) noexcept {
  return std::atomic_ref<unsigned long long>(*word).load(
      std::memory_order_acquire);
}

}  // namespace

std::string LaunchRecord::text(uint64_t stream) const {
  std::string out = str("launch {} of stream {}, ", ticket, stream);
  out += threads == 0 ? std::string(kernel)
                      : str("kernel {}, grid {} x {} x {} of {} threads",
                            kernel, grid[0], grid[1], grid[2], threads);
  if (num_dims < 0) return out;
  out += str(", {}[", dtype);
  for (int d = 0; d < num_dims; ++d) {
    if (d == kDims) {
      out += ", …";
      break;
    }
    out += str("{}{}", d == 0 ? "" : ", ", sizes[d]);
  }
  return out + "]";
}

uint64_t StreamState::started() const noexcept {
  return load(started_) & kTicketMask;
}

void StreamState::note_done(uint64_t ticket) noexcept {
  uint64_t known = known_.load(std::memory_order_relaxed);
  while (known < ticket && !known_.compare_exchange_weak(
                               known, ticket, std::memory_order_release)) {
  }
}

uint64_t StreamState::completed() noexcept {
  const uint64_t last = this->last();
  if (known_.load(std::memory_order_acquire) >= last) return last;
  if (device_->errors.failure() != nullptr) return last;
  const uint64_t begun = started();
  if (begun != 0) note_done(begun - 1);
  const auto known = [&] { return known_.load(std::memory_order_acquire); };
  // No kernel ever begins behind one that failed, so that the driver is asked
  // now and then all the same.
  constexpr unsigned kPatience = 64;
  if (begun < last_kernel_.load(std::memory_order_acquire) &&
      polls_.fetch_add(1, std::memory_order_relaxed) % kPatience !=
          kPatience - 1) {
    return known();
  }

  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return known();  // work enters: it is not idle
  const ContextScope context(*device_);
  if (closed_ && adopted_) {
    poll_marks();
    return known();
  }
  const uint64_t newest = this->last();
  const Result r = api().stream_query(handle_);
  if (r == driver::kSuccess) {
    note_done(newest);
    forget_marks();
  } else if (r == driver::kNotReady) {
    poll_marks();
  } else if (driver::is_fault(r)) {
    lock.unlock();
    device_->errors.fault(r);
    return newest;
  }
  return known();
}

const LaunchRecord* StreamState::find(uint64_t ticket) const noexcept {
  if (records_ == nullptr) return nullptr;
  const LaunchRecord& r = records_[ticket % kRecords];
  return r.ticket == ticket ? &r : nullptr;
}

void StreamState::begin_record(LaunchRecord& r, uint64_t ticket) noexcept {
  r.ticket = ticket;
  r.op = running_operator();
}

void StreamState::make_records() {
  records_ = std::make_unique<LaunchRecord[]>(kRecords);
}

void StreamState::mark(uint64_t ticket) noexcept {
  poll_marks();
  if (marks_.size() == kMarks) {
    // The newest mark moves on. The ticket that it stood for is known to be
    // done a little later.
    if (api().event_record(marks_.back().event, handle_) == driver::kSuccess) {
      marks_.back().ticket = ticket;
    }
    return;
  }
  try {
    marks_.reserve(kMarks);
    const driver::Event e = device_->events.take();
    if (api().event_record(e, handle_) == driver::kSuccess) {
      marks_.push_back({ticket, e});
    } else {
      device_->events.put(e);
    }
  } catch (const std::exception&) {
    // Work without an event is known to be done when the stream is idle.
  }
}

void StreamState::poll_marks() noexcept {
  size_t done = 0;
  while (done < marks_.size() &&
         api().event_query(marks_[done].event) == driver::kSuccess) {
    note_done(marks_[done].ticket);
    device_->events.put(marks_[done].event);
    ++done;
  }
  marks_.erase(marks_.begin(), marks_.begin() + static_cast<ptrdiff_t>(done));
}

void StreamState::forget_marks() noexcept {
  for (const Mark& m : marks_) device_->events.put(m.event);
  marks_.clear();
}

StreamState* StreamTable::at_place(uint64_t place) noexcept {
  if (place >= kChunk * kChunks) return nullptr;
  StreamState* const chunk =
      chunks_[place / kChunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + place % kChunk;
}

StreamState* StreamTable::find(uint64_t number) noexcept {
  StreamState* const s = at_place(number & 0xffff);
  return s != nullptr && s->number() == number ? s : nullptr;
}

// The words that kernels write, one in each line of the cache.
void StreamTable::add_chunk() {
  constexpr size_t kLine = 64;
  void* words = nullptr;
  check(device_,
        api().host_allocate(&words, kChunk * kLine,
                            driver::kHostPortable | driver::kHostMapped),
        "cuMemHostAlloc");
  driver::DevicePointer on_device = 0;
  check(device_, api().host_pointer(&on_device, words, 0),
        "cuMemHostGetDevicePointer");
  auto* const chunk = new StreamState[kChunk];  // never destroyed
  for (uint64_t i = 0; i < kChunk; ++i) {
    StreamState& s = chunk[i];
    s.device_ = &device_;
    s.place_ = places_ + i;
    s.started_ = reinterpret_cast<unsigned long long*>(
        static_cast<char*>(words) + i * kLine);
    *s.started_ = 0;
    s.started_on_device_ =
        reinterpret_cast<unsigned long long*>(on_device + i * kLine);
    free_.push_back(places_ + kChunk - 1 - i);
  }
  generations_.resize(places_ + kChunk);
  chunks_[places_ / kChunk].store(chunk, std::memory_order_release);
  places_ += kChunk;
}

StreamState& StreamTable::add(driver::Stream handle, int priority,
                              bool adopted) {
  const std::lock_guard lock(mutex_);
  reap();
  if (free_.empty()) {
    SY_CHECK(places_ < kChunk * kChunks, Error,
             "[cuda] expected at most {} streams of a device",
             kChunk * kChunks);
    add_chunk();
  }
  const uint64_t place = free_.back();
  StreamState& s = *at_place(place);
  {
    const std::lock_guard in(s.mutex_);
    s.handle_ = handle;
    s.priority_ = priority;
    s.adopted_ = adopted;
    s.closed_ = false;
    s.number_.store(generations_[place]++ << 16 | place,
                    std::memory_order_release);
  }
  free_.pop_back();
  count_.fetch_add(1, std::memory_order_relaxed);
  return s;
}

void StreamTable::remove(uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  StreamState* const s = find(number);
  if (s == nullptr || number == 0) return;
  {
    const std::lock_guard in(s->mutex_);
    if (s->closed_) return;
    s->closed_ = true;
    if (s->adopted_ && device_.errors.failure() == nullptr) {
      const ContextScope context(device_);
      s->mark(s->last());
    }
  }
  try {
    closed_.push_back(s);
  } catch (...) {  // without memory for the list, its place is lost
  }
  reap();
}

void StreamTable::reap() noexcept {
  std::erase_if(closed_, [&](StreamState* s) {
    if (s->completed() < s->last()) return false;
    const bool alive = device_.errors.failure() == nullptr;
    // The launches of the stream can still be found now.
    if (alive && device_.errors.reported()) device_.errors.take();
    const std::lock_guard in(s->mutex_);
    s->forget_marks();
    if (alive && !s->adopted_) {
      const ContextScope context(device_);
      api().stream_destroy(s->handle_);
    }
    s->handle_ = nullptr;
    s->number_.store(StreamState::kNone, std::memory_order_release);
    try {
      free_.push_back(s->place_);
    } catch (...) {
    }
    count_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  });
}

}  // namespace sy::cuda
