#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace sy::distributed {

// A socket without a store.
class Raw {
 public:
  Raw() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  explicit Raw(int fd) : fd_(fd) {}
  ~Raw() { ::close(fd_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  int fd() const { return fd_; }

  bool connect(uint16_t port) {
    sockaddr_in a = loopback(port);
    return ::connect(fd_, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0;
  }
  uint16_t listen() {
    sockaddr_in a = loopback(0);
    socklen_t size = sizeof a;
    auto* const address = reinterpret_cast<sockaddr*>(&a);
    EXPECT_EQ(::bind(fd_, address, size), 0);
    EXPECT_EQ(::listen(fd_, 8), 0);
    EXPECT_EQ(::getsockname(fd_, address, &size), 0);
    return ntohs(a.sin_port);
  }
  void send(std::string_view bytes) {
    (void)!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // What comes until the other side closes, or `most` bytes have.
  std::string receive(size_t most = 1 << 20) {
    std::string out;
    char buffer[4096];
    pollfd p{fd_, POLLIN, 0};
    while (out.size() < most && ::poll(&p, 1, 20'000) > 0) {
      const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
      if (n <= 0) return out;
      out.append(buffer, static_cast<size_t>(n));
    }
    if (out.size() < most) ADD_FAILURE() << "the connection stays open";
    return out;
  }

 private:
  static sockaddr_in loopback(uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
  }

  int fd_;
};

}  // namespace sy::distributed
