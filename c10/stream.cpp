#include "c10/stream.h"

#include <cstring>

#include "c10/error.h"
#include "c10/plugin/library_token.h"

namespace sy {

StreamInterface::~StreamInterface() = default;

namespace {

int index_of(Device d) { return d.has_index() ? d.index : 0; }

DeviceInterface& checked_interface(Device device) {
  DeviceInterface& i = device_interface(device.type);
  SY_CHECK(index_of(device) < i.device_count(), Value, "device: expected '",
           backend_device_name(device.type), "' with an index in [0, ",
           i.device_count() - 1, "], got ", device);
  return i;
}

StreamInterface* streams_of(Device device) {
  return checked_interface(device).streams();
}

// Of a stream or event that is no stand-in for a device without streams.
StreamInterface& streams_of(const detail::QueueObject& o) {
  return *device_interface(o.device().type).streams();
}

intrusive_ptr<detail::QueueObject> object(detail::QueueObject::Kind kind,
                                          Device device, uint64_t id) {
  return make_intrusive<detail::QueueObject>(
      kind, Device(device.type, index_of(device)), id);
}

// The innermost of this thread.
thread_local const StreamGuard* guards = nullptr;

using Kind = detail::QueueObject::Kind;

}  // namespace

namespace detail {

QueueObject::QueueObject(Kind kind, Device device, uint64_t id) noexcept
    : kind_(kind),
      device_(device),
      id_(id),
      owner_(plugin_of_backend(device.type)) {
  if (owner_ != nullptr) owner_->hold(LibraryToken::kObject);
}

QueueObject::~QueueObject() {
  const int index = device_.index;
  if (id_ != 0 && kind_ != Kind::kBackends) {
    StreamInterface* const s = device_interface(device_.type).streams();
    kind_ == Kind::kStream ? s->destroy_stream(index, id_)
                           : s->destroy_event(index, id_);
  }
  if (owner_ != nullptr) owner_->drop(LibraryToken::kObject);
}

}  // namespace detail

bool Event::is_done() const {
  return event_->id() == 0 ||
         streams_of(*event_).is_event_done(device().index, event_->id());
}

void Event::synchronize() const {
  if (event_->id() == 0)
    return device_interface(device().type).synchronize(device().index);
  streams_of(*event_).synchronize_event(device().index, event_->id());
}

Stream Stream::make(Device device) {
  StreamInterface* const s = streams_of(device);
  SY_CHECK(s != nullptr, NotImplemented, "device '",
           backend_device_name(device.type), "' has no streams");
  return Stream(
      object(Kind::kStream, device, s->create_stream(index_of(device))));
}

Stream Stream::current(Device device) {
  StreamInterface* const s = streams_of(device);
  const int index = index_of(device);
  const uint64_t id = s == nullptr ? 0 : s->current_stream(index);
  const Device exact(device.type, index);
  for (const StreamGuard* g = guards; g != nullptr && id != 0; g = g->outer_) {
    if (g->stream_.device() == exact && g->stream_.id() == id) {
      return g->stream_;
    }
  }
  return Stream(object(Kind::kBackends, device, id));
}

bool Stream::is_done() const {
  StreamInterface* const s = streams_of(device());
  return s == nullptr || s->is_stream_done(device().index, id());
}

void Stream::synchronize() const {
  StreamInterface* const s = streams_of(device());
  if (s == nullptr) {
    device_interface(device().type).synchronize(device().index);
  } else {
    s->synchronize_stream(device().index, id());
  }
}

Event Stream::record() const {
  StreamInterface* const s = streams_of(device());
  const uint64_t id =
      s == nullptr ? 0 : s->record_event(device().index, stream_->id());
  return Event(object(Kind::kEvent, device(), id));
}

void Stream::wait(const Event& event) const {
  SY_CHECK(event.device().type == device().type, Value,
           "[Stream.wait] event: expected one of '",
           backend_device_name(device().type), "', got one of ",
           event.device());
  if (event.event_->id() == 0) return;
  streams_of(*stream_).wait_event(device().index, id(), event.event_->id());
}

StreamGuard::StreamGuard(const Stream& stream)
    : outer_(guards), stream_(stream) {
  const int index = stream.device().index;
  StreamInterface* const s = streams_of(stream.device());
  guards = this;
  if (s == nullptr) return;
  before_ = s->current_stream(index);
  s->set_current_stream(index, stream.id());
}

StreamGuard::~StreamGuard() {
  guards = outer_;
  StreamInterface* const s = device_interface(stream_.device().type).streams();
  if (s != nullptr) s->set_current_stream(stream_.device().index, before_);
}

void synchronize(Device device) {
  checked_interface(device).synchronize(index_of(device));
}

int device_count(std::string_view name) {
  return device_interface(Device(name).type).device_count();
}

DeviceProperties device_properties(Device device) {
  DeviceProperties out;
  DeviceInterface& i = checked_interface(device);
  if (!i.properties(index_of(device), &out)) {
    const std::string name = backend_device_name(device.type);
    std::strncpy(out.name, name.c_str(), sizeof out.name - 1);
  }
  return out;
}

}  // namespace sy
