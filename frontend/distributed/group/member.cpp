#include "frontend/distributed/group/member.h"

#include <algorithm>
#include <utility>

#include "c10/process/error.h"
#include "frontend/distributed/group/abandoned.h"
#include "frontend/distributed/group/state.h"
#include "frontend/distributed/group/watched.h"

namespace sy::distributed {

namespace {

using std::chrono::milliseconds;

// How long a call stands still before a departed rank of its group ends it:
// what that rank sent may still be on the way. A rank whose program ended in
// order may have sent its part of this call.
constexpr milliseconds kGraceUnclean{50}, kGraceClean{400};
// The time after which, and the interval at which, a call that stands still
// looks whether another rank has given up.
constexpr milliseconds kLookAtOthers{100};
constexpr milliseconds kAnswer{300}, kAllAnswers{2000};

std::string gave_up_key(const std::string& group) {
  std::string key = "gave_up/";
  return key += group;
}

std::string text_of_seconds(Clock::duration d) {
  const auto tenths = std::chrono::duration_cast<milliseconds>(d).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

Member::Member(std::shared_ptr<Context::State> state, std::string name,
               std::vector<int> ranks, int rank)
    : state_(std::move(state)),
      name_(std::move(name)),
      ranks_(std::move(ranks)),
      rank_(rank),
      group_hash_(mixed(0, name_)) {
  timeout_ms = state_->timeout.count();
  deterministic = state_->options.deterministic;
}

Member::~Member() = default;

Store& Member::store() const noexcept { return *state_->store; }
Progress& Member::progress() const noexcept { return state_->progress; }
Engine& Member::engine() const noexcept { return *state_->engine; }

void Member::connect(Communicator& base, int tag) {
  if (size() == 1) return;
  const std::vector<int>& r = ranks_;
  const int n = size();
  Communicator& host = state_->host_base();
  if (state_->host == nullptr) {
    const Watch watch{tag == 0 ? "init" : "new_group",
                      name_,
                      r,
                      state_->rank,
                      Milliseconds(timeout_ms),
                      state_->store.get()};
    try {
      for (auto* c : {&control_, &data_}) {
        const int number = 2 * tag + (c == &data_ ? 1 : 0);
        c->reset(watched(watch, [r, &host, number] {
          return host.split(r.data(), static_cast<int>(r.size()), number);
        }));
      }
    } catch (...) {
      disconnect(false);
      throw;
    }
    return;
  }
  control_.reset(host.split(r.data(), n, 2 * tag));
  data_.reset(host.split(r.data(), n, 2 * tag + 1));
  device_data_.reset(state_->meeting->connect(
      name_, r, Milliseconds(timeout_ms),
      [&] { return base.split(r.data(), n, 2 * tag + 1); }));
}

void Member::disconnect(bool clean) noexcept {
  if (clean) {
    control_.reset();
    data_.reset();
    device_data_.reset();
  } else {
    for (auto* c : {&control_, &data_, &device_data_}) {
      keep_for_ever(c->release());
    }
  }
}

void Member::push(const std::shared_ptr<Operation>& op) {
  if (failed_ != nullptr) std::rethrow_exception(failed_);
  SY_CHECK(!closed_, Error,
           "[{}] group {} is no more: destroy_process_group() was called",
           op->call().name, name_);
  const bool beside = op->call().tag >= 0;
  op->sequence_ = beside ? ++p2p_sequence_ : ++sequence_;
  if (beside) {
    beside_.push_back(op);
  } else {
    queue_.push_back(op);
  }
  if (beside || queue_.size() == 1) note(op, false);
}

bool Member::is_next_beside(const Operation& op) const noexcept {
  const Call& mine = op.call();
  for (const auto& o : beside_) {
    if (o.get() == &op) return true;
    const Call& c = o->call();
    if (c.what == mine.what && c.root == mine.root && c.tag == mine.tag) {
      return false;
    }
  }
  return true;
}

bool Member::step(bool* left) noexcept {
  bool moved = false;
  while (!queue_.empty()) {
    const std::shared_ptr<Operation> op = queue_.front();
    moved |= op->step();
    if (!op->ended()) break;
    note(op, true);
    // A failure has emptied the queue.
    if (!queue_.empty() && queue_.front() == op) queue_.pop_front();
    if (!queue_.empty()) note(queue_.front(), false);
  }
  for (size_t i = 0; i < beside_.size();) {
    const std::shared_ptr<Operation> op = beside_[i];
    moved |= op->step();
    if (!op->ended()) {
      ++i;
      continue;
    }
    note(op, true);
    std::erase(beside_, op);
  }
  *left = !queue_.empty() || !beside_.empty();
  return moved;
}

void Member::check_stalled(Operation& op, Clock::time_point now,
                           Clock::time_point stalled_since) {
  const auto stalled = now - stalled_since;
  const int gone = gone_rank(op, stalled);
  if (gone >= 0 ||
      (stalled > kLookAtOthers && now - last_look_ > kLookAtOthers)) {
    last_look_ = now;
    // The reason that another rank found first is the true one.
    const auto why = store().find(gave_up_key(name_));
    SY_CHECK(!why, Error, "[{}] group {} has failed: {}; this rank waits in {}",
             op.call().name, name_, *why, op.describe());
  }
  if (gone >= 0) {
    std::string why = name_of(gone);
    why += " is gone (";
    for (const Departure& d : store().departed()) {
      if (d.rank == ranks_[static_cast<size_t>(gone)]) why += d.why;
    }
    why += ")";
    give_up(why);
    sy::fail(ErrorKind::Error, "[{}] {}; this rank waits in {}", op.call().name,
             why, op.describe());
  }
  const milliseconds timeout(timeout_ms.load());
  if (stalled <= timeout) return;
  std::string why = "not all ranks came within ";
  why += text_of_seconds(timeout);
  why += who_does_what(op);
  give_up(why);
  sy::fail(ErrorKind::Error, "[{}] {}: {}", op.call().name, op.describe(), why);
}

int Member::gone_rank(const Operation& op, Clock::duration stalled) const {
  if (store().departures() == 0) return -1;
  for (const Departure& d : store().departed()) {
    const auto it = std::find(ranks_.begin(), ranks_.end(), d.rank);
    if (it == ranks_.end()) continue;
    const int r = static_cast<int>(it - ranks_.begin());
    if (r == rank_ || (op.call().tag >= 0 && op.call().root != r)) continue;
    if (stalled >= (d.clean ? kGraceClean : kGraceUnclean)) return r;
  }
  return -1;
}

std::string Member::name_of(int rank) const {
  std::string s = "rank ";
  s += std::to_string(rank);
  const int world = ranks_[static_cast<size_t>(rank)];
  if (world == rank) return s;
  s += " (";
  s += std::to_string(world);
  return s += " of the world)";
}

std::string Member::who_does_what(const Operation& op) const {
  std::string s;
  const Clock::time_point until = Clock::now() + kAllAnswers;
  for (int r = 0; r < size(); ++r) {
    s += "\n  ";
    s += name_of(r);
    s += ": ";
    if (r == rank_) {
      s += "waits in ";
      s += op.describe();
      continue;
    }
    const int world = ranks_[static_cast<size_t>(r)];
    const auto left =
        std::chrono::duration_cast<milliseconds>(until - Clock::now());
    const auto answer =
        store().ask(world, std::clamp(left, milliseconds(10), kAnswer));
    s += answer ? *answer
                : "does not answer: it is stopped, its machine hangs, or it "
                  "never started";
  }
  return s;
}

void Member::fail(std::exception_ptr error) noexcept {
  if (failed_ == nullptr) failed_ = error;
  state_->broken = true;
  while (!queue_.empty()) {
    const std::shared_ptr<Operation> op = queue_.front();
    queue_.pop_front();
    op->end(error);
  }
  for (const auto& op : std::exchange(beside_, {})) op->end(error);
  // The engine may still write there.
  for (auto* list : {&outgoing, &incoming}) {
    for (std::unique_ptr<char[]>& b : *list) keep_for_ever(b.release());
    list->clear();
  }
}

void Member::give_up(const std::string& why) noexcept {
  try {
    std::string text = name_of(rank_);
    text += " has given up: ";
    text += why;
    store().set(gave_up_key(name_), text);
  } catch (...) {
    // The others find out by themselves.
  }
}

void Member::close() noexcept {
  const bool busy = !queue_.empty() || !beside_.empty();
  if (busy) {
    fail(std::make_exception_ptr(
        Error("group " + name_ +
              " ended while a call was under way: destroy_process_group() was "
              "called")));
  }
  closed_ = true;
  const std::lock_guard guard(status_lock_);
  current_.reset();
  last_.reset();
}

void Member::note(const std::shared_ptr<Operation>& op, bool ended) noexcept {
  const std::lock_guard guard(status_lock_);
  if (!ended) {
    current_ = op;
  } else if (current_ == op) {
    last_ = std::move(current_);
    current_.reset();
  } else {
    last_ = op;
  }
  since_ = Clock::now();
}

std::string Member::status() const {
  const std::lock_guard guard(status_lock_);
  if (current_ == nullptr && last_ == nullptr) return "";
  std::string s;
  if (current_ != nullptr) {
    s = "waits in ";
    s += current_->describe();
  } else {
    s = "is in no call; the last was ";
    s += last_->describe();
    if (last_->error() != nullptr) s += ", which failed";
  }
  s += ", ";
  s += text_of_seconds(Clock::now() - since_);
  return s += current_ != nullptr ? "" : " ago";
}

}  // namespace sy::distributed
