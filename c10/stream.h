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

// What a backend with streams implements (DeviceInterface::streams). Numbers
// are the backend's own; stream 0 is there from the start and never destroyed.
// Safe from several threads. No call waits but those that say so.
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
  // there was one; it names the operator.
  virtual void synchronize_stream(int device, uint64_t stream) = 0;
  // An event that is done once all that is in the stream now is.
  virtual uint64_t record_event(int device, uint64_t stream) = 0;
  virtual void destroy_event(int device, uint64_t event) noexcept = 0;
  virtual bool is_event_done(int device, uint64_t event) const = 0;
  // Waits.
  virtual void synchronize_event(int device, uint64_t event) = 0;
  // What enters the stream from now on waits for the event, the host does not.
  virtual void wait_event(int device, uint64_t stream, uint64_t event) = 0;

 protected:
  StreamInterface() = default;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }
};

namespace detail {
// A stream or an event: destroyed with its last handle, unless it is the
// backend's own. Its library is not unloaded before.
class SY_API QueueObject final : public RefCounted {
 public:
  enum class Kind : uint8_t { kStream, kEvent, kBackends };
  QueueObject(Kind kind, Device device, uint64_t id) noexcept;
  ~QueueObject();
  QueueObject(const QueueObject&) = delete;
  QueueObject& operator=(const QueueObject&) = delete;
  Device device() const { return device_; }
  uint64_t id() const { return id_; }

 private:
  Kind kind_;
  Device device_;
  uint64_t id_;
  LibraryToken* owner_;
};
}  // namespace detail

// A point in the work of a stream. Copies are the same event.
class SY_API Event {
 public:
  Device device() const { return event_->device(); }
  bool is_done() const;
  // Waits for what was in the stream when the event was recorded.
  void synchronize() const;

 private:
  friend class Stream;
  explicit Event(intrusive_ptr<detail::QueueObject> event)
      : event_(std::move(event)) {}
  intrusive_ptr<detail::QueueObject> event_;
};

// Copies are the same stream. Devices without streams have one that is always
// done.
class SY_API Stream {
 public:
  // Throws NotImplementedError if the backend has no streams, ValueError if
  // there is no such device.
  static Stream make(Device device);
  // Where kernels that this thread calls go.
  static Stream current(Device device);

  Device device() const { return stream_->device(); }
  uint64_t id() const { return stream_->id(); }
  bool is_done() const;
  // Waits, then throws the first error of a kernel that ran in it.
  void synchronize() const;
  Event record() const;
  // What enters the stream from now on waits for the event. Throws ValueError
  // for one of another backend.
  void wait(const Event& event) const;
  friend bool operator==(const Stream& a, const Stream& b) {
    return a.device() == b.device() && a.id() == b.id();
  }

 private:
  explicit Stream(intrusive_ptr<detail::QueueObject> stream)
      : stream_(std::move(stream)) {}
  intrusive_ptr<detail::QueueObject> stream_;
};

// Kernels that this thread calls on the stream's device go to it until the end
// of the scope.
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
};

// Waits for all streams of a device, then throws the first error of a kernel.
SY_API void synchronize(Device device);

// How many devices there are of that name, "npu". Throws ValueError.
SY_API int device_count(std::string_view name);
// Throws ValueError if there is no such device.
SY_API DeviceProperties device_properties(Device device);

}  // namespace sy
