#pragma once

#include <cstdint>

#include "c10/backend.h"
#include "c10/device.h"
#include "c10/intrusive_ptr.h"

// Queues of work on a device, for backends whose kernels run after the call
// that started them. Work of one stream runs in order, work of two does not
// wait for each other but where an event says so. Results may be read by the
// host without any of this: copies to the host wait by themselves.

namespace sy {

class LibraryToken;
class StorageImpl;

// What a backend with streams implements (DeviceInterface::streams). Numbers
// are the backend's own; stream 0 is there from the start and never destroyed.
// Safe from several threads. No call waits but those that say so. Only what is
// above the line "may be left out" must be there.
class SY_API StreamInterface {
 public:
  virtual ~StreamInterface();
  virtual uint64_t create_stream(int device) = 0;
  // What is in the stream is still done.
  virtual void destroy_stream(int device, uint64_t stream) noexcept = 0;
  // Where kernels that this thread calls go.
  virtual uint64_t current_stream(int device) const noexcept = 0;
  virtual void set_current_stream(int device, uint64_t stream) noexcept = 0;
  virtual bool is_stream_done(int device, uint64_t stream) const = 0;
  // Waits, then throws the first error of a kernel since the last time, if
  // there was one; it names the operator (sy::running_operator() when the
  // kernel was started).
  virtual void synchronize_stream(int device, uint64_t stream) = 0;
  // An event that is done once all that is in the stream now is.
  virtual uint64_t record_event(int device, uint64_t stream) = 0;
  virtual void destroy_event(int device, uint64_t event) noexcept = 0;
  virtual bool is_event_done(int device, uint64_t event) const = 0;
  // Waits.
  virtual void synchronize_event(int device, uint64_t event) = 0;
  // What enters the stream from now on waits for the event, the host does not.
  virtual void wait_event(int device, uint64_t stream, uint64_t event) = 0;

  // ---- may be left out ----

  // Tickets: the pieces of work of a stream are numbered from 1 as they enter
  // it. The number of the last that entered, and of the last that is done with
  // all before it.
  virtual uint64_t last_ticket(int, uint64_t) const noexcept { return 0; }
  virtual uint64_t completed_ticket(int, uint64_t) const noexcept { return 0; }

  // The range of priorities, `most` <= 0 <= `least`: smaller numbers run first,
  // as CUDA has it.
  virtual void priorities(int, int* least, int* most) const noexcept {
    *least = *most = 0;
  }
  // Of a priority within the range.
  virtual uint64_t create_stream_of(int device, int /*priority*/) {
    return create_stream(device);
  }
  virtual int stream_priority(int, uint64_t) const noexcept { return 0; }

  // What the device's own library calls the stream or event; nullptr: nothing.
  virtual void* native_stream(int, uint64_t) { return nullptr; }
  virtual void* native_event(int, uint64_t) { return nullptr; }
  // A number for a stream that somebody else made, who keeps it alive until
  // destroy_stream(), which only forgets it. False: not possible.
  virtual bool adopt_stream(int, void* /*native*/, uint64_t* /*stream*/) {
    return false;
  }

  // The same as record_event(), of an event that notes its time. 0: no times.
  virtual uint64_t record_timed_event(int, uint64_t) { return 0; }
  // Milliseconds between two such events that are done.
  virtual double elapsed(int, uint64_t /*from*/, uint64_t /*to*/) { return 0; }

  // Graphs: what enters the stream between the two calls is recorded and does
  // not run. Memory that the recorded work uses stays as it is until the graph
  // is destroyed, freed or not. While a stream records, what waits for it
  // throws Error naming the operator. False: no graphs.
  virtual bool begin_capture(int, uint64_t /*stream*/) { return false; }
  // The recorded graph. Throws the error that ended the recording before.
  virtual uint64_t end_capture(int, uint64_t /*stream*/) { return 0; }
  // Ends a recording of which nothing is wanted.
  virtual void abort_capture(int, uint64_t /*stream*/) noexcept {}
  virtual bool is_capturing(int, uint64_t /*stream*/) const noexcept {
    return false;
  }
  // What launch_graph() takes: it is made once and keeps what it needs of the
  // graph alive.
  virtual uint64_t instantiate_graph(int, uint64_t /*graph*/) { return 0; }
  // One piece of work of the stream.
  virtual void launch_graph(int, uint64_t /*executable*/, uint64_t /*stream*/) {
  }
  // What is in a stream is still done.
  virtual void destroy_executable(int, uint64_t) noexcept {}
  virtual void destroy_graph(int, uint64_t) noexcept {}

 protected:
  StreamInterface() = default;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }
  virtual void* reserved4() { return nullptr; }
  virtual void* reserved5() { return nullptr; }
  virtual void* reserved6() { return nullptr; }
  virtual void* reserved7() { return nullptr; }
};

// For launches: work number `ticket` of `stream` of device `device` uses the
// storage's memory (of the device, or pinned), which then waits for it before
// it is used for anything else. Nothing needs to hold the storage. Nobody else
// calls this, but who starts work of a stream by other means than operators.
SY_API void note_use(const StorageImpl& storage, int device, uint64_t stream,
                     uint64_t ticket) noexcept;

namespace detail {
// A stream, event or graph: destroyed with its last handle, unless it is the
// backend's own. Its library is not unloaded before.
class SY_API QueueObject final : public RefCounted {
 public:
  enum class Kind : uint8_t {
    kStream,
    kEvent,
    kTimedEvent,
    kGraph,
    kExecutable,
    kBackends
  };
  QueueObject(Kind kind, Device device, uint64_t id) noexcept;
  ~QueueObject();
  QueueObject(const QueueObject&) = delete;
  QueueObject& operator=(const QueueObject&) = delete;
  Kind kind() const { return kind_; }
  Device device() const { return device_; }
  uint64_t id() const { return id_; }

 private:
  Kind kind_;
  Device device_;
  uint64_t id_;
  LibraryToken* owner_;
};

using QueueHandle = intrusive_ptr<QueueObject>;
}  // namespace detail

// A point in the work of a stream. Copies are the same event.
class SY_API Event {
 public:
  Device device() const { return event_->device(); }
  bool is_done() const;
  // Waits for what was in the stream when the event was recorded.
  void synchronize() const;
  // Milliseconds from this event to `later`; waits for both. Throws ValueError
  // if one of them was recorded without its time or is of another device.
  double elapsed(const Event& later) const;
  // What the device's own library calls it, a cudaEvent_t say; nullptr: it has
  // no name there.
  void* native_handle() const;

 private:
  friend class Stream;
  explicit Event(detail::QueueHandle event) : event_(std::move(event)) {}
  detail::QueueHandle event_;
};

enum class EventTime : bool { kNone, kNoted };

// Copies are the same stream. Devices without streams have one that is always
// done.
class SY_API Stream {
 public:
  // Throws NotImplementedError if the backend has no streams, ValueError if
  // there is no such device. Smaller priorities run first; one beyond the range
  // of the device is the nearest within.
  static Stream make(Device device, int priority = 0);
  // Where kernels that this thread calls go.
  static Stream current(Device device);
  // One that somebody else made (a cudaStream_t say) and keeps alive as long
  // as this and its copies live. Throws NotImplementedError if the backend
  // takes none.
  static Stream from_native(Device device, void* handle);

  Device device() const { return stream_->device(); }
  uint64_t id() const { return stream_->id(); }
  int priority() const;
  // What the device's own library calls it; nullptr: it has no name there.
  void* native_handle() const;
  bool is_done() const;
  // Waits, then throws the first error of a kernel that ran in it; the error
  // names the operator.
  void synchronize() const;
  // Throws NotImplementedError for a time that the backend does not note.
  Event record(EventTime time = EventTime::kNone) const;
  // What enters the stream from now on waits for the event. Throws ValueError
  // for one of another backend.
  void wait(const Event& event) const;
  // Whether a graph is being recorded (c10/graph.h).
  bool is_capturing() const;
  friend bool operator==(const Stream& a, const Stream& b) {
    return a.device() == b.device() && a.id() == b.id();
  }

 private:
  explicit Stream(detail::QueueHandle stream) : stream_(std::move(stream)) {}
  detail::QueueHandle stream_;
};

// The least and the most urgent priority of a device's streams.
struct PriorityRange {
  int least = 0;
  int most = 0;
};
SY_API PriorityRange stream_priorities(Device device);

// Kernels that this thread calls on the stream's device go to it until the end
// of the scope; the device is the current one of its backend.
class SY_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  friend class Stream;
  const StreamGuard* const outer_;  // of this thread
  Stream stream_;
  uint64_t before_ = 0;
  int device_before_ = -1;
};

// Waits for all streams of a device, then throws the first error of a kernel.
SY_API void synchronize(Device device);

// How many devices there are of that name, "npu"; 0 if no library of a backend
// with a fixed number is loaded. Throws ValueError for an unknown name.
SY_API int device_count(std::string_view name);
// Throws ValueError if there is no such device.
SY_API DeviceProperties device_properties(Device device);
// Of the CPU: of the machine, or what a control group leaves. Throws ValueError
// if there is no such device.
SY_API MemoryInfo memory_info(Device device = Device(kCPU));

}  // namespace sy
