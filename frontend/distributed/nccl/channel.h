#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "frontend/distributed/engine.h"
#include "frontend/distributed/nccl/api.h"

namespace sy::distributed::nccl {

// One transfer on its way through a channel.
struct Operation {
  const char* what = "";
  size_t bytes = 0;  // of a recv
  // Enqueues it; returns NCCL's code.
  std::function<int(Comm, Stream)> launch;
  // Enqueues the stream's work after it; empty if there is none. Returns CUDA's
  // code.
  std::function<int(Stream)> after;
  enum State { kQueued, kLaunched, kRecorded } state = kQueued;
  Event event = nullptr;
};

// NCCL's communicator with a stream of its own: what is enqueued runs one after
// another. Neither joining nor enqueuing waits: progress() does what can be
// done. For one thread at a time. Methods throw Error.
class Channel {
 public:
  // The ranks meet by `key`.
  Channel(const Api& api, const Rendezvous& rendezvous, std::string key,
          int rank, int size);
  // Ends what is still under way, without waiting for anyone.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void add(std::shared_ptr<Operation> operation);
  // The ranks join when something is added, or now.
  void want() noexcept { wanted_ = true; }
  void progress();
  // Whether all ranks have joined.
  bool joined() const noexcept { return joined_; }

 private:
  bool join();

  const Api& api_;
  const Rendezvous& rendezvous_;
  const std::string key_;
  const int rank_, size_;
  Comm comm_ = nullptr;
  Stream stream_ = nullptr;
  bool wanted_ = false, announced_ = false, joined_ = false;
  UniqueId id_{};
  std::deque<std::shared_ptr<Operation>> queue_;
};

// Whether the stream has come past the operation.
bool is_done(const Api& api, const Operation& operation);
// Marks the stream's end after the operation.
void record(const Api& api, Operation& operation, Stream stream);
// A stream that waits for no other.
Stream make_stream(const Api& api);

}  // namespace sy::distributed::nccl
