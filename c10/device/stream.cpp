#include "c10/device/stream.h"

#include <algorithm>
#include <cstring>

#include "c10/device/device_guard.h"
#include "c10/device/missing_devices.h"
#include "c10/memory/system_memory.h"
#include "c10/plugin/library_token.h"
#include "c10/process/error.h"
#include "c10/tensor/storage.h"

namespace sy {

StreamInterface::~StreamInterface() = default;

namespace {

int index_of(Device d) { return std::max(with_index(d).index(), 0); }

DeviceInterface& checked_interface(Device device) {
  DeviceInterface& i = device_interface(device.type());
  SY_CHECK(i.device_count() > 0, Value, "device: {}",
           no_device_text(device.type()));
  SY_CHECK(index_of(device) < i.device_count(), Value,
           "device: expected '{}' with an index in [0, {}], got {}",
           backend_device_name(device.type()), i.device_count() - 1, device);
  return i;
}

StreamInterface* streams_of(Device device) {
  return checked_interface(device).streams();
}

// The interface of a stream or event that is no stand-in for a device without
// streams.
StreamInterface& streams_of(const detail::QueueObject& o) {
  return *device_interface(o.device().type()).streams();
}

intrusive_ptr<detail::QueueObject> object(detail::QueueObject::Kind kind,
                                          Device device, uint64_t id) {
  return make_intrusive<detail::QueueObject>(
      kind, Device(device.type(), index_of(device)), id);
}

[[noreturn]] void cannot(Device device, const char* what) {
  fail(ErrorKind::NotImplemented, "device '{}' {}",
       backend_device_name(device.type()), what);
}

// The innermost guard of this thread.
thread_local const StreamGuard* guards = nullptr;

using Kind = detail::QueueObject::Kind;

}  // namespace

namespace detail {

QueueObject::QueueObject(Kind kind, Device device, uint64_t id) noexcept
    : kind_(kind),
      device_(device),
      id_(id),
      owner_(plugin_of_backend(device.type())) {
  if (owner_ != nullptr) owner_->hold(LibraryToken::kObject);
}

QueueObject::~QueueObject() {
  const int index = device_.index();
  if (id_ != 0 && kind_ != Kind::kBackends) {
    StreamInterface* const s = device_interface(device_.type()).streams();
    switch (kind_) {
      case Kind::kStream: s->destroy_stream(index, id_); break;
      case Kind::kEvent:
      case Kind::kTimedEvent: s->destroy_event(index, id_); break;
      case Kind::kGraph: s->destroy_graph(index, id_); break;
      case Kind::kExecutable: s->destroy_executable(index, id_); break;
      case Kind::kBackends: break;
    }
  }
  if (owner_ != nullptr) owner_->drop(LibraryToken::kObject);
}

}  // namespace detail

bool Event::is_done() const {
  return event_->id() == 0 ||
         streams_of(*event_).is_event_done(device().index(), event_->id());
}

void Event::synchronize() const {
  if (event_->id() == 0)
    return device_interface(device().type()).synchronize(device().index());
  streams_of(*event_).synchronize_event(device().index(), event_->id());
}

double Event::elapsed(const Event& later) const {
  SY_CHECK(device() == later.device(), Value,
           "[Event.elapsed] later: expected an event of {}, got one of {}",
           device(), later.device());
  for (const Event* e : {this, &later}) {
    SY_CHECK(e->event_->kind() == Kind::kTimedEvent, Value,
             "[Event.elapsed] {}: expected an event with its time, got one "
             "without: record it with EventTime::kNoted",
             e == this ? "self" : "later");
    e->synchronize();
  }
  return streams_of(*event_).elapsed(device().index(), event_->id(),
                                     later.event_->id());
}

void* Event::native_handle() const {
  return event_->id() == 0
             ? nullptr
             : streams_of(*event_).native_event(device().index(), event_->id());
}

Stream Stream::make(Device device, int priority) {
  StreamInterface* const s = streams_of(device);
  if (s == nullptr) cannot(device, "has no streams");
  const int index = index_of(device);
  int least = 0, most = 0;
  s->priorities(index, &least, &most);
  priority = std::clamp(priority, most, least);
  return Stream(object(Kind::kStream, device,
                       priority == 0 ? s->create_stream(index)
                                     : s->create_stream_of(index, priority)));
}

Stream Stream::from_native(Device device, void* handle) {
  StreamInterface* const s = streams_of(device);
  uint64_t id = 0;
  if (s == nullptr || !s->adopt_stream(index_of(device), handle, &id)) {
    cannot(device, "takes no streams that others made");
  }
  return Stream(object(Kind::kStream, device, id));
}

int Stream::priority() const {
  StreamInterface* const s = streams_of(device());
  return s == nullptr ? 0 : s->stream_priority(device().index(), id());
}

void* Stream::native_handle() const {
  StreamInterface* const s = streams_of(device());
  return s == nullptr ? nullptr : s->native_stream(device().index(), id());
}

bool Stream::is_capturing() const {
  StreamInterface* const s = streams_of(device());
  return s != nullptr && s->is_capturing(device().index(), id());
}

Stream Stream::current(Device device) {
  StreamInterface* const s = streams_of(device);
  const int index = index_of(device);
  const uint64_t id = s == nullptr ? 0 : s->current_stream(index);
  const Device exact(device.type(), index);
  for (const StreamGuard* g = guards; g != nullptr && id != 0; g = g->outer_) {
    if (g->stream_.device() == exact && g->stream_.id() == id) {
      return g->stream_;
    }
  }
  return Stream(object(Kind::kBackends, device, id));
}

bool Stream::is_done() const {
  StreamInterface* const s = streams_of(device());
  return s == nullptr || s->is_stream_done(device().index(), id());
}

void Stream::synchronize() const {
  StreamInterface* const s = streams_of(device());
  if (s == nullptr) {
    device_interface(device().type()).synchronize(device().index());
  } else {
    s->synchronize_stream(device().index(), id());
  }
}

Event Stream::record(EventTime time) const {
  StreamInterface* const s = streams_of(device());
  const int index = device().index();
  if (time == EventTime::kNoted) {
    const uint64_t id =
        s == nullptr ? 0 : s->record_timed_event(index, stream_->id());
    if (id == 0) cannot(device(), "notes no times of events");
    return Event(object(Kind::kTimedEvent, device(), id));
  }
  const uint64_t id = s == nullptr ? 0 : s->record_event(index, stream_->id());
  return Event(object(Kind::kEvent, device(), id));
}

void Stream::wait(const Event& event) const {
  SY_CHECK(event.device().type() == device().type(), Value,
           "[Stream.wait] event: expected one of '{}', got one of {}",
           backend_device_name(device().type()), event.device());
  if (event.event_->id() == 0) return;
  streams_of(*stream_).wait_event(device().index(), id(), event.event_->id());
}

StreamGuard::StreamGuard(const Stream& stream)
    : outer_(guards), stream_(stream) {
  const int index = stream.device().index();
  StreamInterface* const s = streams_of(stream.device());
  guards = this;
  if (stream.device().type() > kMeta) {
    device_before_ = detail::exchange_device(stream.device().type(), index);
  }
  if (s == nullptr) return;
  before_ = s->current_stream(index);
  s->set_current_stream(index, stream.id());
}

StreamGuard::~StreamGuard() {
  guards = outer_;
  StreamInterface* const s =
      device_interface(stream_.device().type()).streams();
  if (s != nullptr) s->set_current_stream(stream_.device().index(), before_);
  if (device_before_ >= 0) {
    detail::exchange_device(stream_.device().type(), device_before_);
  }
}

PriorityRange stream_priorities(Device device) {
  PriorityRange out;
  if (StreamInterface* const s = streams_of(device)) {
    s->priorities(index_of(device), &out.least, &out.most);
  }
  return out;
}

void note_use(const StorageImpl& storage, int device, uint64_t stream,
              uint64_t ticket) noexcept {
  // The memory of others is freed by their deleter, which knows.
  auto* const a = const_cast<Allocator*>(storage.allocator());
  if (a != nullptr) a->note_use(storage.data(), device, stream, ticket);
}

void synchronize(Device device) {
  checked_interface(device).synchronize(index_of(device));
}

int device_count(std::string_view name) {
  const DeviceInterface* const i = loaded_interface(Device(name).type());
  return i == nullptr ? 0 : i->device_count();
}

DeviceProperties device_properties(Device device) {
  DeviceProperties out;
  DeviceInterface& i = checked_interface(device);
  if (!i.properties(index_of(device), &out)) {
    const std::string name = backend_device_name(device.type());
    std::strncpy(out.name, name.c_str(), sizeof out.name - 1);
  }
  return out;
}

MemoryInfo memory_info(Device device) {
  MemoryInfo out;
  if (device.is_cpu()) {
    out.total = detail::physical_memory();
    out.free = std::clamp<int64_t>(detail::available_memory(), 0, out.total);
    return out;
  }
  DeviceInterface& i = checked_interface(device);
  const int index = index_of(device);
  if (i.memory_info(index, &out)) return out;
  out.total = device_properties(device).total_memory;
  out.free =
      std::max<int64_t>(0, out.total - i.allocator(index).stats().allocated);
  return out;
}

}  // namespace sy
