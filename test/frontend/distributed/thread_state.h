#pragma once

#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "c10/device/device.h"
#include "test/frontend/distributed/thread_engine.h"
#include "test/frontend/distributed/thread_transfer.h"

// The state that the ranks of a ThreadWorld share. Internal to
// thread_engine.cpp.

namespace sy::distributed {

namespace threads {

using Clock = std::chrono::steady_clock;

// Sends up to this size are done when they begin, as those of MPI.
inline constexpr size_t kEagerBytes = 1024;

struct Group;

struct Request : ThreadTransfer {
  Group* group = nullptr;
  int world_rank = 0, rank = 0;
  int64_t nth = 0;       // of the rank's transfers
  int64_t sequence = 0;  // of the group's collectives
  Clock::time_point ready;
  bool done = false;
  size_t received = 0;
  std::string error;
  std::vector<char> copy;  // what an eager send has
  bool owned = false;      // by nobody: an eager send
};

// One collective of a group.
struct Slot {
  std::vector<Request*> ranks;
  size_t there = 0;
  bool broken = false;  // a rank has abandoned it
};

// Messages from one rank to another with one tag.
struct Mail {
  std::deque<Request*> sends, recvs;
};

struct Group {
  std::vector<int> world_ranks;
  std::vector<int64_t> begun;                    // collectives of each rank
  std::vector<std::map<std::string, int>> made;  // groups out of it
  std::map<int64_t, Slot> slots;
  std::map<std::tuple<int, int, int>, Mail> mail;
};

struct Rank {
  std::unique_ptr<Engine> engine;
  std::deque<Request*> waiting;  // have not reached others yet
  int64_t begun = 0;
  bool connected = false;
  std::chrono::milliseconds delay{0};
  int64_t vanish = 0, fail_begin = 0, fail_test = 0;  // 0: never
};

inline size_t bytes_of(const Transfer& t) {
  return static_cast<size_t>(t.count) * element_size(t.dtype);
}

}  // namespace threads

struct ThreadWorld::State : std::enable_shared_from_this<ThreadWorld::State> {
  std::mutex mutex;  // of all below
  int size = 0;
  ThreadSupport support = ThreadSupport::kAll;
  bool backwards = false;
  int device_type = static_cast<int>(kCPU);
  std::vector<threads::Rank> ranks;
  std::map<std::string, std::unique_ptr<threads::Group>> groups;
  std::map<threads::Request*, std::unique_ptr<threads::Request>> requests;

  // All are called with the mutex held.
  threads::Group& group(const std::string& key,
                        const std::vector<int>& world_ranks) {
    auto& g = groups[key];
    if (g == nullptr) {
      g = std::make_unique<threads::Group>();
      g->world_ranks = world_ranks;
      g->begun.resize(world_ranks.size());
      g->made.resize(world_ranks.size());
    }
    return *g;
  }

  void deliver(threads::Request& send, threads::Request& recv) {
    const size_t n = threads::bytes_of(send.t);
    const void* const from = send.owned ? send.copy.data() : send.t.in;
    if (n > threads::bytes_of(recv.t)) {
      recv.error = "expected at most " +
                   std::to_string(threads::bytes_of(recv.t)) +
                   " bytes from rank " + std::to_string(recv.t.peer) +
                   ", got " + std::to_string(n);
    } else if (n > 0) {
      std::memcpy(recv.t.out, from, n);
    }
    recv.received = n;
    recv.done = send.done = true;
    if (send.owned) requests.erase(&send);
  }

  void post_message(threads::Request& r) {
    const bool sends = r.t.what == Collective::kSend;
    const int from = sends ? r.rank : r.t.peer;
    const int to = sends ? r.t.peer : r.rank;
    threads::Mail& mail = r.group->mail[{from, to, r.t.tag}];
    (sends ? mail.sends : mail.recvs).push_back(&r);
    while (!mail.sends.empty() && !mail.recvs.empty()) {
      threads::Request &send = *mail.sends.front(), &recv = *mail.recvs.front();
      mail.sends.pop_front();
      mail.recvs.pop_front();
      deliver(send, recv);
    }
  }

  void post_collective(threads::Request& r) {
    threads::Slot& slot = r.group->slots[r.sequence];
    slot.ranks.resize(r.group->world_ranks.size());
    slot.ranks[static_cast<size_t>(r.rank)] = &r;
    if (++slot.there < slot.ranks.size() || slot.broken) return;
    const std::vector<ThreadTransfer*> all(slot.ranks.begin(),
                                           slot.ranks.end());
    const std::string error = move_between(all, backwards);
    for (threads::Request* one : slot.ranks) {
      one->error = error;
      one->done = true;
    }
    r.group->slots.erase(r.sequence);
  }

  void progress() {
    for (threads::Rank& r : ranks) progress(r);
  }

  // Lets the requests of a rank that are due reach the others.
  void progress(threads::Rank& rank) {
    while (!rank.waiting.empty()) {
      threads::Request& r = *rank.waiting.front();
      if (r.ready > threads::Clock::now()) return;
      if (rank.vanish > 0 && r.nth >= rank.vanish) return;
      rank.waiting.pop_front();
      if (r.t.what == Collective::kSend || r.t.what == Collective::kRecv) {
        post_message(r);
      } else {
        post_collective(r);
      }
    }
  }

  // Removes it from wherever it is; the others' transfers stay undone.
  void forget(threads::Request& r) {
    std::erase(ranks[static_cast<size_t>(r.world_rank)].waiting, &r);
    for (auto& [key, mail] : r.group->mail) {
      std::erase(mail.sends, &r);
      std::erase(mail.recvs, &r);
    }
    const auto slot = r.group->slots.find(r.sequence);
    if (slot != r.group->slots.end()) {
      for (threads::Request*& one : slot->second.ranks) {
        if (one != &r) continue;
        one = nullptr;
        slot->second.broken = true;
      }
    }
    requests.erase(&r);
  }
};

}  // namespace sy::distributed
