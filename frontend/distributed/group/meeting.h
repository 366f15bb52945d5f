#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "frontend/distributed/engine.h"
#include "frontend/distributed/store/store.h"

namespace sy::distributed {

// An engine's Rendezvous through the store. While ranks connect it ends the
// engine's wait if one of them is gone, has failed, or does not come in time.
class Meeting {
 public:
  // `store` outlives it.
  Meeting(Store& store, const char* engine, int rank);
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  Rendezvous rendezvous() noexcept;

  // The ranks of a group connect, numbers of the world, by calling `connect`.
  // Its error is told to the others.
  template <class F>
  auto connect(const std::string& group, std::vector<int> ranks,
               Milliseconds timeout, const F& connect) {
    begin(group, std::move(ranks), timeout);
    try {
      auto* const made = connect();
      ranks_.clear();
      return made;
    } catch (const std::exception& e) {
      say_failed(e.what());
      throw;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  void begin(const std::string& group, std::vector<int> ranks,
             Milliseconds timeout);
  void say_failed(const char* why) noexcept;
  // Throws Error if the wait is in vain.
  void check();

  Store& store_;
  const char* const engine_;
  const int rank_;
  std::string group_;
  std::vector<int> ranks_;  // that connect now
  Clock::time_point until_{}, next_look_{};
  Milliseconds timeout_{0};
};

}  // namespace sy::distributed
