#include "frontend/distributed/nccl/channel.h"

#include <utility>

#include "c10/process/error.h"

namespace sy::distributed::nccl {

Channel::Channel(const Api& api, const Rendezvous& rendezvous, std::string key,
                 int rank, int size)
    : api_(api),
      rendezvous_(rendezvous),
      key_(std::move(key)),
      rank_(rank),
      size_(size) {}

// The stream stays: destroying it could wait for what never ends.
Channel::~Channel() {
  if (comm_ != nullptr) api_.comm_abort(comm_);
}

void Channel::add(std::shared_ptr<Operation> operation) {
  queue_.push_back(std::move(operation));
}

// Whether NCCL takes further calls.
bool Channel::join() {
  if (comm_ == nullptr) {
    if (rank_ == 0 && !announced_) {
      api_.check(api_.get_unique_id(&id_), "connect");
      rendezvous_.set(rendezvous_.context, key_.c_str(), &id_, sizeof(id_));
      announced_ = true;
    } else if (!rendezvous_.find(rendezvous_.context, key_.c_str(), &id_,
                                 sizeof(id_))) {
      return false;
    }
    stream_ = make_stream(api_);
    Config config;
    api_.check(api_.comm_init(&comm_, size_, id_, rank_, &config), "connect");
  }
  int state = kSuccess;
  api_.check(api_.async_error(comm_, &state), "connect", comm_);
  const char* const what = queue_.empty() ? "connect" : queue_.front()->what;
  api_.check(state, what, comm_);
  if (state == kInProgress) return false;
  joined_ = true;
  return true;
}

void Channel::progress() {
  if (queue_.empty() && (joined_ || !wanted_)) return;
  while (join() && !queue_.empty()) {
    Operation& o = *queue_.front();
    if (o.state == Operation::kQueued) {
      api_.check(o.launch(comm_, stream_), o.what, comm_);
      o.state = Operation::kLaunched;
      continue;  // NCCL may still be enqueuing it
    }
    if (o.after) api_.check_cuda(o.after(stream_), o.what);
    record(api_, o, stream_);
    queue_.pop_front();
  }
}

bool is_done(const Api& api, const Operation& operation) {
  if (operation.state != Operation::kRecorded) return false;
  const int code = api.event_query(operation.event);
  if (code == kCudaNotReady) return false;
  api.check_cuda(code, operation.what);
  return true;
}

void record(const Api& api, Operation& operation, Stream stream) {
  api.check_cuda(api.event_create(&operation.event, kEventWithoutTime),
                 operation.what);
  api.check_cuda(api.event_record(operation.event, stream), operation.what);
  operation.state = Operation::kRecorded;
}

Stream make_stream(const Api& api) {
  Stream stream = nullptr;
  api.check_cuda(api.stream_create(&stream, kStreamNonBlocking), "connect");
  return stream;
}

}  // namespace sy::distributed::nccl
