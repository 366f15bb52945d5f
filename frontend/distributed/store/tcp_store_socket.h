#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "frontend/distributed/store/store_state.h"

// Sockets that never block, and the other parts of the system that the TCP
// store uses.

namespace sy::distributed {

// Owns a file descriptor: one of a socket, an epoll or an eventfd. It is closed
// in programs that the process executes, and in its forked children, so that
// no child keeps up a connection whose process is gone.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd);
  ~Socket() { reset(); }
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  int fd() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  // Ends the connection even where another process has the descriptor too.
  void shut_down() noexcept;
  void reset() noexcept;

 private:
  int fd_ = -1;
};

// "10.0.0.1:29500", "[::1]:29500"
std::string host_and_port(const std::string& host, uint16_t port);

// Throws Error with the address and the system's words.
Socket listen_on(const std::string& address, uint16_t port);
uint16_t port_of(const Socket& s);
// Empty if nobody waits to be accepted; throws nothing. `exhausted`: there is
// somebody, but the process may open no more files, or has no memory.
Socket accept_from(const Socket& listener, bool* exhausted) noexcept;
// One attempt for each address of the host. Empty if all fail, `why` then says
// so in the system's words.
Socket connect_to(const std::string& host, uint16_t port,
                  SteadyClock::time_point deadline, std::string* why);
// False if it is too late.
bool wait_readable(const Socket& s, SteadyClock::time_point deadline) noexcept;

// A counter of the system that makes epoll and poll return.
class Waker {
 public:
  Waker();
  const Socket& socket() const noexcept { return event_; }
  void wake() noexcept;
  void drain() noexcept;

 private:
  Socket event_;
};

// Whether this process is a forked child of the one that made the object.
class ForkCheck {
 public:
  ForkCheck() noexcept;
  bool forked() const noexcept;
  // Throws Error.
  void check(const std::string& where) const;

 private:
  int64_t process_;
};

// Threads that start in its scope get none of the process's signals.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

[[noreturn]] void fail_thread(const char* why);

template <class F>
std::thread quiet_thread(F&& f) {
  const SignalsBlocked blocked;
  try {
    return std::thread(std::forward<F>(f));
  } catch (const std::exception& e) {
    fail_thread(e.what());
  }
}

}  // namespace sy::distributed
