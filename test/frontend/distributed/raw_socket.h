#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace sy::distributed {

// The bytes that a client of a TCP store sends first.
inline const std::string kStoreHello("SYSTOREc\1\0\0\0", 12);

// One message as it is sent; tcp_store_wire.h numbers the kinds.
inline std::string store_message(char kind, const std::string& key,
                                 const std::string& value, uint64_t id) {
  const auto number = [](uint64_t n, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) {
      out += static_cast<char>(n >> (8 * i) & 255);
    }
    return out;
  };
  return number(21 + key.size() + value.size(), 4) + kind + number(id, 8) +
         std::string(8, '\0') + number(key.size(), 4) + key + value;
}

// Bytes of memory that this process has.
inline size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  size_t all = 0, pages = 0;
  in >> all >> pages;
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

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
  // Returns the bytes that come until the other side closes, or `most` bytes
  // have.
  std::string receive(size_t most = 1 << 20) {
    std::string out;
    char buffer[size_t{64} << 10];
    pollfd p{fd_, POLLIN, 0};
    while (out.size() < most && ::poll(&p, 1, 20'000) > 0) {
      const size_t wanted = std::min(sizeof buffer, most - out.size());
      const ssize_t n = ::recv(fd_, buffer, wanted, 0);
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
