#include "tools/sy/launch/wire.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "c10/process/error.h"

namespace sy::tools {

namespace {

constexpr size_t kHeader = 5;  // the kind, and the length in 4 bytes

sockaddr_in address_of(const char* text, uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  if (inet_pton(AF_INET, text, &out.sin_addr) != 1) {
    fail(ErrorKind::Value, "[launch] no IPv4 address: '{}'", text);
  }
  return out;
}

// 0, or errno.
int try_connect(int fd, const sockaddr_in& to, int milliseconds) {
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    return 0;
  }
  if (errno != EINPROGRESS) return errno;
  pollfd p{fd, POLLOUT, 0};
  const int n = poll(&p, 1, milliseconds);
  if (n < 0) return errno;
  if (n == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

// The number before a space; both are gone then.
bool take_number(std::string_view& text, int& out) {
  const char* const end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, out);
  if (r.ec != std::errc() || r.ptr == end || *r.ptr != ' ') return false;
  text.remove_prefix(static_cast<size_t>(r.ptr - text.data()) + 1);
  return true;
}

}  // namespace

std::string signal_name(int signal) {
  const char* const name = sigabbrev_np(signal);
  if (name == nullptr) return str("signal {}", signal);
  return str("SIG{}", name);
}

std::string RankOrders::encode() const {
  std::string out = str("{} {} {} {} {} {} ", terminal ? 1 : 0, survive ? 1 : 0,
                        threads, store_port, variables.size(), secret);
  for (const auto* list : {&variables, &command}) {
    for (const std::string& text : *list) {
      out += text;
      out += '\0';
    }
  }
  return out;
}

bool RankOrders::decode(std::string_view text, RankOrders& out) {
  int numbers[5];
  for (int& n : numbers) {
    if (!take_number(text, n)) return false;
  }
  out.terminal = numbers[0] != 0;
  out.survive = numbers[1] != 0;
  out.threads = numbers[2];
  out.store_port = static_cast<uint16_t>(numbers[3]);
  const size_t space = text.find(' ');
  if (space == text.npos) return false;
  out.secret = text.substr(0, space);
  text.remove_prefix(space + 1);
  for (int i = 0; !text.empty(); ++i) {
    const size_t end = text.find('\0');
    if (end == text.npos) return false;
    auto& list = i < numbers[4] ? out.variables : out.command;
    list.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return !out.command.empty();
}

bool RankEnd::ended_by_us() const {
  return told && (signal == SIGTERM || signal == SIGKILL ||
                  exit_code == 128 + SIGTERM || exit_code == 128 + SIGKILL);
}

std::string RankEnd::describe() const {
  if (!problem.empty()) return problem;
  if (signal == 0) return str("gave exit code {}", exit_code);
  return str("was killed by signal {} ({})", signal, signal_name(signal));
}

std::string RankEnd::reason() const {
  if (!problem.empty()) return problem;
  if (signal != 0) {
    return str("killed by signal {} ({})", signal, signal_name(signal));
  }
  return good() ? "its program ended" : str("exit code {}", exit_code);
}

std::string RankEnd::encode() const {
  return str("{} {} {} {}", exit_code, signal, told ? 1 : 0, problem);
}

bool RankEnd::decode(std::string_view text, RankEnd& out) {
  int told = 0;
  if (!take_number(text, out.exit_code) || !take_number(text, out.signal) ||
      !take_number(text, told)) {
    return false;
  }
  out.told = told != 0;
  out.problem = text;
  return true;
}

FrameSocket::FrameSocket(int fd) : fd_(fd) {
  if (fd < 0) return;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

FrameSocket::~FrameSocket() { close(); }

FrameSocket::FrameSocket(FrameSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), partial_(std::move(other.partial_)) {}

FrameSocket& FrameSocket::operator=(FrameSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(partial_, other.partial_);
  return *this;
}

void FrameSocket::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool FrameSocket::send(FrameKind kind, std::string_view bytes) {
  if (fd_ < 0) return false;
  const auto length = static_cast<uint32_t>(bytes.size());
  std::string text(1, static_cast<char>(kind));
  for (int i = 0; i < 4; ++i) {
    text += static_cast<char>((length >> (8 * i)) & 0xff);
  }
  text += bytes;
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n =
        ::send(fd_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      pollfd p{fd_, POLLOUT, 0};
      poll(&p, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool FrameSocket::receive(std::vector<Frame>& out, size_t longest) {
  if (fd_ < 0) return false;
  char buffer[kLongestFrame];
  const ssize_t n = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  partial_.append(buffer, static_cast<size_t>(n));
  size_t at = 0;
  while (partial_.size() - at >= kHeader) {
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) {
      length |=
          static_cast<size_t>(static_cast<unsigned char>(partial_[at + 1 + i]))
          << (8 * i);
    }
    if (length > longest) return false;
    if (partial_.size() - at - kHeader < length) break;
    out.push_back({static_cast<FrameKind>(partial_[at]),
                   partial_.substr(at + kHeader, length)});
    at += kHeader + length;
  }
  partial_.erase(0, at);
  return true;
}

Listener::Listener(bool all_addresses)
    : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in at = address_of(all_addresses ? "0.0.0.0" : "127.0.0.1", 0);
  auto* const raw = reinterpret_cast<sockaddr*>(&at);
  socklen_t size = sizeof at;
  if (fd_ < 0 || bind(fd_, raw, size) != 0 || listen(fd_, SOMAXCONN) != 0 ||
      getsockname(fd_, raw, &size) != 0) {
    const int error = errno;
    if (fd_ >= 0) ::close(fd_);
    fail(ErrorKind::Error, "[launch] cannot listen: {}", std::strerror(error));
  }
  port_ = ntohs(at.sin_port);
}

Listener::~Listener() { ::close(fd_); }

int Listener::accept() const {
  return accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

FrameSocket connect_to(const std::vector<std::string>& addresses, uint16_t port,
                       int seconds, std::string& used) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  std::string problems;
  do {
    problems.clear();
    for (const std::string& a : addresses) {
      const sockaddr_in to = address_of(a.c_str(), port);
      FrameSocket out(
          socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      const int error = out.open() ? try_connect(out.fd(), to, 2000) : errno;
      if (error == 0) {
        used = a;
        return out;
      }
      problems += str("{}{}:{}: {}", problems.empty() ? "" : ", ", a, port,
                      std::strerror(error));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } while (Clock::now() < deadline);
  fail(ErrorKind::Error, "[launch] cannot reach `sy launch`: {}", problems);
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {  // another process made it so
      pollfd p{fd, POLLOUT, 0};
      poll(&p, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace sy::tools
