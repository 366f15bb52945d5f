#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "frontend/distributed/context.h"
#include "frontend/distributed/group/host_communicator.h"
#include "frontend/distributed/group/meeting.h"
#include "frontend/distributed/group/member.h"
#include "frontend/distributed/group/progress.h"
#include "frontend/distributed/store/tcp_store.h"

namespace sy::distributed {

// Counts what a fork leaves behind.
class Unforkable {
 public:
  Unforkable() noexcept;
  ~Unforkable();
  Unforkable(const Unforkable&) = delete;
  Unforkable& operator=(const Unforkable&) = delete;
};

// The parts of a Context. Groups are guarded by `groups_lock`, the rest does
// not change until destroy().
class Context::State {
 public:
  Context* owner = nullptr;
  InitOptions options;
  Engine* engine = nullptr;  // nullptr: a world of one
  int rank = 0, size = 1;
  Milliseconds timeout{300'000};
  std::unique_ptr<TcpStoreServer> server;  // of rank 0, without sy launch
  std::shared_ptr<Store> store;
  bool store_ends_with_rank0 = false;
  // How often this rank has called init with this store. Ranks do it alike, so
  // that what they leave there is told from what was before.
  int64_t times_begun = 1;
  // The parts for an engine that moves the memory of a device: its ranks meet
  // by `meeting_store` and `meeting`, and `host` moves the host's memory.
  std::shared_ptr<Store> meeting_store;
  std::unique_ptr<Meeting> meeting;
  std::unique_ptr<HostCommunicator> host;
  std::unique_ptr<Communicator> base;
  Progress progress;
  mutable std::mutex groups_lock;
  std::map<std::string, std::shared_ptr<ProcessGroup>, std::less<>> groups;
  std::shared_ptr<ProcessGroup> world;
  int groups_made = 0;
  std::atomic<bool> destroyed{false};
  std::string last_words;  // what the groups of a destroyed one did
  // Whether an engine may still use memory, so that it cannot end in order.
  std::atomic<bool> broken{false};
  const Unforkable unforkable;

  // The communicator of all ranks, for memory of the host.
  Communicator& host_base() const noexcept {
    return host != nullptr ? *host : *base;
  }
  // "rank 1 of 4", for a store's `ask`.
  std::string status() const;
  // Called when it ends, while its groups are there.
  void note_last_words() noexcept;

 private:
  std::string status_of_groups() const;  // needs groups_lock
};

// Throws Error in a process that was forked from the one that called init.
void check_not_forked();
bool is_forked() noexcept;

}  // namespace sy::distributed
