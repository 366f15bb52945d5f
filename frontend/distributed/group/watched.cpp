#include "frontend/distributed/group/watched.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "c10/process/error.h"

namespace sy::distributed {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kLook{20}, kAnswer{300}, kAllAnswers{2000};
// The engine may need no more of a rank that is gone.
constexpr Milliseconds kGrace{300};

struct Result {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  Communicator* made = nullptr;
  std::exception_ptr error;
};

// "rank 1 is gone (killed by signal 9)"; "" if all are there. A rank that ended
// in order had connected.
std::string who_is_gone(const Watch& w) {
  if (w.store == nullptr || w.store->departures() == 0) return "";
  for (const Departure& d : w.store->departed()) {
    if (d.clean || d.rank == w.self ||
        std::find(w.ranks.begin(), w.ranks.end(), d.rank) == w.ranks.end()) {
      continue;
    }
    std::string s = "rank ";
    s += std::to_string(d.rank);
    s += " is gone (";
    s += d.why;
    return s += ")";
  }
  return "";
}

// ": rank 1 does not answer"; "" if nobody knows more.
std::string who_is_silent(const Watch& w) {
  std::string s;
  if (w.store == nullptr) return s;
  const auto until = Clock::now() + kAllAnswers;
  for (const int r : w.ranks) {
    const auto left =
        std::chrono::duration_cast<Milliseconds>(until - Clock::now());
    if (r == w.self ||
        w.store->ask(r, std::clamp(left, Milliseconds(10), kAnswer))) {
      continue;
    }
    s += s.empty() ? ": " : ", ";
    s += "rank ";
    s += std::to_string(r);
  }
  if (!s.empty()) s += " does not answer: it is stopped, or its machine hangs";
  return s;
}

}  // namespace

Communicator* watched(const Watch& watch, std::function<Communicator*()> f) {
  const auto result = std::make_shared<Result>();
  std::thread([result, f = std::move(f)] {
    Communicator* made = nullptr;
    std::exception_ptr error;
    try {
      made = f();
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(result->mutex);
    result->made = made;
    result->error = std::move(error);
    result->done = true;
    result->changed.notify_all();
  }).detach();
  const auto until = Clock::now() + watch.timeout;
  std::optional<Clock::time_point> gone_since;
  std::unique_lock lock(result->mutex);
  const auto is_done = [&] { return result->done; };
  while (!result->changed.wait_for(lock, kLook, is_done)) {
    const std::string gone = who_is_gone(watch);
    if (gone.empty()) {
      gone_since.reset();
    } else if (!gone_since) {
      gone_since = Clock::now();
    }
    SY_CHECK(!gone_since || Clock::now() - *gone_since < kGrace, Error,
             "[{}] {} while the ranks of group {} connect", watch.op, gone,
             watch.group);
    SY_CHECK(Clock::now() < until, Error,
             "[{}] the ranks of group {} did not connect within {} ms{}",
             watch.op, watch.group, watch.timeout.count(),
             who_is_silent(watch));
  }
  if (result->error != nullptr) std::rethrow_exception(result->error);
  return result->made;
}

}  // namespace sy::distributed
