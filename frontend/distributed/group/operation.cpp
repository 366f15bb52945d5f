#include "frontend/distributed/group/operation.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c10/dispatch/trace_interval.h"
#include "c10/process/error.h"
#include "frontend/distributed/group/member.h"
#include "frontend/distributed/group/rethrow.h"
#include "frontend/distributed/group/state.h"

namespace sy::distributed {

namespace {

// How often a call that does not go on looks whether it waits in vain.
constexpr auto kLook = std::chrono::milliseconds(2);
// An engine may know that a rank is gone before the store does.
constexpr auto kForNews = std::chrono::milliseconds(200);

// "rank 1 is gone (killed by signal 9)", if the store says so soon, else "".
std::string gone_soon(const Member& member) {
  const std::vector<int>& ranks = member.ranks();
  const Clock::time_point until = Clock::now() + kForNews;
  do {
    for (const Departure& d : member.store().departed()) {
      const auto it = std::find(ranks.begin(), ranks.end(), d.rank);
      if (it == ranks.end() || it - ranks.begin() == member.rank()) continue;
      std::string s = member.name_of(static_cast<int>(it - ranks.begin()));
      s += " is gone (";
      s += d.why;
      return s += ")";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (Clock::now() < until);
  return "";
}

}  // namespace

Operation::Operation(std::shared_ptr<Member> member, Call call)
    : member_(std::move(member)), call_(std::move(call)) {}

Operation::~Operation() = default;

bool Operation::step() noexcept {
  if (ended()) return false;
  const Clock::time_point now = Clock::now();
  if (!started_) {
    started_ = true;
    begun_ = last_move_ = last_look_ = now;
  }
  try {
    bool moved = false;
    if (advance_or_explain(&moved)) {
      end(nullptr);
      return true;
    }
    if (moved) {
      last_move_ = now;
      return true;
    }
    if (now - last_look_ >= kLook) {
      last_look_ = now;
      member_->check_stalled(*this, now, last_move_);
    }
    return false;
  } catch (...) {
    member_->fail(std::current_exception());
    end(std::current_exception());
    return true;
  }
}

bool Operation::advance_or_explain(bool* moved) {
  std::exception_ptr error;
  std::string why;
  try {
    return advance(moved);
  } catch (const Error& e) {
    error = std::current_exception();
    why = e.message();
  }
  const std::string gone = gone_soon(*member_);
  if (!gone.empty()) {
    std::string s = "[";
    s += call_.name;
    s += "] ";
    s += gone;
    s += "; this rank waits in ";
    s += describe();
    s += ": ";
    s += why;
    error = std::make_exception_ptr(Error(std::move(s)));
  }
  // Others may wait for this rank, and not for the one that is gone.
  member_->give_up(gone.empty() ? why : gone);
  std::rethrow_exception(error);
}

void Operation::end(std::exception_ptr error) noexcept {
  if (ended()) return;
  if (error_ == nullptr) error_ = std::move(error);
  if (error_ != nullptr) abandon();
  if (is_traced() && started_) {
    try {
      trace_interval("group " + member_->name(), call_.name, describe(), begun_,
                     Clock::now());
    } catch (...) {
      // A picture with a gap.
    }
  }
  if (!then) keep.clear();
  ended_.store(true, std::memory_order_release);
}

void Operation::finish() {
  if (error_ != nullptr) throw_copy(error_);
  if (!then) return;
  const std::lock_guard guard(finishing_);
  if (finished_) return;
  then();
  finished_ = true;
  keep.clear();
}

std::string Operation::describe() const {
  std::string s = call_.full_text();
  if (call_.tag < 0) {
    s += ", call ";
    s += std::to_string(sequence_);
  }
  s += " of group ";
  return s += member_->name();
}

Request::Request(Request&& o) noexcept
    : communicator_(o.communicator_),
      request_(std::exchange(o.request_, nullptr)),
      received_(o.received_) {}

Request& Request::operator=(Request&& o) noexcept {
  abandon();
  communicator_ = o.communicator_;
  request_ = std::exchange(o.request_, nullptr);
  received_ = o.received_;
  return *this;
}

Request::~Request() { abandon(); }

bool Request::test() {
  if (request_ == nullptr) return true;
  if (!communicator_->test(request_, &received_)) return false;
  request_ = nullptr;
  return true;
}

void Request::abandon() noexcept {
  if (request_ == nullptr) return;
  communicator_->abandon(std::exchange(request_, nullptr));
}

}  // namespace sy::distributed
