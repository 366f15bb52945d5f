#pragma once

#include <sy/library.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "c10/stream.h"
#include "queue.h"

namespace accel {

// The streams and events of all devices.
class Streams final : public sy::StreamInterface {
 public:
  // Never destroyed: its threads run until the process ends.
  static Streams& singleton();

  // Into the current stream. `op` is named where the kernel throws.
  void submit(int device, std::string op, std::function<void()> kernel);
  // Until all streams of the device are done. Throws nothing.
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

 private:
  Streams();
  std::shared_ptr<Queue> queue(int device, uint64_t stream) const;
  std::vector<std::shared_ptr<Queue>> queues(int device) const;
  std::shared_ptr<Flag> flag(uint64_t event) const;

  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::shared_ptr<Queue>> queues_[2];  // of each device
  std::map<uint64_t, std::shared_ptr<Flag>> events_;
};

}  // namespace accel
