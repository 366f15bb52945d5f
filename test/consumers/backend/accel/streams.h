#pragma once

#include <sy/library.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>

#include "c10/device/stream.h"
#include "queue.h"

namespace accel {

// The streams, events and graphs of all devices.
class Streams final : public sy::StreamInterface {
 public:
  // Never destroyed: its threads run until the process ends.
  static Streams& singleton();

  // Puts work into the current stream, as that of the operator whose kernel
  // calls. The memory of `uses` waits for it.
  void submit(int device, std::initializer_list<const sy::StorageImpl*> uses,
              std::function<void()> kernel);
  // Waits until all streams of the device are done. Throws nothing but while
  // one records a graph.
  void drain(int device) const;
  // The same, then throws the first error of a kernel.
  void synchronize(int device);

  uint64_t create_stream(int device) override;
  void destroy_stream(int device, uint64_t stream) noexcept override;
  uint64_t current_stream(int device) const noexcept override;
  void set_current_stream(int device, uint64_t stream) noexcept override;
  bool is_stream_done(int device, uint64_t stream) const override;
  void synchronize_stream(int device, uint64_t stream) override;
  uint64_t record_event(int device, uint64_t stream) override;
  void destroy_event(int device, uint64_t event) noexcept override;
  bool is_event_done(int device, uint64_t event) const override;
  void synchronize_event(int device, uint64_t event) override;
  void wait_event(int device, uint64_t stream, uint64_t event) override;

  uint64_t last_ticket(int device, uint64_t stream) const noexcept override;
  uint64_t completed_ticket(int device,
                            uint64_t stream) const noexcept override;
  void priorities(int device, int* least, int* most) const noexcept override;
  uint64_t create_stream_of(int device, int priority) override;
  int stream_priority(int device, uint64_t stream) const noexcept override;
  // Their Queue, their Flag.
  void* native_stream(int device, uint64_t stream) override;
  void* native_event(int device, uint64_t event) override;
  bool adopt_stream(int device, void* native, uint64_t* stream) override;
  uint64_t record_timed_event(int device, uint64_t stream) override;
  double elapsed(int device, uint64_t from, uint64_t to) override;

  bool begin_capture(int device, uint64_t stream) override;
  uint64_t end_capture(int device, uint64_t stream) override;
  void abort_capture(int device, uint64_t stream) noexcept override;
  bool is_capturing(int device, uint64_t stream) const noexcept override;
  uint64_t instantiate_graph(int device, uint64_t graph) override;
  void launch_graph(int device, uint64_t executable, uint64_t stream) override;
  void destroy_executable(int device, uint64_t executable) noexcept override;
  void destroy_graph(int device, uint64_t graph) noexcept override;

 private:
  using Recordings = std::map<uint64_t, std::shared_ptr<Recording>>;

  Streams();
  // nullptr if there is none of that number.
  std::shared_ptr<Queue> find(int device, uint64_t stream) const;
  std::shared_ptr<Queue> queue(int device, uint64_t stream) const;
  std::vector<std::shared_ptr<Queue>> queues(int device) const;
  std::shared_ptr<Flag> flag(uint64_t event) const;
  uint64_t add(int device, std::shared_ptr<Queue> queue);
  void forget(Recordings& from, uint64_t id) noexcept;

  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::shared_ptr<Queue>> queues_[2];  // of each device
  std::map<uint64_t, std::shared_ptr<Queue>> closed_[2];  // may still work
  std::map<uint64_t, std::shared_ptr<Flag>> events_;
  Recordings graphs_, executables_;
};

}  // namespace accel
