#include <algorithm>
#include <chrono>

#include "test/backends/cuda/fake/driver/entries.h"

// Streams and events as the driver's functions.

namespace fake_cuda {
namespace {

// The stream, if it and its context can be used.
Result usable_stream(Stream handle, std::shared_ptr<StreamState>* stream) {
  if (!state().initialized) return kNotInitialized;
  const Result r = find_stream(handle, stream);
  if (r != kSuccess) return r;
  return static_cast<Result>((*stream)->context->failed.load());
}

Result usable_event(Event handle, std::shared_ptr<EventState>* event) {
  if (!state().initialized) return kNotInitialized;
  *event = state().events.find(handle);
  if (*event == nullptr) return kInvalidHandle;
  return static_cast<Result>((*event)->context->failed.load());
}

}  // namespace

namespace entry {

Result stream_create(Stream* handle, unsigned flags, int priority) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  if (handle == nullptr || flags > driver::kNonBlocking) return kInvalidValue;
  auto stream =
      std::make_shared<StreamState>(c, flags == 0, std::clamp(priority, -5, 0));
  {
    const std::lock_guard lock(c->mutex);
    c->streams.push_back(stream);
  }
  *handle = static_cast<Stream>(state().streams.add(std::move(stream)));
  return kSuccess;
}

// The stream still does what it was given.
Result stream_destroy(Stream handle) {
  if (!state().initialized) return kNotInitialized;
  const auto stream = state().streams.remove(handle);
  if (stream == nullptr) return kInvalidHandle;
  // Waits for its tasks before it is forgotten, so that a wait for the context
  // covers them.
  ContextState& c = *stream->context;
  stream->put(
      [&c, s = stream.get()] {
        const std::lock_guard lock(c.mutex);
        std::erase_if(c.streams,
                      [&](const auto& held) { return held.get() == s; });
      },
      true);
  stream->close();
  return static_cast<Result>(c.failed.load());
}

Result stream_priority(Stream handle, int* priority) {
  std::shared_ptr<StreamState> stream;
  const Result r = usable_stream(handle, &stream);
  if (r == kSuccess) *priority = stream->priority;
  return r;
}

Result stream_context(Stream handle, Context* context) {
  std::shared_ptr<StreamState> stream;
  const Result r = usable_stream(handle, &stream);
  if (r == kSuccess) *context = reinterpret_cast<Context>(stream->context);
  return r;
}

Result stream_query(Stream handle) {
  std::shared_ptr<StreamState> stream;
  const Result r = usable_stream(handle, &stream);
  if (r != kSuccess) return r;
  return stream->idle() ? kSuccess : kNotReady;
}

Result stream_synchronize(Stream handle) {
  std::shared_ptr<StreamState> stream;
  const Result r = usable_stream(handle, &stream);
  if (r != kSuccess) return r;
  ++counters().waits;
  stream->wait();
  return static_cast<Result>(stream->context->failed.load());
}

Result stream_wait(Stream handle, Event event_handle, unsigned flags) {
  std::shared_ptr<StreamState> stream;
  std::shared_ptr<EventState> event;
  Result r = usable_stream(handle, &stream);
  if (r == kSuccess) r = usable_event(event_handle, &event);
  if (r != kSuccess) return r;
  if (flags != 0) return kInvalidValue;
  if (auto mark = event->get(); mark != nullptr && mark->done == 0) {
    put_in_order(*stream, [mark = std::move(mark)] { mark->wait(); });
  }
  return kSuccess;
}

Result event_create(Event* handle, unsigned flags) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  if (handle == nullptr || flags > 3) return kInvalidValue;
  auto event = std::make_shared<EventState>();
  event->context = c;
  event->timed = (flags & driver::kEventWithoutTime) == 0;
  *handle = static_cast<Event>(state().events.add(std::move(event)));
  return kSuccess;
}

Result event_destroy(Event handle) {
  if (!state().initialized) return kNotInitialized;
  const auto event = state().events.remove(handle);
  if (event == nullptr) return kInvalidHandle;
  return static_cast<Result>(event->context->failed.load());
}

Result event_record(Event event_handle, Stream handle) {
  std::shared_ptr<StreamState> stream;
  std::shared_ptr<EventState> event;
  Result r = usable_stream(handle, &stream);
  if (r == kSuccess) r = usable_event(event_handle, &event);
  if (r != kSuccess) return r;
  if (event->context != stream->context) return kInvalidHandle;
  auto mark = std::make_shared<Mark>();
  {
    const std::lock_guard lock(event->mutex);
    event->mark = mark;
  }
  put_in_order(
      *stream, [mark = std::move(mark)] { mark->finish(); }, true);
  return kSuccess;
}

Result event_query(Event handle) {
  std::shared_ptr<EventState> event;
  const Result r = usable_event(handle, &event);
  if (r != kSuccess) return r;
  const auto mark = event->get();
  return mark == nullptr || mark->done != 0 ? kSuccess : kNotReady;
}

Result event_synchronize(Event handle) {
  std::shared_ptr<EventState> event;
  const Result r = usable_event(handle, &event);
  if (r != kSuccess) return r;
  ++counters().waits;
  if (const auto mark = event->get()) mark->wait();
  return static_cast<Result>(event->context->failed.load());
}

Result event_elapsed(float* milliseconds, Event from, Event to) {
  std::shared_ptr<EventState> a, b;
  Result r = usable_event(from, &a);
  if (r == kSuccess) r = usable_event(to, &b);
  if (r != kSuccess) return r;
  if (milliseconds == nullptr) return kInvalidValue;
  if (a->context != b->context || !a->timed || !b->timed) return kInvalidHandle;
  const auto began = a->get(), ended = b->get();
  if (began == nullptr || ended == nullptr) return kInvalidHandle;
  if (began->done == 0 || ended->done == 0) return kNotReady;
  *milliseconds =
      std::chrono::duration<float, std::milli>(ended->time - began->time)
          .count();
  return kSuccess;
}

}  // namespace entry
}  // namespace fake_cuda
