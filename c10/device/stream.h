#pragma once

#include <cstdint>

#include "c10/device/backend.h"
#include "c10/device/device.h"
#include "c10/tensor/intrusive_ptr.h"

// Streams are queues of work on a device, for backends whose kernels run after
// the call that started them. Work of one stream runs in order. Work of two
// streams does not wait for each other, unless an event says so. The host may
// read results without any of this: copies to the host wait by themselves.

namespace sy {

class LibraryToken;
class StorageImpl;

// A backend with streams implements this (DeviceInterface::streams). It chooses
// the numbers of streams and events; stream 0 exists from the start and is
// never destroyed. Implementations must be thread-safe. A call waits only if
// its comment says so. The functions below the line "may be left out" are
// optional.
class SY_API StreamInterface {
 public:
  virtual ~StreamInterface();
  virtual uint64_t create_stream(int device) = 0;
  // Work that is in the stream is still done.
  virtual void destroy_stream(int device, uint64_t stream) noexcept = 0;
  // The stream that kernels called by this thread go to.
  virtual uint64_t current_stream(int device) const noexcept = 0;
  virtual void set_current_stream(int device, uint64_t stream) noexcept = 0;
  virtual bool is_stream_done(int device, uint64_t stream) const = 0;
  // Waits for the work in the stream. Then throws the first error of a kernel
  // since the last call, if there was one. The error names the operator, which
  // is sy::running_operator() when the kernel is started.
  virtual void synchronize_stream(int device, uint64_t stream) = 0;
  // Makes an event that is done when all work now in the stream is done.
  virtual uint64_t record_event(int device, uint64_t stream) = 0;
  virtual void destroy_event(int device, uint64_t event) noexcept = 0;
  virtual bool is_event_done(int device, uint64_t event) const = 0;
  // Waits for the event.
  virtual void synchronize_event(int device, uint64_t event) = 0;
  // Work that enters the stream from now on waits for the event; the host does
  // not.
  virtual void wait_event(int device, uint64_t stream, uint64_t event) = 0;

  // ---- may be left out ----

  // Tickets number the pieces of work of a stream from 1, as they enter it.
  // last_ticket() is the number of the last piece that entered.
  // completed_ticket() is the highest number whose piece is done, with all
  // before it.
  virtual uint64_t last_ticket(int, uint64_t) const noexcept { return 0; }
  virtual uint64_t completed_ticket(int, uint64_t) const noexcept { return 0; }

  // The range of priorities, `most` <= 0 <= `least`. Smaller numbers run first,
  // as in CUDA.
  virtual void priorities(int, int* least, int* most) const noexcept {
    *least = *most = 0;
  }
  // Makes a stream with a priority of that range.
  virtual uint64_t create_stream_of(int device, int /*priority*/) {
    return create_stream(device);
  }
  virtual int stream_priority(int, uint64_t) const noexcept { return 0; }

  // The handle of the stream or event in the device's own library; nullptr if
  // it has none.
  virtual void* native_stream(int, uint64_t) { return nullptr; }
  virtual void* native_event(int, uint64_t) { return nullptr; }
  // Gives a number to a stream that other code made. That code keeps the stream
  // alive until destroy_stream(), which only forgets it. False: not possible.
  virtual bool adopt_stream(int, void* /*native*/, uint64_t* /*stream*/) {
    return false;
  }

  // Like record_event(), but the event notes its time. 0: the backend notes no
  // times.
  virtual uint64_t record_timed_event(int, uint64_t) { return 0; }
  // Milliseconds from one event to another. Both have times and are done.
  virtual double elapsed(int, uint64_t /*from*/, uint64_t /*to*/) { return 0; }

  // Graphs. Work that enters the stream between begin_capture() and
  // end_capture() is recorded and does not run. The memory that it uses is kept
  // until the graph is destroyed, even if it is freed before. While a stream
  // records, calls that wait for it throw Error, which names the operator.
  // False: the backend records no graphs.
  virtual bool begin_capture(int, uint64_t /*stream*/) { return false; }
  // Returns the recorded graph. If an error ended the recording, throws that.
  virtual uint64_t end_capture(int, uint64_t /*stream*/) { return 0; }
  // Ends a recording and drops it.
  virtual void abort_capture(int, uint64_t /*stream*/) noexcept {}
  virtual bool is_capturing(int, uint64_t /*stream*/) const noexcept {
    return false;
  }
  // Makes the executable that launch_graph() takes, once for each graph. It
  // keeps alive what it needs of the graph.
  virtual uint64_t instantiate_graph(int, uint64_t /*graph*/) { return 0; }
  // Puts the graph into the stream, as one piece of work.
  virtual void launch_graph(int, uint64_t /*executable*/, uint64_t /*stream*/) {
  }
  // Work that is in a stream is still done.
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

// Says that work number `ticket` of `stream` of device `device` uses the
// storage's memory (of the device, or pinned). The memory is not used for
// anything else before that work is done, even if nobody holds the storage.
// Only launches call this, and code that starts work of a stream by other means
// than operators.
SY_API void note_use(const StorageImpl& storage, int device, uint64_t stream,
                     uint64_t ticket) noexcept;

namespace detail {
// A stream, event or graph. It is destroyed with its last handle, unless it is
// the backend's own (kBackends). The backend's library is not unloaded before.
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

// A point in the work of a stream. Copies share one event.
class SY_API Event {
 public:
  Device device() const { return event_->device(); }
  bool is_done() const;
  // Waits for the work that was in the stream when the event was recorded.
  void synchronize() const;
  // Milliseconds from this event to `later`; waits for both. Throws ValueError
  // if one was recorded without its time, or if their devices differ.
  double elapsed(const Event& later) const;
  // The event's handle in the device's own library, such as a cudaEvent_t;
  // nullptr if it has none.
  void* native_handle() const;

 private:
  friend class Stream;
  explicit Event(detail::QueueHandle event) : event_(std::move(event)) {}
  detail::QueueHandle event_;
};

enum class EventTime : bool { kNone, kNoted };

// Copies share one stream. A device without streams has a single one, which is
// always done.
class SY_API Stream {
 public:
  // Makes a stream. Smaller priorities run first; a priority beyond the range
  // of the device becomes the nearest within. Throws NotImplementedError if the
  // backend has no streams, ValueError if there is no such device.
  static Stream make(Device device, int priority = 0);
  // The stream that kernels called by this thread go to.
  static Stream current(Device device);
  // A stream that other code made (a cudaStream_t, for example) and keeps alive
  // as long as this object and its copies live. Throws NotImplementedError if
  // the backend takes none.
  static Stream from_native(Device device, void* handle);

  Device device() const { return stream_->device(); }
  uint64_t id() const { return stream_->id(); }
  int priority() const;
  // The stream's handle in the device's own library; nullptr if it has none.
  void* native_handle() const;
  bool is_done() const;
  // Waits for the work in the stream. Then throws the first error of a kernel
  // that ran in it; the error names the operator.
  void synchronize() const;
  // Records an event after the work that is now in the stream. Throws
  // NotImplementedError if a time is asked for and the backend notes none.
  Event record(EventTime time = EventTime::kNone) const;
  // Work that enters the stream from now on waits for the event. Throws
  // ValueError for an event of another backend.
  void wait(const Event& event) const;
  // Whether the stream records a graph (c10/device/graph.h).
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

// Until the end of the scope, kernels that this thread calls on the stream's
// device go to the stream, and that device is the current one of its backend.
class SY_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  friend class Stream;
  const StreamGuard* const outer_;  // the one before, of this thread
  Stream stream_;
  uint64_t before_ = 0;
  int device_before_ = -1;
};

// Waits for all streams of a device, then throws the first error of a kernel.
SY_API void synchronize(Device device);

// How many devices have that name, "npu". 0 if the backend has a fixed number
// and its library is not loaded. Throws ValueError for an unknown name.
SY_API int device_count(std::string_view name);
// Throws ValueError if there is no such device.
SY_API DeviceProperties device_properties(Device device);
// For the CPU: the memory of the machine, or of the control group if that is
// less. Throws ValueError if there is no such device.
SY_API MemoryInfo memory_info(Device device = Device(kCPU));

}  // namespace sy
