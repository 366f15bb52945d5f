#include "backends/cuda/runtime/copy.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "backends/cuda/memory/allocator.h"
#include "backends/cuda/runtime/device_state.h"
#include "backends/cuda/runtime/stream.h"
#include "c10/process/error.h"

namespace sy::cuda {
namespace {

using driver::api;
using driver::DevicePointer;
using driver::Result;

DevicePointer address(const void* p) {
  return reinterpret_cast<DevicePointer>(p);
}

// The stream of the thread on a device whose context is set.
struct At {
  DeviceState& device;
  StreamState& stream;

  explicit At(int index) : At(entered(index)) {}

  template <class F>
  uint64_t enqueue(const char* what, F&& call, bool lasting = false) {
    Result r = driver::kSuccess;
    const uint64_t ticket = stream.enqueue(what, lasting, &r, call);
    check(device, r, what);
    return ticket;
  }
  void wait() {
    const uint64_t last = stream.last();
    check(device, api().stream_synchronize(stream.handle()),
          "cuStreamSynchronize");
    stream.note_done(last);
  }
  // Memory that the caller gave by its address has nobody who is told of the
  // work. If other streams may get it next, the work must be done.
  void settle() {
    if (device.streams.count() > 1) wait();
  }

 private:
  explicit At(DeviceState& d) : device(d), stream(current_stream_state(d)) {}
  static DeviceState& entered(int index) {
    DeviceState& d = device_state(index);
    enter_device(d);
    return d;
  }
};

uint64_t from_host(At& at, void* dst, const void* src, size_t bytes,
                   bool lasting = false) {
  return at.enqueue(
      "copy from the host",
      [&](driver::Stream s) {
        return api().copy_from_host(address(dst), src, bytes, s);
      },
      lasting);
}

uint64_t to_host(At& at, void* dst, const void* src, size_t bytes,
                 bool lasting = false) {
  return at.enqueue(
      "copy to the host",
      [&](driver::Stream s) {
        return api().copy_to_host(dst, address(src), bytes, s);
      },
      lasting);
}

uint64_t on_device(At& at, void* dst, const void* src, size_t bytes) {
  return at.enqueue("copy on the device", [&](driver::Stream s) {
    return api().copy_on_device(address(dst), address(src), bytes, s);
  });
}

bool overlap(const void* a, const void* b, size_t bytes) {
  return address(a) < address(b) + bytes && address(b) < address(a) + bytes;
}

// Small copies should not pin much, large ones should flow: while one piece is
// on its way, the host copies the next.
Staging& staging_for(DeviceState& d, size_t bytes) {
  return bytes <= d.small_staging.most() ? d.small_staging : d.large_staging;
}

// Copies through memory of its own. 0 if no more may be pinned.
uint64_t from_block(At& at, char* dst, const char* src, size_t bytes) {
  Allocator& pinned = pinned_allocator();
  void* block = nullptr;
  try {
    block = pinned.allocate(bytes);
  } catch (const OutOfMemoryError&) {
    return 0;
  }
  const auto give_back = [&](void* p) { pinned.deallocate(p, bytes); };
  const std::unique_ptr<void, decltype(give_back)> owner(block, give_back);
  std::memcpy(block, src, bytes);
  const uint64_t ticket = from_host(at, dst, block, bytes, true);
  pinned.note_use(block, at.device.index, at.stream.number(), ticket);
  return ticket;
}

// Copies through a piece of the ring. It waits for copies of the same stream
// that are in the way; those of other streams wait for work that has nothing to
// do with this copy.
uint64_t from_piece(At& at, Staging& staging, char* dst, const char* src,
                    size_t bytes) {
  Staging::Place piece;
  Staging::Piece other;
  while (!staging.take(at.device, bytes, &piece, &other)) {
    if (other.stream != at.stream.number()) {
      const uint64_t ticket = from_block(at, dst, src, bytes);
      if (ticket != 0) return ticket;
    }
    staging.wait_for(at.device, other);
  }
  char* const data = staging.data(piece);
  uint64_t ticket = 0;
  try {
    std::memcpy(data, src, bytes);
    // The stream tells of small ones when it is idle.
    const bool lasting = bytes >= staging.most() / 16;
    ticket = from_host(at, dst, data, bytes, lasting);
  } catch (...) {
    staging.used_by(piece, 0, 0);
    throw;
  }
  staging.used_by(piece, at.stream.number(), ticket);
  return ticket;
}

// The ticket of the last piece.
uint64_t from_pageable(At& at, char* dst, const char* src, size_t bytes) {
  Staging& staging = staging_for(at.device, bytes);
  uint64_t ticket = 0;
  while (bytes != 0) {
    const size_t n = std::min(bytes, staging.most() / 2);
    ticket = from_piece(at, staging, dst, src, n);
    dst += n, src += n, bytes -= n;
  }
  return ticket;
}

// Two halves: the device fills one while the host empties the other.
void to_pageable(At& at, char* dst, const char* src, size_t bytes) {
  const bool small = bytes <= at.device.small_buffers.size();
  PinnedBuffers& buffers =
      small ? at.device.small_buffers : at.device.large_buffers;
  const PinnedBuffers::Use buffer(buffers, at.device);
  char* const memory = buffer.data();
  const size_t half = buffers.size() / 2;
  if (small) {
    to_host(at, memory, src, bytes);
    at.wait();
    std::memcpy(dst, memory, bytes);
    return;
  }
  struct Halves {
    explicit Halves(EventPool& pool) : events(pool) {}
    ~Halves() {
      for (const driver::Event e : done) {
        if (e != nullptr) events.put(e);
      }
    }
    EventPool& events;
    driver::Event done[2] = {};
    size_t bytes[2] = {};
  } halves(at.device.events);
  const auto fill = [&](int i) {
    const size_t n = halves.bytes[i] = std::min(bytes, half);
    if (n == 0) return;
    to_host(at, memory + (i == 0 ? 0 : half), src, n);
    check(at.device, api().event_record(halves.done[i], at.stream.handle()),
          "cuEventRecord");
    src += n, bytes -= n;
  };
  for (driver::Event& e : halves.done) e = at.device.events.take();
  fill(0);
  fill(1);
  for (int i = 0; halves.bytes[i] != 0; i = 1 - i) {
    check(at.device, api().event_synchronize(halves.done[i]),
          "cuEventSynchronize");
    std::memcpy(dst, memory + (i == 0 ? 0 : half), halves.bytes[i]);
    dst += halves.bytes[i];
    fill(i);
  }
}

void note_operand(const At& at, const Storage& s, uint64_t ticket) {
  if (s) note_use(*s, at.device.index, at.stream.number(), ticket);
}

}  // namespace

void copy_from_host(int device, void* dst, const void* src, size_t bytes) {
  if (bytes == 0) return;
  At at(device);
  join_streams(at.device, at.stream);
  if (is_pinned_memory(src, bytes)) {
    from_host(at, dst, src, bytes);
    at.wait();
    return;
  }
  from_pageable(at, static_cast<char*>(dst), static_cast<const char*>(src),
                bytes);
  at.settle();
}

void copy_to_host(int device, void* dst, const void* src, size_t bytes) {
  At at(device);
  join_streams(at.device, at.stream);
  if (bytes != 0 && is_pinned_memory(dst, bytes)) {
    to_host(at, dst, src, bytes);
  } else if (bytes != 0) {
    to_pageable(at, static_cast<char*>(dst), static_cast<const char*>(src),
                bytes);
  }
  at.wait();
  at.device.errors.throw_any();
}

void copy_on_device(int device, void* dst, const void* src, size_t bytes) {
  if (bytes == 0 || dst == src) return;
  At at(device);
  join_streams(at.device, at.stream);
  if (overlap(dst, src, bytes)) {
    const Storage between = StorageImpl::allocate(
        bytes, Device(kCUDA, static_cast<int8_t>(device)));
    note_operand(at, between, on_device(at, between->data(), src, bytes));
    note_operand(at, between, on_device(at, dst, between->data(), bytes));
  } else {
    on_device(at, dst, src, bytes);
  }
  at.settle();
}

void copy_across(void* dst, int to, const void* src, int from, size_t bytes) {
  if (bytes == 0) return;
  if (to == from) return copy_on_device(to, dst, src, bytes);
  At there(to);
  At here(from);
  allow_peers(here.device, there.device);
  enter_device(here.device);
  join_streams(here.device, here.stream);
  const auto wait_for = [](At& waiting, At& other) {
    enter_device(other.device);
    join_streams(other.device, other.stream);
    const driver::Event e = other.device.events.take();
    Result r = api().event_record(e, other.stream.handle());
    enter_device(waiting.device);
    if (r == driver::kSuccess) {
      r = api().stream_wait(waiting.stream.handle(), e, 0);
    }
    other.device.events.put(e);
    check(other.device, r, "cuStreamWaitEvent");
  };
  wait_for(here, there);
  here.enqueue("copy to another device", [&](driver::Stream s) {
    return api().copy_across(address(dst), there.device.context, address(src),
                             here.device.context, bytes, s);
  });
  wait_for(there, here);
  there.settle();
  enter_device(here.device);
  here.settle();
}

bool begin_copy(int device, const Storage& dst, size_t dst_first,
                const Storage& src, size_t src_first, size_t bytes) {
  const bool up = src->is_pinned() && dst->device().is_cuda();
  const bool down = dst->is_pinned() && src->device().is_cuda();
  if (!up && !down) return false;
  if (bytes == 0) return true;
  At at(device);
  char* const to = static_cast<char*>(dst->data()) + dst_first;
  const char* const from = static_cast<const char*>(src->data()) + src_first;
  const uint64_t ticket = up ? from_host(at, to, from, bytes, true)
                             : to_host(at, to, from, bytes, true);
  note_operand(at, dst, ticket);
  note_operand(at, src, ticket);
  return true;
}

void upload_bytes(const TensorBase& dst, const void* src, size_t bytes) {
  if (bytes == 0) return;
  At at(dst.device().index());
  auto* const to = static_cast<char*>(dst.raw_data());
  const auto* const from = static_cast<const char*>(src);
  if (is_pinned_memory(src, bytes)) {
    note_operand(at, dst.storage(), from_host(at, to, from, bytes));
    at.wait();
    return;
  }
  note_operand(at, dst.storage(), from_pageable(at, to, from, bytes));
}

void fill_bytes(const TensorBase& t, void* at_address, unsigned char value,
                size_t bytes) {
  if (bytes == 0) return;
  At at(t.device().index());
  const uint64_t ticket = at.enqueue("fill", [&](driver::Stream s) {
    return api().fill(address(at_address), value, bytes, s);
  });
  note_operand(at, t.storage(), ticket);
}

void copy_bytes(const TensorBase& dst, void* to, const TensorBase& src,
                const void* from, size_t bytes) {
  if (bytes == 0) return;
  At at(dst.device().index());
  const uint64_t ticket = on_device(at, to, from, bytes);
  note_operand(at, dst.storage(), ticket);
  note_operand(at, src.storage(), ticket);
}

}  // namespace sy::cuda
