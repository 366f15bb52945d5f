#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "frontend/distributed/context.h"
#include "frontend/distributed/engine.h"
#include "frontend/distributed/group/operation.h"
#include "frontend/distributed/group/progress.h"

namespace sy::distributed {

// This rank's part of a group. Unless it says otherwise, the lock of the
// Progress guards everything.
class Member {
 public:
  Member(std::shared_ptr<Context::State> state, std::string name,
         std::vector<int> ranks, int rank);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // ---- does not change

  const std::string& name() const noexcept { return name_; }
  const std::vector<int>& ranks() const noexcept { return ranks_; }
  int rank() const noexcept { return rank_; }
  // "rank 1", or "rank 1 (2 of the world)" if the world has another number.
  std::string name_of(int rank) const;
  int size() const noexcept { return static_cast<int>(ranks_.size()); }
  Context::State& state() const noexcept { return *state_; }
  Store& store() const noexcept;
  Progress& progress() const noexcept;
  Engine& engine() const noexcept;

  std::atomic<int64_t> timeout_ms{0};
  std::atomic<bool> deterministic{false};

  // ---- calls

  // Makes the communicators; other ranks do the same. Waits for them.
  void connect(Communicator& base, int tag);
  // Gives the communicators back; not `clean`: the engine may still use them.
  void disconnect(bool clean) noexcept;
  // The communicators for memory of the host; two, so that large data delays no
  // check.
  Communicator& control() const noexcept { return *control_; }
  Communicator& data() const noexcept { return *data_; }
  // The communicator for memory of the engine's device; nullptr if that is the
  // host.
  Communicator* device_data() const noexcept { return device_data_.get(); }
  uint64_t group_hash() const noexcept { return group_hash_; }

  // Numbers the call and puts it into the queue; send and recv beside it.
  // Throws the group's error if it has failed, or is no more.
  void push(const std::shared_ptr<Operation>& op);
  // Whether no earlier send or recv of the same rank and tag is under way.
  bool is_next_beside(const Operation& op) const noexcept;
  // Lets calls go on; returns whether anything happened.
  bool step(bool* left) noexcept;
  // Called while a call does not go on: throws if it waits in vain.
  void check_stalled(Operation& op, Clock::time_point now,
                     Clock::time_point stalled_since);
  // Ends all calls with the error, and refuses later ones.
  void fail(std::exception_ptr error) noexcept;
  bool failed() const noexcept { return failed_ != nullptr; }
  // The same after destroy_process_group().
  void close() noexcept;

  // Says what this rank is doing in the group; any thread may call it, without
  // the lock.
  std::string status() const;
  // Says that no rank of the group should wait any longer, and why.
  void give_up(const std::string& why) noexcept;

  // Buffers of the exchange before a call, used by one call at a time; made by
  // the first, abandoned with a call that failed.
  std::vector<std::unique_ptr<char[]>> outgoing, incoming;

 private:
  // The rank of the group that is gone, so that the call waits in vain; -1 for
  // none.
  int gone_rank(const Operation& op, Clock::duration stalled) const;
  std::string who_does_what(const Operation& op) const;
  // For status().
  void note(const std::shared_ptr<Operation>& op, bool ended) noexcept;

  const std::shared_ptr<Context::State> state_;
  const std::string name_;
  const std::vector<int> ranks_;
  const int rank_;
  const uint64_t group_hash_;
  std::unique_ptr<Communicator> control_, data_, device_data_;
  uint64_t sequence_ = 0, p2p_sequence_ = 0;
  std::deque<std::shared_ptr<Operation>> queue_;
  std::vector<std::shared_ptr<Operation>> beside_;
  std::exception_ptr failed_;
  Clock::time_point last_look_{};  // at what other ranks say
  bool closed_ = false;

  mutable std::mutex status_lock_;
  std::shared_ptr<Operation> current_, last_;
  Clock::time_point since_{};
};

}  // namespace sy::distributed
