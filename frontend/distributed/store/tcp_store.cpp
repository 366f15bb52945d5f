#include "frontend/distributed/store/tcp_store.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "c10/process/error.h"
#include "frontend/distributed/store/store_state.h"
#include "frontend/distributed/store/tcp_store_wire.h"

namespace sy::distributed {

namespace {

using wire::Kind;
using wire::Message;

// How long leave() waits for the server's word.
constexpr Milliseconds kGoodbye(2'000);
constexpr size_t kLongestAnswer = size_t{1} << 20;
constexpr int kRoundTrips = 16;

// A reply, kept beyond the next receive().
struct Reply {
  Kind kind;
  int64_t number;
  std::string value;
};

}  // namespace

// Callers wait under the mutex for the thread to bring their replies. Sending
// does not block: the thread sends what the system does not take at once.
class TcpStore::State {
 public:
  State(const std::string& host, uint16_t port, Milliseconds timeout,
        const std::string& secret)
      : where_(host_and_port(host, port)),
        link_(wire::connect(host, port, timeout, secret)) {
    thread_ = quiet_thread([this] { run(); });
  }

  ~State() {
    stop_.store(true);
    waker_.wake();
    thread_.join();
    link_.socket().shut_down();
  }

  const ForkCheck fork_check;

  const std::string& where() const noexcept { return where_; }

  int departures() const noexcept {
    return departures_.load(std::memory_order_acquire);
  }

  std::vector<Departure> departed() const {
    fork_check.check(where_);
    const std::lock_guard lock(mutex_);
    return departed_;
  }

  // nullopt if no reply comes by the deadline.
  std::optional<Reply> call(const char* op, Message m,
                            SteadyClock::time_point deadline) {
    check_caller(op);
    SY_CHECK(m.key.size() + m.value.size() <= wire::kMaxContents, Value,
             "[distributed] {}: expected a key and a value of at most {} bytes "
             "together, got {}",
             op, wire::kMaxContents, m.key.size() + m.value.size());
    Waiting waiting;
    std::unique_lock lock(mutex_);
    check_connected();
    m.id = ++last_id_;
    link_.post(m);
    waiting_.emplace(m.id, &waiting);
    send();
    waiting.changed.wait_until(lock, deadline,
                               [&] { return waiting.reply || lost_; });
    waiting_.erase(m.id);
    if (waiting.reply) return std::move(waiting.reply);
    check_connected();
    if (m.kind == Kind::kGet || m.kind == Kind::kAsk) {
      link_.post({.kind = Kind::kCancel, .id = m.id});
      send();
    }
    return std::nullopt;
  }

  void join(int rank, std::function<std::string()> answer,
            Milliseconds timeout) {
    check_caller("join");
    const std::lock_guard joining(join_mutex_);
    SY_CHECK(rank_ < 0 || rank_ == rank, Value,
             "[distributed] join rank: this store is used by rank {}, got {}",
             rank_, rank);
    // Questions may come before the reply does.
    answer_with(std::move(answer));
    try {
      const std::optional<Reply> reply =
          call("join", {.kind = Kind::kJoin, .number = rank},
               deadline_after(timeout));
      if (!reply) fail_silent("join", timeout);
      SY_CHECK(reply->kind == Kind::kDone, Value,
               "[distributed] rank {} has joined twice: two programs use the "
               "store at {}",
               rank, where_);
    } catch (...) {
      if (rank_ < 0) answer_with(nullptr);
      throw;
    }
    rank_ = rank;
  }

  void leave() noexcept {
    if (fork_check.forked() || on_thread()) return;
    // While a join() lasts there is nothing to leave yet.
    const std::unique_lock joining(join_mutex_, std::try_to_lock);
    if (!joining || std::exchange(rank_, -1) < 0) return;
    answer_with(nullptr);
    try {
      // Without the reply, data that nobody has read could make the system
      // throw away what was sent when the socket is closed.
      call("leave", {.kind = Kind::kLeave}, deadline_after(kGoodbye));
    } catch (const std::exception&) {
      // The server is gone already.
    }
  }

  void check_room(const char* op, const Reply& reply) const {
    SY_CHECK(reply.kind != Kind::kFull, Error,
             "[distributed] {}: the store at {} holds as much as it may", op,
             where_);
  }

  [[noreturn]] void fail_silent(const char* op, Milliseconds timeout) const {
    fail(ErrorKind::Error,
         "[distributed] {}: no reply within {} s from the store at {}", op,
         seconds(timeout), where_);
  }

 private:
  struct Waiting {
    std::condition_variable changed;
    std::optional<Reply> reply;
  };

  bool on_thread() const noexcept {
    return std::this_thread::get_id() == thread_id_.load();
  }

  void check_caller(const char* op) const {
    fork_check.check(where_);
    SY_CHECK(!on_thread(), Error,
             "[distributed] {}: called by the function that answers for the "
             "rank, whose thread brings the reply",
             op);
  }

  void check_connected() const {
    SY_CHECK(!lost_, Error, "[distributed] lost the store at {}", where_);
  }

  void answer_with(std::function<std::string()> answer) {
    const std::lock_guard lock(answer_mutex_);
    answer_ = std::move(answer);
  }

  // The thread learns of an error when it reads.
  void send() {
    if (link_.flush() && link_.unsent()) waker_.wake();
  }

  void run() noexcept {
    thread_id_.store(std::this_thread::get_id());
    try {
      while (turn()) {
      }
    } catch (const std::exception&) {
      // No memory for what came.
    }
    const std::lock_guard lock(mutex_);
    lost_ = true;
    for (const auto& [id, waiting] : waiting_) waiting->changed.notify_one();
  }

  // Waits for something to do and does it. False: that was the last.
  bool turn() {
    pollfd polled[2] = {{link_.socket().fd(), POLLIN, 0},
                        {waker_.socket().fd(), POLLIN, 0}};
    {
      const std::lock_guard lock(mutex_);
      if (link_.unsent()) polled[0].events |= POLLOUT;
    }
    if (::poll(polled, 2, -1) < 0) return errno == EINTR;
    if (stop_.load()) return false;
    if (polled[1].revents != 0) waker_.drain();
    if ((polled[0].revents & POLLOUT) != 0) {
      const std::lock_guard lock(mutex_);
      link_.flush();
    }
    if ((polled[0].revents & ~POLLOUT) == 0) return true;
    const bool open = link_.receive();
    while (const std::optional<Message> m = link_.next()) handle(*m);
    return open && !link_.malformed();
  }

  void handle(const Message& m) {
    if (m.kind == Kind::kQuestion) return reply_to(m.id);
    const std::lock_guard lock(mutex_);
    const int rank = static_cast<int>(m.number);
    const auto of_rank = [&](const Departure& d) { return d.rank == rank; };
    switch (m.kind) {
      case Kind::kDeparted:
        departed_.push_back({rank, m.id != 0, std::string(m.value)});
        departures_.fetch_add(1, std::memory_order_release);
        return;
      case Kind::kReworded:
        for (Departure& d : departed_) {
          if (of_rank(d)) d = {rank, m.id != 0, std::string(m.value)};
        }
        return;
      case Kind::kReturned: std::erase_if(departed_, of_rank); return;
      default: break;
    }
    const auto found = waiting_.find(m.id);
    if (found == waiting_.end()) return;  // its caller waits no longer
    found->second->reply = Reply{m.kind, m.number, std::string(m.value)};
    found->second->changed.notify_one();
  }

  void reply_to(uint64_t question) {
    std::optional<std::string> text;
    {
      const std::lock_guard lock(answer_mutex_);
      if (answer_) text = answer_of(answer_);
    }
    Message m{.kind = Kind::kSilent, .id = question};
    if (text) {
      m.kind = Kind::kAnswer;
      m.value = std::string_view(*text).substr(0, kLongestAnswer);
    }
    const std::lock_guard lock(mutex_);
    link_.post(m);
    link_.flush();
  }

  const std::string where_;
  wire::Link link_;
  Waker waker_;
  std::atomic<bool> stop_{false};
  std::atomic<int> departures_{0};
  std::atomic<std::thread::id> thread_id_{};

  // Held while a call of join() or leave() lasts.
  std::mutex join_mutex_;
  int rank_ = -1;

  // Held while the answer is made, so that leave() waits for it.
  std::mutex answer_mutex_;
  std::function<std::string()> answer_;

  mutable std::mutex mutex_;
  uint64_t last_id_ = 0;
  bool lost_ = false;
  std::unordered_map<uint64_t, Waiting*> waiting_;
  std::vector<Departure> departed_;
  std::thread thread_;
};

TcpStore::TcpStore(const std::string& host, uint16_t port, Milliseconds timeout,
                   const std::string& secret)
    : state_(std::make_unique<State>(host, port, timeout, secret)) {}

TcpStore::~TcpStore() {
  // In a forked child there is no thread to end; the state stays as it is.
  if (state_->fork_check.forked()) (void)state_.release();
}

namespace {

Reply replied(TcpStore::State& state, const char* op, const Message& m,
              Milliseconds timeout) {
  std::optional<Reply> reply = state.call(op, m, deadline_after(timeout));
  if (!reply) state.fail_silent(op, timeout);
  state.check_room(op, *reply);
  return std::move(*reply);
}

}  // namespace

void TcpStore::set(std::string_view key, std::string_view value) {
  replied(*state_, "set", {.kind = Kind::kSet, .key = key, .value = value},
          timeout());
}

std::string TcpStore::get(std::string_view key, Milliseconds timeout) {
  std::optional<Reply> reply = state_->call(
      "get", {.kind = Kind::kGet, .key = key}, deadline_after(timeout));
  if (!reply) fail_unset(key, timeout, str("at {}", state_->where()));
  state_->check_room("get", *reply);
  return std::move(reply->value);
}

std::optional<std::string> TcpStore::find(std::string_view key) {
  Reply reply =
      replied(*state_, "find", {.kind = Kind::kFind, .key = key}, timeout());
  if (reply.kind == Kind::kNone) return std::nullopt;
  return std::move(reply.value);
}

int64_t TcpStore::add(std::string_view key, int64_t by) {
  const Reply reply =
      replied(*state_, "add", {.kind = Kind::kAdd, .number = by, .key = key},
              timeout());
  if (reply.kind == Kind::kRefused) fail_no_number(key, reply.value);
  return reply.number;
}

bool TcpStore::remove(std::string_view key) {
  return replied(*state_, "remove", {.kind = Kind::kRemove, .key = key},
                 timeout())
             .number != 0;
}

void TcpStore::join(int rank, std::function<std::string()> answer) {
  check_rank("join", rank);
  state_->join(rank, std::move(answer), timeout());
}

void TcpStore::leave() noexcept { state_->leave(); }

int TcpStore::departures() const noexcept { return state_->departures(); }

std::vector<Departure> TcpStore::departed() const { return state_->departed(); }

std::optional<std::string> TcpStore::ask(int rank, Milliseconds timeout) {
  std::optional<Reply> reply = state_->call(
      "ask", {.kind = Kind::kAsk, .number = rank}, deadline_after(timeout));
  if (!reply || reply->kind != Kind::kValue) return std::nullopt;
  return std::move(reply->value);
}

int64_t TcpStore::clock_offset() {
  const auto now = [] {
    return std::chrono::nanoseconds(SteadyClock::now().time_since_epoch())
        .count();
  };
  int64_t fastest = 0, offset = 0;
  for (int i = 0; i < kRoundTrips; ++i) {
    const int64_t begin = now();
    const Reply reply =
        replied(*state_, "clock_offset", {.kind = Kind::kClock}, timeout());
    const int64_t took = now() - begin;
    if (i > 0 && took >= fastest) continue;
    fastest = took;
    offset = reply.number - (begin + took / 2);
  }
  return offset;
}

}  // namespace sy::distributed
