#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/cuda/driver/api.h"
#include "test/backends/cuda/fake/driver/settings.h"
#include "test/backends/cuda/fake/on_host/thread.h"

// The objects that handles stand for. Handles are their addresses; tables say
// which live.

namespace fake_cuda {

namespace driver = sy::cuda::driver;

// A point in a stream. Shared by an event and by who waits for it.
struct Mark {
  std::atomic<int> done{0};
  std::chrono::steady_clock::time_point time;

  void finish() {
    time = std::chrono::steady_clock::now();
    done.store(1, std::memory_order_release);
    done.notify_all();
  }
  void wait() const { done.wait(0, std::memory_order_acquire); }
};

class StreamState;

struct ContextState {
  int device = 0;
  // The error that the context answers for ever; 0 while it lives.
  std::atomic<int> failed{0};
  std::atomic<unsigned> peers{0};  // devices whose memory it may touch
  std::shared_ptr<StreamState> null_stream;
  std::mutex mutex;                                   // of streams
  std::vector<std::shared_ptr<StreamState>> streams;  // without the null stream

  std::vector<std::shared_ptr<StreamState>> all_streams();
};

// A queue of tasks and the thread that runs them, which begins with the first
// task and ends when the stream was destroyed and is empty.
class StreamState : public std::enable_shared_from_this<StreamState> {
 public:
  // More tasks make the host wait, as on a device.
  static constexpr size_t kMostTasks = 1024;

  StreamState(ContextState* context, bool blocking, int priority)
      : context(context), blocking(blocking), priority(priority) {}

  ContextState* const context;
  // Waits for the null stream, and it for this one.
  const bool blocking;
  const int priority;

  // Runs at once under FAKE_CUDA_SYNC. Tasks of a failed context are dropped;
  // those that finish marks say `always`.
  void put(std::function<void()> task, bool always = false);
  uint64_t given() const { return given_.load(); }
  bool idle() const { return done_.load() == given_.load(); }
  void wait_for(uint64_t task) const;
  void wait() const { wait_for(given()); }
  void close();

 private:
  struct Task {
    std::function<void()> run;
    bool always;
  };
  void work();
  void run(const Task& task);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::atomic<uint64_t> given_{0}, done_{0};
  bool started_ = false, closing_ = false;
};

struct EventState {
  ContextState* context;
  bool timed;
  std::mutex mutex;
  std::shared_ptr<Mark> mark;  // nullptr: never recorded

  std::shared_ptr<Mark> get() {
    const std::lock_guard lock(mutex);
    return mark;
  }
};

struct ModuleState;
struct FunctionState {
  ModuleState* module;
  std::string name;
  sy_on_host::Kernel kernel;
  sy_on_host::KernelInfo info;
  std::atomic<unsigned> most_shared;    // dynamic
  std::atomic<uint64_t> left_to_check;  // accesses
};

struct ModuleState {
  ContextState* context;
  void* library;
  uintptr_t loaded_at;
  uint64_t number;  // never used again
  std::map<std::string, std::shared_ptr<FunctionState>> functions;
};

// Handles that live. Objects are found by their address and kept by who uses
// them.
template <class T>
class Table {
 public:
  std::shared_ptr<T> find(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto it = living_.find(handle);
    return it == living_.end() ? nullptr : it->second;
  }
  void* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    void* const handle = object.get();
    living_.emplace(handle, std::move(object));
    return handle;
  }
  std::shared_ptr<T> remove(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto it = living_.find(handle);
    if (it == living_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(it->second);
    living_.erase(it);
    return object;
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return living_.size();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> living_;
};

// The state of the process; never destroyed.
struct State {
  std::atomic<bool> initialized{false};
  std::mutex mutex;                                     // of contexts
  std::vector<std::shared_ptr<ContextState>> contexts;  // by device, or nullptr

  Table<ContextState> living_contexts;
  Table<StreamState> streams;
  Table<EventState> events;
  Table<ModuleState> modules;
  Table<FunctionState> functions;
};
State& state();

// The context of the calling thread; nullptr at first.
ContextState*& current_context();

// kSuccess if there is a current context that has not failed.
Result usable_context(ContextState** context);
// The stream of a handle; nullptr is the current context's null stream.
Result find_stream(driver::Stream handle, std::shared_ptr<StreamState>* stream);

// Puts a task in the order that CUDA gives: with the null stream before and
// after blocking ones.
void put_in_order(StreamState& stream, std::function<void()> task,
                  bool always = false);

// The context answers `code` from now on.
void fail_context(ContextState& context, Result code);
// Host waits until everything that the context was given is done.
void wait_for_context(ContextState& context);

// Streams begin no tasks while this is positive.
void pause(int change);
void wait_while_paused();

}  // namespace fake_cuda
