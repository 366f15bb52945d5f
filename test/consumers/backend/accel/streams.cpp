#include "streams.h"

#include "c10/device/device_guard.h"
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

std::shared_ptr<Queue> Streams::find(int device, uint64_t stream) const {
  const std::lock_guard lock(mutex_);
  for (const auto* list : {&queues_[device], &closed_[device]}) {
    const auto found = list->find(stream);
    if (found != list->end()) return found->second;
  }
  return nullptr;
}

std::shared_ptr<Queue> Streams::queue(int device, uint64_t stream) const {
  auto found = find(device, stream);
  SY_CHECK(found != nullptr, Value, "{}{}] there is no stream {}",
           "[" ACCEL_NAME ":", device, stream);
  return found;
}

std::vector<std::shared_ptr<Queue>> Streams::queues(int device) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Queue>> out;
  for (const auto& [id, q] : queues_[device]) out.push_back(q);
  for (const auto& [id, q] : closed_[device]) out.push_back(q);
  return out;
}

std::shared_ptr<Flag> Streams::flag(uint64_t event) const {
  const std::lock_guard lock(mutex_);
  return events_.at(event);
}

void Streams::submit(int device,
                     std::initializer_list<const sy::StorageImpl*> uses,
                     std::function<void()> kernel) {
  const uint64_t stream = current[device];
  const auto q = queue(device, stream);
  const uint64_t ticket =
      q->push({std::string(sy::running_operator_name()), std::move(kernel)});
  for (const sy::StorageImpl* s : uses) {
    if (ticket != 0) {
      sy::note_use(*s, device, stream, ticket);
    } else if (const auto recording = q->recording()) {
      SY_CHECK(s->allocator() == &DeviceMemory::of(device), NotImplemented,
               "a graph keeps the memory of its device alone");
      DeviceMemory::of(device).keep(s->data());
      recording->let_go.push_back([device, address = s->data()] {
        DeviceMemory::of(device).let_go(address);
      });
    }
  }
}

void Streams::drain(int device) const {
  for (const auto& q : queues(device)) q->wait();
}

void Streams::synchronize(int device) {
  drain(device);
  for (const auto& q : queues(device)) q->throw_error();
}

uint64_t Streams::add(int device, std::shared_ptr<Queue> queue) {
  const std::lock_guard lock(mutex_);
  queues_[device][++last_] = std::move(queue);
  return last_;
}

uint64_t Streams::create_stream(int device) {
  return add(device, Queue::start());
}

uint64_t Streams::create_stream_of(int device, int priority) {
  return add(device, Queue::start(priority));
}

// Its work goes on: others may wait for it.
void Streams::destroy_stream(int device, uint64_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(closed_[device], [](auto& c) { return c.second->is_done(); });
  const auto node = queues_[device].extract(stream);
  // The number of an adopted queue is one of several.
  const auto shared = [&](const auto& other) {
    return other.second == node.mapped();
  };
  const auto& rest = queues_[device];
  if (std::none_of(rest.begin(), rest.end(), shared)) node.mapped()->close();
  closed_[device][stream] = node.mapped();
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
  queue(device, stream)->push({"event", [done] { done->set(); }});
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
  queue(device, stream)->push({"event", [done = flag(event)] {
                                 done->wait();
                               }});
}

uint64_t Streams::last_ticket(int device, uint64_t stream) const noexcept {
  const auto q = find(device, stream);
  return q == nullptr ? 0 : q->last();
}

// A stream that is forgotten is done.
uint64_t Streams::completed_ticket(int device, uint64_t stream) const noexcept {
  const auto q = find(device, stream);
  return q == nullptr ? ~uint64_t{0} : q->completed();
}

void Streams::priorities(int, int* least, int* most) const noexcept {
  *least = 1;
  *most = -2;
}

int Streams::stream_priority(int device, uint64_t stream) const noexcept {
  const auto q = find(device, stream);
  return q == nullptr ? 0 : q->priority();
}

void* Streams::native_stream(int device, uint64_t stream) {
  return queue(device, stream).get();
}

void* Streams::native_event(int, uint64_t event) { return flag(event).get(); }

bool Streams::adopt_stream(int device, void* native, uint64_t* stream) {
  *stream = add(device, static_cast<Queue*>(native)->shared_from_this());
  return true;
}

uint64_t Streams::record_timed_event(int device, uint64_t stream) {
  return record_event(device, stream);
}

double Streams::elapsed(int, uint64_t from, uint64_t to) {
  const std::chrono::duration<double, std::milli> took =
      flag(to)->time() - flag(from)->time();
  return took.count();
}

bool Streams::begin_capture(int device, uint64_t stream) {
  queue(device, stream)->begin_recording();
  return true;
}

uint64_t Streams::end_capture(int device, uint64_t stream) {
  auto recording = queue(device, stream)->end_recording();
  const std::lock_guard lock(mutex_);
  graphs_[++last_] = std::move(recording);
  return last_;
}

void Streams::abort_capture(int device, uint64_t stream) noexcept {
  find(device, stream)->end_recording();
}

bool Streams::is_capturing(int device, uint64_t stream) const noexcept {
  return find(device, stream)->recording() != nullptr;
}

uint64_t Streams::instantiate_graph(int, uint64_t graph) {
  const std::lock_guard lock(mutex_);
  executables_[++last_] = graphs_.at(graph);
  return last_;
}

void Streams::launch_graph(int device, uint64_t executable, uint64_t stream) {
  std::shared_ptr<Recording> all;
  {
    const std::lock_guard lock(mutex_);
    all = executables_.at(executable);
  }
  queue(device, stream)->push({"graph", [all] {
                                 for (const Task& t : all->tasks) t.run();
                               }});
}

// Letting go of memory takes other locks.
void Streams::forget(Recordings& from, uint64_t id) noexcept {
  std::shared_ptr<Recording> last;
  const std::lock_guard lock(mutex_);
  const auto found = from.find(id);
  last = std::move(found->second);
  from.erase(found);
}

void Streams::destroy_executable(int, uint64_t executable) noexcept {
  forget(executables_, executable);
}

void Streams::destroy_graph(int, uint64_t graph) noexcept {
  forget(graphs_, graph);
}

}  // namespace accel
