#include "frontend/distributed/group/host_mesh.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>

#include "c10/process/error.h"

namespace sy::distributed {

namespace {

constexpr uint64_t kMagic = 0x31686573656d7973;  // "symesh1" and a version
// How long a rank that said where it listens may refuse.
constexpr Milliseconds kPatience{3000}, kBetweenTries{50}, kOneTry{2000};
// The time for a connection to say who it is.
constexpr Milliseconds kSilence{10'000};
// The most connections, beyond the number of ranks, that may say nothing.
constexpr size_t kMostSilent = 64;
// The bytes after which one call of progress() stops reading from one rank.
constexpr size_t kMostAtOnce = size_t{4} << 20;
// The first memory for a message that nobody has asked for.
constexpr size_t kFirstPiece = size_t{1} << 20;

std::string key_of(int rank) {
  std::string key = "host/";
  return key += std::to_string(rank);
}

std::string line_in(const char* path) {
  char text[128] = {};
  if (std::FILE* const f = std::fopen(path, "r")) {
    const size_t n = std::fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    std::fclose(f);
  }
  text[std::strcspn(text, "\n")] = '\0';
  return text;
}

// The same for processes that reach each other by 127.0.0.1.
std::string loopback() {
  char space[64] = {};
  (void)!::readlink("/proc/self/ns/net", space, sizeof space - 1);
  return line_in("/proc/sys/kernel/random/boot_id") + " " + space;
}

// The first rank makes it, by a counter that all see.
uint64_t common_token(Store& store) {
  constexpr const char* kKey = "host/token";
  std::random_device random;
  if (store.add("host/tokens", 1) == 1) {
    store.set(kKey, std::to_string(uint64_t{random()} << 32 | random()));
  }
  return std::stoull(store.get(kKey));
}

}  // namespace

HostMesh::HostMesh(std::shared_ptr<Store> store, int rank, int size,
                   const std::string& address)
    : store_(std::move(store)), rank_(rank), here_(loopback()) {
  peers_.resize(static_cast<size_t>(size));
  token_ = common_token(*store_);
  const bool six = address.find(':') != address.npos;
  listener_ = listen_on(address == "127.0.0.1" ? address.c_str()
                        : six                  ? "::"
                                               : "0.0.0.0",
                        0);
  std::string about = here_;
  about += "\n";
  about += address;
  about += "\n";
  about += std::to_string(port_of(listener_));
  store_->set(key_of(rank), about);
}

HostMesh::~HostMesh() = default;

HostMesh::Handle HostMesh::send(int to, const Line& line, const void* data,
                                size_t bytes) {
  Peer& p = peers_[static_cast<size_t>(to)];
  auto message = std::make_shared<Message>();
  p.out.push_back({{line.channel, line.tag, bytes},
                   static_cast<const char*>(data),
                   0,
                   message});
  if (p.socket) write(p);
  return message;
}

HostMesh::Handle HostMesh::receive(int from, const Line& line, void* data,
                                   size_t most) {
  Peer& p = peers_[static_cast<size_t>(from)];
  auto message = std::make_shared<Message>();
  const Incoming wanted{static_cast<char*>(data), most, message};
  const auto early = p.early.find(line);
  if (early == p.early.end()) {
    p.wanted[line].push_back(wanted);
    return message;
  }
  const std::vector<char>& came = early->second.front();
  message->bytes = came.size();
  if (came.size() > most) {
    message->error = str("expected at most {} bytes from rank {}, got {}", most,
                         from, came.size());
  } else if (!came.empty()) {
    std::memcpy(data, came.data(), came.size());
  }
  message->done = true;
  early->second.pop_front();
  if (early->second.empty()) p.early.erase(early);
  return message;
}

bool HostMesh::has_work(const Peer& p) const {
  return !p.gone && (!p.out.empty() || !p.wanted.empty());
}

void HostMesh::progress() {
  std::vector<pollfd> polled;
  std::vector<Peer*> connected;
  bool awaits = false;
  for (int r = 0; r < size(); ++r) {
    Peer& p = peers_[static_cast<size_t>(r)];
    // The higher rank connects to the lower one.
    if (!p.socket && has_work(p)) {
      if (r < rank_) connect(r);
      awaits |= r > rank_;
    }
    if (!p.socket) continue;
    const int events = POLLIN | (p.out.empty() ? 0 : POLLOUT);
    polled.push_back({p.socket.fd(), static_cast<short>(events), 0});
    connected.push_back(&p);
  }
  if (!polled.empty() && ::poll(polled.data(), polled.size(), 0) > 0) {
    for (size_t i = 0; i < connected.size(); ++i) {
      Peer& p = *connected[i];
      if ((polled[i].revents & POLLOUT) != 0) write(p);
      if ((polled[i].revents & ~POLLOUT) != 0 && p.socket) read(p);
    }
  }
  if (awaits) welcome();
}

void HostMesh::connect(int rank) {
  Peer& p = peers_[static_cast<size_t>(rank)];
  const auto now = SteadyClock::now();
  if (now < p.next_try) return;
  p.next_try = now + kBetweenTries;
  const auto about = store_->find(key_of(rank));
  if (!about) return;
  if (p.first_try == SteadyClock::time_point()) p.first_try = now;
  const size_t first = about->find('\n'), second = about->rfind('\n');
  uint16_t port = 0;
  std::from_chars(about->data() + second + 1, about->data() + about->size(),
                  port);
  const bool near = about->substr(0, first) == here_;
  const std::string host =
      near ? "127.0.0.1" : about->substr(first + 1, second - first - 1);
  std::string why;
  Socket s = connect_to(host, port, now + kOneTry, &why);
  if (!s) {
    SY_CHECK(now - p.first_try < kPatience, Error,
             "[distributed] rank {} cannot be reached at {}: {}", rank,
             host_and_port(host, port), why);
    return;
  }
  const uint64_t hello[] = {kMagic, token_, static_cast<uint64_t>(rank_)};
  // There is room for it in a new connection.
  if (::send(s.fd(), hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) return;
  p.socket = std::move(s);
  write(p);
}

// Takes the connections of higher ranks, and drops those of others.
void HostMesh::welcome() {
  bool exhausted = false;
  const auto hear_all = [this] {
    std::erase_if(strangers_, [this](Stranger& s) { return hear(s); });
  };
  while (Socket s = accept_from(listener_, &exhausted)) {
    // Connections that say nothing must not keep ranks out.
    if (strangers_.size() == peers_.size() + kMostSilent) hear_all();
    if (strangers_.size() == peers_.size() + kMostSilent) {
      strangers_.erase(strangers_.begin());
    }
    strangers_.emplace_back();
    strangers_.back().socket = std::move(s);
    strangers_.back().until = SteadyClock::now() + kSilence;
  }
  hear_all();
}

bool HostMesh::hear(Stranger& s) {
  const ssize_t n = ::recv(s.socket.fd(), s.hello + s.read,
                           sizeof s.hello - s.read, MSG_DONTWAIT);
  if (n == 0) return true;
  if (n < 0) {
    return (errno != EAGAIN && errno != EINTR) || SteadyClock::now() > s.until;
  }
  s.read += static_cast<size_t>(n);
  if (s.read < sizeof s.hello) return false;
  uint64_t hello[3];
  std::memcpy(hello, s.hello, sizeof hello);
  if (hello[0] != kMagic || hello[1] != token_ || hello[2] >= peers_.size() ||
      static_cast<int>(hello[2]) <= rank_) {
    return true;
  }
  Peer& p = peers_[hello[2]];
  if (p.socket || p.gone) return true;
  p.socket = std::move(s.socket);
  write(p);
  return true;
}

void HostMesh::write(Peer& p) {
  while (p.socket && !p.out.empty()) {
    Outgoing& o = p.out.front();
    constexpr size_t kHead = sizeof(Header);
    iovec parts[2];
    int n = 0;
    if (o.sent < kHead) {
      parts[n++] = {reinterpret_cast<char*>(&o.header) + o.sent,
                    kHead - o.sent};
    }
    const size_t of_data = o.sent < kHead ? 0 : o.sent - kHead;
    if (o.header.bytes > of_data) {
      parts[n++] = {const_cast<char*>(o.data) + of_data,
                    o.header.bytes - of_data};
    }
    msghdr m{};
    m.msg_iov = parts;
    m.msg_iovlen = static_cast<size_t>(n);
    const ssize_t sent =
        ::sendmsg(p.socket.fd(), &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) lose(p);
      return;
    }
    o.sent += static_cast<size_t>(sent);
    if (o.sent < kHead + o.header.bytes) continue;
    o.message->done = true;
    p.out.pop_front();
  }
}

void HostMesh::read(Peer& p) {
  constexpr size_t kHead = sizeof(Header);
  for (size_t total = 0; total < kMostAtOnce;) {
    const bool of_header = p.read < kHead;
    const std::span<char> to =
        of_header ? std::span(reinterpret_cast<char*>(&p.header) + p.read,
                              kHead - p.read)
                  : place_for(p, p.read - kHead);
    const ssize_t n = ::recv(p.socket.fd(), to.data(), to.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n <= 0) return lose(p);
    p.read += static_cast<size_t>(n);
    total += static_cast<size_t>(n);
    if (of_header && p.read == kHead) begin_incoming(p);
    if (p.read >= kHead && p.read - kHead == p.header.bytes) end_incoming(p);
  }
}

// Finds the memory for the message whose header has come.
void HostMesh::begin_incoming(Peer& p) {
  const auto wanted = p.wanted.find({p.header.channel, p.header.tag});
  if (wanted != p.wanted.end()) {
    p.into = wanted->second.front();
    wanted->second.pop_front();
    if (wanted->second.empty()) p.wanted.erase(wanted);
    if (p.header.bytes <= p.into.most) return;
    p.into.message->error =
        str("expected at most {} bytes, got {}", p.into.most, p.header.bytes);
  }
  p.into.data = nullptr;  // kept
}

// The memory for the rest of a message of which `done` bytes have come. A
// message that is kept takes memory as it comes, whatever size the header says.
std::span<char> HostMesh::place_for(Peer& p, size_t done) {
  const size_t all = p.header.bytes;
  if (p.into.data != nullptr) return {p.into.data + done, all - done};
  if (p.kept.size() == done) {
    p.kept.resize(std::min(all, std::max(kFirstPiece, 2 * done)));
  }
  return std::span(p.kept).subspan(done);
}

void HostMesh::end_incoming(Peer& p) {
  const Incoming into = std::exchange(p.into, {nullptr, 0, nullptr});
  std::vector<char> kept = std::exchange(p.kept, {});
  p.read = 0;
  if (into.message != nullptr) {
    into.message->bytes = p.header.bytes;
    into.message->done = true;
    return;
  }
  const Line line{p.header.channel, p.header.tag};
  const auto wanted = p.wanted.find(line);
  if (wanted == p.wanted.end()) {
    p.early[line].push_back(std::move(kept));
    return;
  }
  // It was asked for while it came.
  const Incoming now = wanted->second.front();
  wanted->second.pop_front();
  if (wanted->second.empty()) p.wanted.erase(wanted);
  now.message->bytes = kept.size();
  if (kept.size() > now.most) {
    now.message->error =
        str("expected at most {} bytes, got {}", now.most, kept.size());
  } else if (!kept.empty()) {
    std::memcpy(now.data, kept.data(), kept.size());
  }
  now.message->done = true;
}

void HostMesh::lose(Peer& p) noexcept {
  p.socket.reset();
  p.gone = true;
}

}  // namespace sy::distributed
