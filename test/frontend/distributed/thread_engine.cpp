#include "test/frontend/distributed/thread_engine.h"

#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "c10/device/device.h"
#include "c10/process/error.h"
#include "test/frontend/distributed/thread_state.h"
#include "test/frontend/distributed/thread_transfer.h"

namespace sy::distributed {

namespace {

using State = ThreadWorld::State;
using threads::bytes_of, threads::Clock, threads::Group, threads::kEagerBytes;
using threads::Rank, threads::Request;

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<State> state, Group& group,
                     std::string key, int world_rank, int rank)
      : state_(std::move(state)),
        group_(group),
        key_(std::move(key)),
        world_rank_(world_rank),
        rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override {
    return static_cast<int>(group_.world_ranks.size());
  }

  bool supports(Collective what, ScalarType dtype,
                ReduceOp op) const noexcept override {
    const std::lock_guard lock(state_->mutex);
    const bool minimum =
        dtype == ScalarType::Byte &&
        (what == Collective::kSend || what == Collective::kRecv ||
         what == Collective::kAllGather || what == Collective::kAllToAll);
    if (minimum) return true;
    if (state_->support == ThreadSupport::kBytes) return false;
    const bool reduces = what == Collective::kAllReduce ||
                         what == Collective::kReduce ||
                         what == Collective::kReduceScatter;
    if (!reduces) return true;
    if (op == ReduceOp::AVG) return false;
    const bool bits =
        op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR;
    if (bits && is_floating_type(dtype)) return false;
    return state_->support == ThreadSupport::kAll ||
           (!is_reduced_floating_type(dtype) && dtype != ScalarType::Bool);
  }

  void* begin(const Transfer& t) override {
    const std::lock_guard lock(state_->mutex);
    Rank& me = state_->ranks[static_cast<size_t>(world_rank_)];
    const int64_t nth = ++me.begun;
    SY_CHECK(nth != me.fail_begin, Error,
             "[thread engine] rank {} was told to fail at the beginning of "
             "transfer {}, {}",
             world_rank_, nth, text_of(t.what));
    check_peer(t);
    auto owned = std::make_unique<Request>();
    Request& r = *owned;
    r.t = t;
    r.group = &group_;
    r.world_rank = world_rank_;
    r.rank = rank_;
    r.nth = nth;
    r.ready = me.delay.count() > 0 ? Clock::now() + me.delay
                                   : Clock::time_point::min();
    const bool message =
        t.what == Collective::kSend || t.what == Collective::kRecv;
    r.sequence = message ? -1 : group_.begun[static_cast<size_t>(rank_)]++;
    if (t.what == Collective::kAllToAll) {
      r.in_counts.assign(t.in_counts, t.in_counts + size());
      r.out_counts.assign(t.out_counts, t.out_counts + size());
    }
    const bool eager =
        t.what == Collective::kSend && bytes_of(t) <= kEagerBytes;
    if (eager) {
      const char* const in = static_cast<const char*>(t.in);
      r.owned = true;
      if (t.count > 0) r.copy.assign(in, in + bytes_of(t));
    }
    state_->requests.emplace(&r, std::move(owned));
    me.waiting.push_back(&r);
    state_->progress();
    return eager ? nullptr : &r;
  }

  bool test(void* request, size_t* received) override {
    const std::lock_guard lock(state_->mutex);
    Rank& me = state_->ranks[static_cast<size_t>(world_rank_)];
    state_->progress();
    Request& r = *static_cast<Request*>(request);
    SY_CHECK(r.nth != me.fail_test, Error,
             "[thread engine] rank {} was told to fail in transfer {}, {}",
             world_rank_, r.nth, text_of(r.t.what));
    SY_CHECK(r.error.empty(), Error, "[thread engine] {}: {}",
             text_of(r.t.what), r.error);
    if (!r.done) return false;
    if (received != nullptr) *received = r.received;
    state_->requests.erase(&r);
    return true;
  }

  void abandon(void* request) noexcept override {
    const std::lock_guard lock(state_->mutex);
    state_->forget(*static_cast<Request*>(request));
  }

  Communicator* split(const int* ranks, int n, int tag) override {
    const std::lock_guard lock(state_->mutex);
    std::string key = key_ + "/" + std::to_string(tag) + ":";
    std::vector<int> world_ranks;
    int me = -1;
    for (int i = 0; i < n; ++i) {
      SY_CHECK(ranks[i] >= 0 && ranks[i] < size(), Value,
               "[thread engine] split: expected ranks below {}, got {}", size(),
               ranks[i]);
      if (ranks[i] == rank_) me = i;
      world_ranks.push_back(group_.world_ranks[static_cast<size_t>(ranks[i])]);
      key += std::to_string(ranks[i]) + ",";
    }
    SY_CHECK(me >= 0, Value,
             "[thread engine] split: expected rank {} among the ranks", rank_);
    // The same again is another group, on all ranks alike.
    key += "#" + std::to_string(group_.made[static_cast<size_t>(rank_)][key]++);
    Group& group = state_->group(key, world_ranks);
    return new ThreadCommunicator(state_, group, key, world_rank_, me);
  }

 private:
  void check_peer(const Transfer& t) const {
    SY_CHECK(t.peer >= 0 && t.peer < size(), Value,
             "[thread engine] {}: expected a peer below {}, got {}",
             text_of(t.what), size(), t.peer);
  }

  const std::shared_ptr<State> state_;
  Group& group_;
  const std::string key_;
  const int world_rank_, rank_;
};

class ThreadEngine final : public Engine {
 public:
  ThreadEngine(State& state, int rank) : state_(state), rank_(rank) {}

  const char* name() const noexcept override { return "threads"; }
  const char* version() const noexcept override { return "threads"; }
  int device_type() const noexcept override {
    const std::lock_guard lock(state_.mutex);
    return state_.device_type;
  }
  bool launched(int* rank, int* size) noexcept override {
    *rank = rank_;
    *size = state_.size;
    return true;
  }
  Communicator* connect(int rank, int size) override {
    SY_CHECK(rank == rank_ && size == state_.size, Value,
             "[thread engine] connect: expected rank {} of {}, got {} of {}",
             rank_, state_.size, rank, size);
    const std::lock_guard lock(state_.mutex);
    Rank& me = state_.ranks[static_cast<size_t>(rank_)];
    SY_CHECK(!me.connected, Error,
             "[thread engine] connect: rank {} is connected already", rank_);
    me.connected = true;
    std::vector<int> all;
    for (int i = 0; i < size; ++i) all.push_back(i);
    Group& world = state_.group("world", all);
    return new ThreadCommunicator(state_.shared_from_this(), world, "world",
                                  rank, rank);
  }
  void shutdown(bool) noexcept override {}

 private:
  State& state_;
  const int rank_;
};

}  // namespace

ThreadWorld::ThreadWorld(int size) : state_(std::make_shared<State>()) {
  state_->size = size;
  state_->ranks.resize(static_cast<size_t>(size));
  for (int r = 0; r < size; ++r) {
    state_->ranks[static_cast<size_t>(r)].engine =
        std::make_unique<ThreadEngine>(*state_, r);
  }
}
ThreadWorld::~ThreadWorld() = default;

int ThreadWorld::size() const noexcept { return state_->size; }

Engine& ThreadWorld::engine(int rank) {
  return *state_->ranks.at(static_cast<size_t>(rank)).engine;
}

void ThreadWorld::run(const std::function<void(int rank)>& f) {
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size()));
  std::vector<std::thread> threads;
  for (int r = 0; r < size(); ++r) {
    threads.emplace_back([&f, r, &error = errors[static_cast<size_t>(r)]] {
      try {
        f(r);
      } catch (...) {
        error = std::current_exception();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& e : errors) {
    if (e != nullptr) std::rethrow_exception(e);
  }
}

void ThreadWorld::set_support(ThreadSupport support) {
  const std::lock_guard lock(state_->mutex);
  state_->support = support;
}
void ThreadWorld::set_backwards(bool on) {
  const std::lock_guard lock(state_->mutex);
  state_->backwards = on;
}
void ThreadWorld::set_device_type(int type) {
  const std::lock_guard lock(state_->mutex);
  state_->device_type = type;
}
void ThreadWorld::delay(int rank, std::chrono::milliseconds by) {
  const std::lock_guard lock(state_->mutex);
  state_->ranks.at(static_cast<size_t>(rank)).delay = by;
}
void ThreadWorld::vanish(int rank, int64_t nth) {
  const std::lock_guard lock(state_->mutex);
  state_->ranks.at(static_cast<size_t>(rank)).vanish = nth;
}
void ThreadWorld::fail_begin(int rank, int64_t nth) {
  const std::lock_guard lock(state_->mutex);
  state_->ranks.at(static_cast<size_t>(rank)).fail_begin = nth;
}
void ThreadWorld::fail_test(int rank, int64_t nth) {
  const std::lock_guard lock(state_->mutex);
  state_->ranks.at(static_cast<size_t>(rank)).fail_test = nth;
}
int64_t ThreadWorld::begun(int rank) const {
  const std::lock_guard lock(state_->mutex);
  return state_->ranks.at(static_cast<size_t>(rank)).begun;
}
int64_t ThreadWorld::pending() const {
  const std::lock_guard lock(state_->mutex);
  int64_t n = 0;
  for (const auto& [request, owned] : state_->requests) n += !request->owned;
  return n;
}

}  // namespace sy::distributed
