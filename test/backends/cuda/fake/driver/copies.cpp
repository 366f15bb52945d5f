#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "test/backends/cuda/fake/driver/address_space.h"
#include "test/backends/cuda/fake/driver/entries.h"

// Copies and fills. A mistake that the call itself shows is kInvalidValue; a
// mistake that shows when the work runs, because memory was unmapped in
// between, is a fault of the context.

namespace fake_cuda {
namespace {

struct Range {
  const ContextState* context;  // nullptr: the host's
  uintptr_t address;
  size_t bytes;
};

uintptr_t address_of(const void* p) { return reinterpret_cast<uintptr_t>(p); }

// Runs `work` in the stream with the ranges kept mapped.
template <class F>
void put_copy(StreamState& stream, std::vector<Range> ranges, const char* what,
              F work) {
  put_in_order(stream, [&context = *stream.context, what,
                        ranges = std::move(ranges), work = std::move(work)] {
    const DeviceAccess access(nullptr);
    AddressSpace& a = addresses();
    const std::shared_lock lock(a.mutex);
    for (const Range& r : ranges) {
      if (r.context == nullptr) continue;
      if (a.reachable(*r.context, r.address, r.bytes)) continue;
      note_fault(std::string(what) + " reaches memory that is not mapped",
                 false);
      fail_context(context, kIllegalAddress);
      return;
    }
    work();
  });
}

Result begin(Stream handle, std::shared_ptr<StreamState>* stream) {
  ContextState* c;
  Result r = usable_context(&c);
  if (r == kSuccess) r = find_stream(handle, stream);
  if (r != kSuccess) return r;
  return static_cast<Result>((*stream)->context->failed.load());
}

void count(std::atomic<int64_t>& counter, size_t bytes) {
  ++counter;
  counters().bytes_copied += static_cast<int64_t>(bytes);
}

}  // namespace

namespace entry {

// Pageable memory has been read when the call returns.
Result copy_from_host(DevicePointer to, const void* from, size_t bytes,
                      Stream handle) {
  std::shared_ptr<StreamState> stream;
  const Result r = begin(handle, &stream);
  if (r != kSuccess) return r;
  if (bytes == 0) return kSuccess;
  const ContextState& c = *stream->context;
  if (from == nullptr || in_device_range(address_of(from)) ||
      !reachable(c, to, bytes)) {
    return kInvalidValue;
  }
  count(counters().copies_to_device, bytes);
  if (is_pinned(address_of(from), bytes)) {
    put_copy(*stream, {{&c, to, bytes}, {&c, address_of(from), bytes}},
             "cuMemcpyHtoDAsync",
             [=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
    return kSuccess;
  }
  const char* const first = static_cast<const char*>(from);
  auto kept = std::make_shared<std::vector<char>>(first, first + bytes);
  put_copy(*stream, {{&c, to, bytes}}, "cuMemcpyHtoDAsync",
           [to, kept = std::move(kept)] {
             std::memcpy(reinterpret_cast<void*>(to), kept->data(),
                         kept->size());
           });
  return kSuccess;
}

// Pageable memory has been written when the call returns.
Result copy_to_host(void* to, DevicePointer from, size_t bytes, Stream handle) {
  std::shared_ptr<StreamState> stream;
  const Result r = begin(handle, &stream);
  if (r != kSuccess) return r;
  if (bytes == 0) return kSuccess;
  const ContextState& c = *stream->context;
  if (to == nullptr || in_device_range(address_of(to)) ||
      !reachable(c, from, bytes)) {
    return kInvalidValue;
  }
  count(counters().copies_to_host, bytes);
  const bool pinned = is_pinned(address_of(to), bytes);
  std::vector<Range> ranges = {{&c, from, bytes}};
  if (pinned) ranges.push_back({&c, address_of(to), bytes});
  put_copy(*stream, std::move(ranges), "cuMemcpyDtoHAsync", [=] {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  });
  if (pinned) return kSuccess;
  stream->wait();
  return static_cast<Result>(c.failed.load());
}

Result copy_on_device(DevicePointer to, DevicePointer from, size_t bytes,
                      Stream handle) {
  std::shared_ptr<StreamState> stream;
  const Result r = begin(handle, &stream);
  if (r != kSuccess) return r;
  if (bytes == 0) return kSuccess;
  const ContextState& c = *stream->context;
  if (!reachable(c, from, bytes) || !reachable(c, to, bytes)) {
    return kInvalidValue;
  }
  count(counters().copies_on_device, bytes);
  put_copy(*stream, {{&c, to, bytes}, {&c, from, bytes}}, "cuMemcpyDtoDAsync",
           [=] {
             std::memmove(reinterpret_cast<void*>(to),
                          reinterpret_cast<const void*>(from), bytes);
           });
  return kSuccess;
}

// Needs no access of the devices to each other.
Result copy_across(DevicePointer to, Context to_context, DevicePointer from,
                   Context from_context, size_t bytes, Stream handle) {
  std::shared_ptr<StreamState> stream;
  const Result r = begin(handle, &stream);
  if (r != kSuccess) return r;
  const auto t = state().living_contexts.find(to_context);
  const auto f = state().living_contexts.find(from_context);
  if (t == nullptr || f == nullptr) return kInvalidContext;
  if (bytes == 0) return kSuccess;
  if (!reachable(*t, to, bytes) || !reachable(*f, from, bytes)) {
    return kInvalidValue;
  }
  count(counters().copies_on_device, bytes);
  put_copy(*stream, {{t.get(), to, bytes}, {f.get(), from, bytes}},
           "cuMemcpyPeerAsync", [=] {
             std::memmove(reinterpret_cast<void*>(to),
                          reinterpret_cast<const void*>(from), bytes);
           });
  return kSuccess;
}

Result fill(DevicePointer to, unsigned char value, size_t bytes,
            Stream handle) {
  std::shared_ptr<StreamState> stream;
  const Result r = begin(handle, &stream);
  if (r != kSuccess) return r;
  if (bytes == 0) return kSuccess;
  const ContextState& c = *stream->context;
  if (!reachable(c, to, bytes)) return kInvalidValue;
  ++counters().fills;
  put_copy(*stream, {{&c, to, bytes}}, "cuMemsetD8Async",
           [=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
  return kSuccess;
}

}  // namespace entry
}  // namespace fake_cuda
