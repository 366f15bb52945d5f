#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "frontend/distributed/engine.h"
#include "frontend/distributed/nccl/channel.h"

namespace sy::distributed::nccl {

class NcclCommunicator;

// The state that all communicators of an engine share.
struct Shared {
  const Api* api = nullptr;
  Rendezvous rendezvous;
  int device = 0;
  std::vector<NcclCommunicator*> all;
};

// Collectives on one channel. NCCL knows no tags and its messages wait for each
// other, so messages have a channel for each sender, receiver and tag, made by
// the first: few tags are best. A recv's count must be what is sent. Memory
// must be ready when a transfer begins: the streams that write it have been
// waited for.
class NcclCommunicator final : public Communicator {
 public:
  // Registers with `shared`, which outlives it.
  NcclCommunicator(Shared& shared, std::string key, int rank, int size);
  ~NcclCommunicator() override;

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  // No barrier; no reductions of int16 and bool nor by bits, which NCCL does
  // not know, nor MIN and MAX of floating dtypes, for which it does not say
  // what becomes of NaN.
  bool supports(Collective what, ScalarType dtype,
                ReduceOp op) const noexcept override;
  void* begin(const Transfer& t) override;
  bool test(void* request, size_t* received) override;
  void abandon(void* request) noexcept override;
  Communicator* split(const int* ranks, int n, int tag) override;

  // Waits until all ranks have joined.
  void wait_for_all();

 private:
  using Message = std::tuple<int, int, int>;  // from, to, tag
  // The messages of a rank to itself.
  struct Mail {
    std::deque<std::pair<const void*, std::shared_ptr<Operation>>> sends;
    std::deque<std::pair<void*, std::shared_ptr<Operation>>> recvs;
  };

  void begin_collective(const Transfer& t, std::shared_ptr<Operation> o);
  void begin_message(const Transfer& t, std::shared_ptr<Operation> o);
  void begin_message_to_self(const Transfer& t, std::shared_ptr<Operation> o);
  // Errors are kept for the next call.
  void progress() noexcept;
  void raise() const;

  Shared& shared_;
  const std::string key_;
  const int rank_, size_;
  Channel collectives_;
  std::map<Message, std::unique_ptr<Channel>> messages_;
  std::map<int, Mail> to_self_;
  Stream self_stream_ = nullptr;
  std::map<std::string, int> splits_;
  std::string error_;
};

}  // namespace sy::distributed::nccl
