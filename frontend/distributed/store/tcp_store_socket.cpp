#include "frontend/distributed/store/tcp_store_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "c10/process/error.h"

namespace sy::distributed {

namespace {

constexpr int kNew = SOCK_NONBLOCK | SOCK_CLOEXEC;

// The open descriptors of this file. Leaked: threads may end after main().
class OpenFiles {
 public:
  static OpenFiles& get() {
    static OpenFiles* const files = [] {
      auto* const made = new OpenFiles;
      ::pthread_atfork([] { get().mutex_.lock(); },
                       [] { get().mutex_.unlock(); },
                       [] {
                         for (const int fd : get().open_) ::close(fd);
                         get().open_.clear();
                         get().mutex_.unlock();
                       });
      return made;
    }();
    return *files;
  }

  void add(int fd) {
    const std::lock_guard lock(mutex_);
    open_.push_back(fd);
  }

  void close(int fd) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(open_.begin(), open_.end(), fd);
    if (found == open_.end()) return;  // a child's, closed by the fork
    *found = open_.back();
    open_.pop_back();
    ::close(fd);
  }

 private:
  std::mutex mutex_;
  std::vector<int> open_;
};

void set_option(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

// Small messages go at once. If the other machine is gone, the system says so
// after half a minute.
void set_options(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

struct FreeAddresses {
  void operator()(addrinfo* a) const noexcept { ::freeaddrinfo(a); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// nullptr, and why, if there are none.
Addresses resolve(const std::string& host, uint16_t port, int flags,
                  std::string* why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                  std::to_string(port).c_str(), &hints, &found);
  if (error == 0) return Addresses(found);
  *why = error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error);
  return nullptr;
}

// Without a listener, the system may connect a port of this machine to itself.
bool is_itself(int fd) {
  sockaddr_storage mine{}, theirs{};
  socklen_t my_size = sizeof mine, their_size = sizeof theirs;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&mine), &my_size) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&theirs), &their_size) ==
             0 &&
         my_size == their_size && std::memcmp(&mine, &theirs, my_size) == 0;
}

int poll_until(int fd, short events,
               SteadyClock::time_point deadline) noexcept {
  constexpr Milliseconds kLongest(1'000'000);
  for (;;) {
    const auto left = std::min(left_until(deadline), kLongest);
    pollfd p{fd, events, 0};
    const int n = ::poll(&p, 1, static_cast<int>(left.count()));
    if (n > 0) return n;
    if (n < 0 && errno != EINTR) return n;
    if (SteadyClock::now() >= deadline) return 0;
  }
}

// 0, or the error number.
int connect_one(int fd, const addrinfo& a, SteadyClock::time_point deadline) {
  if (::connect(fd, a.ai_addr, a.ai_addrlen) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    if (poll_until(fd, POLLOUT, deadline) <= 0) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error;
  }
  return is_itself(fd) ? ECONNREFUSED : 0;
}

}  // namespace

Socket::Socket(int fd) : fd_(fd) {
  if (fd_ >= 0) OpenFiles::get().add(fd_);
}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Socket::shut_down() noexcept { ::shutdown(fd_, SHUT_RDWR); }

void Socket::reset() noexcept {
  if (fd_ >= 0) OpenFiles::get().close(std::exchange(fd_, -1));
}

std::string host_and_port(const std::string& host, uint16_t port) {
  const bool colons = host.find(':') != host.npos;
  return colons ? str("[{}]:{}", host, int{port})
                : str("{}:{}", host, int{port});
}

Socket listen_on(const std::string& address, uint16_t port) {
  std::string why;
  const Addresses all = resolve(address, port, AI_PASSIVE, &why);
  for (const addrinfo* a = all.get(); a != nullptr; a = a->ai_next) {
    Socket s(::socket(a->ai_family, a->ai_socktype | kNew, a->ai_protocol));
    if (s) {
      set_option(s.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
      if (a->ai_family == AF_INET6) {
        set_option(s.fd(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
      }
      if (::bind(s.fd(), a->ai_addr, a->ai_addrlen) == 0 &&
          ::listen(s.fd(), SOMAXCONN) == 0) {
        return s;
      }
    }
    why = std::strerror(errno);
    if (errno == EADDRINUSE) {
      why += " (another program listens there; port 0 is any that is free)";
    }
  }
  fail(ErrorKind::Error, "[distributed] the store cannot listen on {}: {}",
       host_and_port(address, port), why);
}

uint16_t port_of(const Socket& s) {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  if (::getsockname(s.fd(), reinterpret_cast<sockaddr*>(&a), &size) != 0) {
    return 0;
  }
  return ntohs(a.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(a).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(a).sin_port);
}

Socket accept_from(const Socket& listener, bool* exhausted) noexcept {
  *exhausted = false;
  for (;;) {
    const int fd = ::accept4(listener.fd(), nullptr, nullptr, kNew);
    if (fd >= 0) {
      set_options(fd);
      return Socket(fd);
    }
    switch (errno) {
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM: *exhausted = true; return {};
      case EINTR:
      case ECONNABORTED:
      case EPROTO: continue;
      default: return {};
    }
  }
}

Socket connect_to(const std::string& host, uint16_t port,
                  SteadyClock::time_point deadline, std::string* why) {
  const Addresses all = resolve(host, port, 0, why);
  for (const addrinfo* a = all.get(); a != nullptr; a = a->ai_next) {
    Socket s(::socket(a->ai_family, a->ai_socktype | kNew, a->ai_protocol));
    const int error = s ? connect_one(s.fd(), *a, deadline) : errno;
    if (error == 0) {
      set_options(s.fd());
      return s;
    }
    *why = std::strerror(error);
  }
  return {};
}

bool wait_readable(const Socket& s, SteadyClock::time_point deadline) noexcept {
  return poll_until(s.fd(), POLLIN, deadline) > 0;
}

Waker::Waker() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  SY_CHECK(event_, Error, "[distributed] the store cannot open a file: {}",
           std::strerror(errno));
}

void Waker::wake() noexcept {
  const uint64_t one = 1;
  (void)!::write(event_.fd(), &one, sizeof one);
}

void Waker::drain() noexcept {
  uint64_t count = 0;
  (void)!::read(event_.fd(), &count, sizeof count);
}

ForkCheck::ForkCheck() noexcept : process_(::getpid()) {}

bool ForkCheck::forked() const noexcept { return ::getpid() != process_; }

void ForkCheck::check(const std::string& where) const {
  SY_CHECK(!forked(), Error,
           "[distributed] the store at {} is used after fork: the connection "
           "is the parent's; a child makes its own",
           where);
}

SignalsBlocked::SignalsBlocked() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void fail_thread(const char* why) {
  fail(ErrorKind::Error, "[distributed] the store cannot start a thread: {}",
       why);
}

}  // namespace sy::distributed
