#include "backends/cuda/runtime/stream.h"

#include <algorithm>
#include <vector>

#include "backends/cuda/runtime/device_state.h"
#include "c10/process/error.h"

namespace sy::cuda {
namespace {

using driver::api;
using driver::Result;

// Numbers of events are the addresses of these. c10 keeps each until nobody
// has it.
struct EventState {
  driver::Event handle;
  uint64_t stream;
  bool timed;
};

EventState& event_of(uint64_t number) noexcept {
  return *reinterpret_cast<EventState*>(number);
}

// The device, as the thread's.
DeviceState& entered(int device) {
  DeviceState& d = device_state(device);
  enter_device(d);
  return d;
}

StreamState& stream_of(DeviceState& device, uint64_t number) {
  StreamState* const s = device.streams.find(number);
  SY_CHECK(s != nullptr, Value, "[cuda:{}] there is no stream {}", device.index,
           number);
  return *s;
}

class Streams final : public StreamInterface {
 public:
  uint64_t create_stream(int device) override {
    return create_stream_of(device, 0);
  }

  void destroy_stream(int device, uint64_t stream) noexcept override {
    DeviceState* const d = used_device(device);
    if (d != nullptr && !has_failed(device)) d->streams.remove(stream);
  }

  uint64_t current_stream(int device) const noexcept override {
    return current_stream_number(device);
  }

  void set_current_stream(int device, uint64_t stream) noexcept override {
    DeviceState* const d = used_device(device);
    if (d == nullptr) return;  // there is stream 0 alone
    StreamState* const s = stream == 0 ? nullptr : d->streams.find(stream);
    this_thread().current[device] = {s, s == nullptr ? 0 : stream};
  }

  bool is_stream_done(int device, uint64_t stream) const override {
    DeviceState& d = entered(device);
    StreamState& s = stream_of(d, stream);
    const uint64_t last = s.last();
    const Result r = api().stream_query(s.handle());
    if (r == driver::kNotReady) return false;
    check(d, r, "cuStreamQuery");
    s.note_done(last);
    return true;
  }

  void synchronize_stream(int device, uint64_t stream) override {
    DeviceState& d = entered(device);
    StreamState& s = stream_of(d, stream);
    const uint64_t last = s.last();
    check(d, api().stream_synchronize(s.handle()), "cuStreamSynchronize");
    s.note_done(last);
    d.errors.throw_of_stream(stream);
  }

  uint64_t record_event(int device, uint64_t stream) override {
    return record(device, stream, false);
  }
  uint64_t record_timed_event(int device, uint64_t stream) override {
    return record(device, stream, true);
  }

  void destroy_event(int device, uint64_t event) noexcept override {
    EventState* const e = &event_of(event);
    if (!has_failed(device))
      device_state(device).events.put(e->handle, e->timed);
    delete e;
  }

  bool is_event_done(int device, uint64_t event) const override {
    DeviceState& d = entered(device);
    const Result r = api().event_query(event_of(event).handle);
    if (r == driver::kNotReady) return false;
    check(d, r, "cuEventQuery");
    return true;
  }

  void synchronize_event(int device, uint64_t event) override {
    DeviceState& d = entered(device);
    check(d, api().event_synchronize(event_of(event).handle),
          "cuEventSynchronize");
    d.errors.throw_of_stream(event_of(event).stream);
  }

  void wait_event(int device, uint64_t stream, uint64_t event) override {
    DeviceState& d = entered(device);
    check(d,
          api().stream_wait(stream_of(d, stream).handle(),
                            event_of(event).handle, 0),
          "cuStreamWaitEvent");
  }

  uint64_t last_ticket(int device, uint64_t stream) const noexcept override {
    StreamState* const s = find(device, stream);
    return s == nullptr ? 0 : s->last();
  }

  // A stream that is forgotten is done.
  uint64_t completed_ticket(int device,
                            uint64_t stream) const noexcept override {
    StreamState* const s = find(device, stream);
    return s == nullptr ? ~uint64_t{0} : s->completed();
  }

  void priorities(int device, int* least, int* most) const noexcept override {
    *least = *most = 0;
    try {
      entered(device);
      int low = 0, high = 0;
      if (api().priority_range(&low, &high) != driver::kSuccess) return;
      *least = std::max(low, 0);
      *most = std::min(high, 0);
    } catch (const Error&) {  // the caller of create_stream() hears of it
    }
  }

  uint64_t create_stream_of(int device, int priority) override {
    DeviceState& d = entered(device);
    driver::Stream handle = nullptr;
    check(d, api().stream_create(&handle, driver::kNonBlocking, priority),
          "cuStreamCreateWithPriority");
    return d.streams.add(handle, priority, false).number();
  }

  int stream_priority(int device, uint64_t stream) const noexcept override {
    const StreamState* const s = find(device, stream);
    return s == nullptr ? 0 : s->priority();
  }

  // The caller launches kernels by other means, which need the context.
  void* native_stream(int device, uint64_t stream) override {
    return stream_of(entered(device), stream).handle();
  }
  void* native_event(int, uint64_t event) override {
    return event_of(event).handle;
  }

  bool adopt_stream(int device, void* native, uint64_t* stream) override {
    DeviceState& d = entered(device);
    const auto handle = static_cast<driver::Stream>(native);
    driver::Context of = nullptr;
    check(d, api().stream_context(handle, &of), "cuStreamGetCtx");
    SY_CHECK(of == d.context, Value,
             "[Stream.from_native] handle: expected a stream of cuda:{}, got "
             "one of another device",
             device);
    int priority = 0;
    check(d, api().stream_priority(handle, &priority), "cuStreamGetPriority");
    *stream = d.streams.add(handle, priority, true).number();
    return true;
  }

  double elapsed(int device, uint64_t from, uint64_t to) override {
    float milliseconds = 0;
    check(entered(device),
          api().event_elapsed(&milliseconds, event_of(from).handle,
                              event_of(to).handle),
          "cuEventElapsedTime");
    return milliseconds;
  }

 private:
  static StreamState* find(int device, uint64_t stream) noexcept {
    DeviceState* const d = used_device(device);
    return d == nullptr ? nullptr : d->streams.find(stream);
  }

  static uint64_t record(int device, uint64_t stream, bool timed) {
    DeviceState& d = entered(device);
    StreamState& s = stream_of(d, stream);
    const driver::Event e = d.events.take(timed);
    // An event is a piece of work: code that puts kernels into the stream by
    // other means gets a ticket behind them.
    Result r = driver::kSuccess;
    s.enqueue("event", true, &r, [&](driver::Stream handle) {
      return api().event_record(e, handle);
    });
    if (r != driver::kSuccess) d.events.put(e, timed);
    check(d, r, "cuEventRecord");
    return reinterpret_cast<uint64_t>(new EventState{e, stream, timed});
  }
};

}  // namespace

StreamInterface& stream_interface() noexcept {
  static auto* const s = new Streams;
  return *s;
}

void synchronize(int device) {
  DeviceState& d = device_state(device);
  enter_device(d);
  struct Last {
    StreamState* stream;
    uint64_t number, ticket;
  };
  std::vector<Last> all;
  d.streams.each([&](StreamState& s) {
    if (s.known() < s.last()) all.push_back({&s, s.number(), s.last()});
  });
  check(d, api().context_synchronize(), "cuCtxSynchronize");
  for (const Last& l : all) {
    if (l.stream->number() == l.number) l.stream->note_done(l.ticket);
  }
  d.errors.throw_any();
}

void join_streams(DeviceState& device, StreamState& into) {
  if (SY_LIKELY(device.streams.count() == 1)) return;
  device.streams.each([&](StreamState& s) {
    if (&s == &into || s.completed() >= s.last()) return;
    const driver::Event e = device.events.take();
    Result r = api().event_record(e, s.handle());
    if (r == driver::kSuccess) r = api().stream_wait(into.handle(), e, 0);
    device.events.put(e);
    check(device, r, "cuStreamWaitEvent");
  });
}

}  // namespace sy::cuda
