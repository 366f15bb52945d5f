#include "streams.h"

#include "memory.h"
#include "names.h"

namespace accel {

namespace {
thread_local uint64_t current[DeviceMemory::kDevices] = {};
}

Streams& Streams::singleton() {
  static Streams* const streams = new Streams;
  return *streams;
}

Streams::Streams() {
  for (auto& of_device : queues_) of_device[0] = Queue::start();
}

std::shared_ptr<Queue> Streams::queue(int device, uint64_t stream) const {
  const std::lock_guard lock(mutex_);
  const auto found = queues_[device].find(stream);
  SY_CHECK(found != queues_[device].end(), Value, "[" ACCEL_NAME ":", device,
           "] there is no stream ", stream);
  return found->second;
}

std::vector<std::shared_ptr<Queue>> Streams::queues(int device) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Queue>> out;
  for (const auto& [id, q] : queues_[device]) out.push_back(q);
  return out;
}

std::shared_ptr<Flag> Streams::flag(uint64_t event) const {
  const std::lock_guard lock(mutex_);
  return events_.at(event);
}

void Streams::submit(int device, std::string op, std::function<void()> kernel) {
  queue(device, current[device])->push(std::move(op), std::move(kernel));
}

void Streams::drain(int device) const {
  for (const auto& q : queues(device)) q->wait();
}

void Streams::synchronize(int device) {
  drain(device);
  for (const auto& q : queues(device)) q->throw_error();
}

uint64_t Streams::create_stream(int device) {
  const std::lock_guard lock(mutex_);
  queues_[device][++last_] = Queue::start();
  return last_;
}

void Streams::destroy_stream(int device, uint64_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = queues_[device].find(stream);
  found->second->close();
  queues_[device].erase(found);
}

uint64_t Streams::current_stream(int device) const noexcept {
  return current[device];
}

void Streams::set_current_stream(int device, uint64_t stream) noexcept {
  current[device] = stream;
}

bool Streams::is_stream_done(int device, uint64_t stream) const {
  return queue(device, stream)->is_done();
}

void Streams::synchronize_stream(int device, uint64_t stream) {
  const auto q = queue(device, stream);
  q->wait();
  q->throw_error();
}

uint64_t Streams::record_event(int device, uint64_t stream) {
  const auto done = std::make_shared<Flag>();
  queue(device, stream)->push("event", [done] { done->set(); });
  const std::lock_guard lock(mutex_);
  events_[++last_] = done;
  return last_;
}

void Streams::destroy_event(int, uint64_t event) noexcept {
  const std::lock_guard lock(mutex_);
  events_.erase(event);
}

bool Streams::is_event_done(int, uint64_t event) const {
  return flag(event)->is_set();
}

void Streams::synchronize_event(int, uint64_t event) { flag(event)->wait(); }

void Streams::wait_event(int device, uint64_t stream, uint64_t event) {
  queue(device, stream)->push("event", [done = flag(event)] { done->wait(); });
}

}  // namespace accel
