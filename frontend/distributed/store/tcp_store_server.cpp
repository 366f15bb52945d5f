#include <sys/epoll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "c10/process/error.h"
#include "c10/process/secret.h"
#include "frontend/distributed/store/job_secret.h"
#include "frontend/distributed/store/store_state.h"
#include "frontend/distributed/store/tcp_store.h"
#include "frontend/distributed/store/tcp_store_service.h"
#include "frontend/distributed/store/tcp_store_wire.h"

namespace sy::distributed {

namespace {

// A connection that does not greet by then is no client.
constexpr Milliseconds kGreetWithin(10'000);
// How long new connections wait when the process may open no more files.
constexpr Milliseconds kExhausted(100);
constexpr size_t kLongestWhy = 4096;
// Connections that have not shown that they are clients, and what one of them
// may send.
constexpr size_t kMostStrangers = 256, kMostOfStranger = 4096;

// The names of the descriptors in epoll; connections are numbered after these.
constexpr uint64_t kListener = 0;
constexpr uint64_t kWaker = 1;

struct Peer {
  Peer(uint64_t n, Socket s) noexcept : name(n), link(std::move(s)) {}

  const uint64_t name;
  wire::Link link;
  bool greeted = false;
  std::string challenge;  // while it has not proved that it knows the secret
  bool admitted = false;
  bool dirty = false;      // is in State::dirty_
  bool dismissed = false;  // goes when all is sent
  uint32_t watched = EPOLLIN;

  // It reads nothing of what it asked for, and is heard no more until it does.
  bool stuffed() const noexcept {
    return link.unsent_bytes() > Service::kEnoughUnread;
  }
};

}  // namespace

// The thread holds the mutex while it works, and never waits then.
class TcpStoreServer::State {
 public:
  State(const std::string& address, uint16_t port, const std::string& secret)
      : secret_(secret),
        listener_(listen_on(address, port)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        port_(port_of(listener_)),
        where_(host_and_port(address, port_)) {
    SY_CHECK(epoll_, Error, "[distributed] the store cannot open a file: {}",
             std::strerror(errno));
    // Says here if there is no HMAC.
    if (!secret_.empty()) proof_of(secret_, wire::kServerProves, "");
    watch(EPOLL_CTL_ADD, listener_, EPOLLIN, kListener);
    watch(EPOLL_CTL_ADD, waker_.socket(), EPOLLIN, kWaker);
    thread_ = quiet_thread([this] { run(); });
  }

  ~State() {
    stop_.store(true);
    waker_.wake();
    thread_.join();
    // Connections end at once, whoever else may have the descriptors.
    for (const auto& [name, peer] : peers_) peer->link.socket().shut_down();
  }

  const ForkCheck fork_check;

  uint16_t port() const noexcept { return port_; }

  void depart(Departure departure) {
    fork_check.check(where_);
    const std::lock_guard lock(mutex_);
    service_.depart(std::move(departure), Roll::Source::kLauncher);
    waker_.wake();
  }

  std::string find(const std::string& key) const {
    fork_check.check(where_);
    const std::lock_guard lock(mutex_);
    const std::string* const value = service_.find(key);
    return value == nullptr ? std::string() : *value;
  }

 private:
  void watch(int operation, const Socket& s, uint32_t events, uint64_t name) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = name;
    ::epoll_ctl(epoll_.fd(), operation, s.fd(), &event);
  }

  void run() {
    epoll_event events[64];
    while (!stop_.load()) {
      const int n = ::epoll_wait(epoll_.fd(), events, 64, time_to_wait());
      const std::lock_guard lock(mutex_);
      for (int i = 0; i < n; ++i) {
        const uint64_t name = events[i].data.u64;
        if (name == kListener) {
          welcome();
        } else if (name == kWaker) {
          waker_.drain();
        } else {
          serve(name, events[i].events);
        }
      }
      drop_silent_strangers();
      if (deaf_ && SteadyClock::now() >= deaf_until_) listen(true);
      flush();
    }
  }

  // Milliseconds until the thread has to look by itself; -1: never.
  int time_to_wait() const {
    auto until = SteadyClock::time_point::max();
    if (!strangers_.empty()) until = strangers_.front().first;
    if (deaf_) until = std::min(until, deaf_until_);
    if (until == SteadyClock::time_point::max()) return -1;
    return static_cast<int>(left_until(until).count());
  }

  void listen(bool on) {
    deaf_ = !on;
    deaf_until_ = deadline_after(kExhausted);
    watch(EPOLL_CTL_MOD, listener_, on ? uint32_t{EPOLLIN} : 0, kListener);
  }

  void welcome() {
    bool exhausted = false;
    while (Socket s = accept_from(listener_, &exhausted)) {
      const uint64_t name = ++last_name_;
      watch(EPOLL_CTL_ADD, s, EPOLLIN, name);
      peers_.emplace(name, std::make_unique<Peer>(name, std::move(s)));
      strangers_.emplace_back(deadline_after(kGreetWithin), name);
      // Peers that only connect must not use up descriptors.
      if (strangers_.size() > kMostStrangers) dismiss_stranger();
    }
    if (exhausted) listen(false);
  }

  void drop_silent_strangers() {
    while (!strangers_.empty() &&
           strangers_.front().first <= SteadyClock::now()) {
      dismiss_stranger();
    }
  }

  // Drops the first to have come, unless it has been admitted.
  void dismiss_stranger() {
    Peer* const peer = peer_of(strangers_.front().second);
    strangers_.pop_front();
    if (peer != nullptr && !peer->admitted) drop(*peer);
  }

  Peer* peer_of(uint64_t name) {
    const auto found = peers_.find(name);
    return found == peers_.end() ? nullptr : found->second.get();
  }

  void serve(uint64_t name, uint32_t events) {
    Peer* const peer = peer_of(name);
    if (peer == nullptr) return;
    if ((events & EPOLLOUT) != 0) mark(*peer);
    if ((events & ~uint32_t{EPOLLOUT}) == 0) return;
    bool good = false;
    try {
      const bool open = peer->link.receive();
      // Data that came before the end counts.
      good = read(*peer) && open;
    } catch (const std::exception&) {
      // No memory for what it wants.
    }
    if (!good) drop(*peer);
  }

  // False: this is no client, or breaks the rules.
  bool read(Peer& peer) {
    if (peer.dismissed) return true;
    if (!peer.greeted) {
      uint32_t version = 0;
      switch (wire::judge_greeting(peer.link.received(), wire::Side::kClient,
                                   &version)) {
        case wire::Greeting::kWrong: return false;
        case wire::Greeting::kIncomplete: return true;
        case wire::Greeting::kOtherVersion: peer.dismissed = true; break;
        case wire::Greeting::kRight: peer.greeted = true; break;
      }
      peer.link.skip(wire::kGreetingSize);
      peer.link.post_bytes(wire::greeting(
          secret_.empty() ? wire::Side::kServer : wire::Side::kSecretServer));
      mark(peer);
      if (peer.dismissed) return true;
    }
    if (!peer.admitted) {
      if (!secret_.empty() && !test(peer)) return false;
      if (!secret_.empty() && !peer.admitted) return true;
      peer.admitted = true;
      std::erase_if(strangers_,
                    [&](const auto& s) { return s.second == peer.name; });
      service_.welcome(peer.name);
    }
    return answer(peer);
  }

  bool answer(Peer& peer) {
    while (!peer.stuffed()) {
      const std::optional<wire::Message> m = peer.link.next();
      if (!m) break;
      if (!service_.handle(peer.name, *m)) return false;
    }
    return !peer.link.malformed();
  }

  // Whether it knows the secret: admits it, unless more has to come. False: it
  // does not.
  bool test(Peer& peer) {
    if (peer.link.received().size() > kMostOfStranger) return false;
    if (peer.challenge.empty()) {
      if (peer.link.received().size() < wire::kNonceSize) return true;
      peer.challenge = peer.link.received().substr(0, wire::kNonceSize);
      peer.link.skip(wire::kNonceSize);
      const std::string own = random_bytes(wire::kNonceSize);
      peer.challenge += own;
      peer.link.post_bytes(own);
      peer.link.post_bytes(
          proof_of(secret_, wire::kServerProves, peer.challenge));
      mark(peer);
    }
    if (peer.link.received().size() < kProofSize) return true;
    peer.admitted =
        is_same_secret(peer.link.received().substr(0, kProofSize),
                       proof_of(secret_, wire::kClientProves, peer.challenge));
    peer.link.skip(kProofSize);
    return peer.admitted;
  }

  void post(Peer& peer, const wire::Message& m) {
    // It does not read, and is dropped by flush().
    if (peer.link.unsent_bytes() <= Service::kMostUnread) peer.link.post(m);
    mark(peer);
  }

  void mark(Peer& peer) {
    if (!std::exchange(peer.dirty, true)) dirty_.push_back(peer.name);
  }

  void drop(Peer& peer) {
    if (peer.admitted) service_.goodbye(peer.name);
    // A child of fork may have the descriptor, then closing is not enough.
    watch(EPOLL_CTL_DEL, peer.link.socket(), 0, 0);
    peer.link.socket().shut_down();
    peers_.erase(uint64_t{peer.name});
  }

  void flush() {
    // Dropping one makes news for the others.
    while (!dirty_.empty()) {
      for (const uint64_t name : std::exchange(dirty_, {})) {
        Peer* const peer = peer_of(name);
        if (peer == nullptr) continue;
        peer->dirty = false;
        if (!peer->link.flush() || !go_on(*peer) ||
            peer->link.unsent_bytes() > Service::kMostUnread ||
            (peer->dismissed && !peer->link.unsent())) {
          drop(*peer);
          continue;
        }
        const uint32_t wanted = (peer->stuffed() ? 0u : uint32_t{EPOLLIN}) |
                                (peer->link.unsent() ? uint32_t{EPOLLOUT} : 0u);
        if (std::exchange(peer->watched, wanted) != wanted) {
          watch(EPOLL_CTL_MOD, peer->link.socket(), wanted, name);
        }
      }
    }
  }

  // Answers the requests that came while it did not read.
  bool go_on(Peer& peer) {
    if (!peer.admitted || peer.dismissed || peer.stuffed()) return true;
    try {
      return answer(peer);
    } catch (const std::exception&) {
      return false;
    }
  }

  const std::string secret_;
  const Socket listener_;
  const Socket epoll_;
  const uint16_t port_;
  const std::string where_;
  Waker waker_;
  std::atomic<bool> stop_{false};
  // Only the thread uses these.
  std::deque<std::pair<SteadyClock::time_point, uint64_t>> strangers_;
  bool deaf_ = false;
  SteadyClock::time_point deaf_until_;

  mutable std::mutex mutex_;
  Service service_{[this](uint64_t client, const wire::Message& m) {
    post(*peers_.at(client), m);
  }};
  std::unordered_map<uint64_t, std::unique_ptr<Peer>> peers_;
  std::vector<uint64_t> dirty_;
  uint64_t last_name_ = kWaker;
  std::thread thread_;
};

TcpStoreServer::TcpStoreServer(const std::string& address, uint16_t port,
                               const std::string& secret)
    : state_(std::make_unique<State>(address, port, secret)) {}

TcpStoreServer::~TcpStoreServer() {
  // In a forked child there is no thread to end; the state stays as it is.
  if (state_->fork_check.forked()) (void)state_.release();
}

uint16_t TcpStoreServer::port() const noexcept { return state_->port(); }

void TcpStoreServer::depart(int rank, bool clean, const std::string& why) {
  check_rank("depart", rank);
  state_->depart({rank, clean, why.substr(0, kLongestWhy)});
}

std::string TcpStoreServer::find(const std::string& key) const {
  return state_->find(key);
}

}  // namespace sy::distributed
