// Strangers that connect to a server, or listen where one is expected, and
// speak otherwise.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <thread>

#include "c10/process/error.h"
#include "frontend/distributed/store/tcp_store.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/eventually.h"
#include "test/frontend/distributed/raw_socket.h"

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string nothing() { return "nothing"; }

std::string at(uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

const std::string kHello("SYSTOREc\1\0\0\0", 12);
const std::string kHelloOfServer("SYSTOREs\1\0\0\0", 12);

// A message as tcp_store_wire.h says, with any kind and length of its key.
std::string message(char kind, uint8_t key_size, const std::string& rest,
                    char id = 0) {
  std::string out;
  out += static_cast<char>(21 + rest.size());
  out.append(3, '\0');
  out += kind;
  out += id;
  out.append(15, '\0');
  out += static_cast<char>(key_size);
  out.append(3, '\0');
  return out + rest;
}

TEST(TcpStoreStrangers, StrangersAreDroppedAndHarmNobody) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  store.join(0, nothing);
  store.set("key", "value");
  const std::string bad[] = {
      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      std::string(100'000, '\xff'),
      std::string(100'000, '\0'),
      kHelloOfServer,
      kHello + "\xff\xff\xff\xff",          // too long
      kHello + std::string("\1\0\0\4", 4),  // by one
      kHello + std::string("\0\0\0\0", 4),  // too short
      kHello + std::string("\24\0\0\0", 4) + std::string(20, '\1'),
      kHello + message(0, 0, ""),  // no kind
      kHello + message(99, 0, ""),
      kHello + message(13, 0, ""),                        // a server's
      kHello + message(1, 4, "abc"),                      // key beyond the end
      kHello + message(2, 1, "k") + message(2, 1, "k"),   // one id twice
      kHello + message(6, 0, "") + message(11, 0, "yes")  // no question
          + message(6, 0, "") + "\xff\xff\xff\xff",
  };
  for (const std::string& bytes : bad) {
    Raw stranger;
    ASSERT_TRUE(stranger.connect(server.port()));
    stranger.send(bytes);
    stranger.receive();
    EXPECT_EQ(store.get("key"), "value");
  }
  // Strangers that end in the middle.
  for (const std::string& bytes :
       {std::string(), kHello.substr(0, 5), kHello, kHello + "\x30",
        kHello + message(1, 1, "kv").substr(0, 20)}) {
    Raw stranger;
    ASSERT_TRUE(stranger.connect(server.port()));
    stranger.send(bytes);
  }
  EXPECT_EQ(store.get("key"), "value");
  EXPECT_EQ(store.find("k"), std::nullopt);
  EXPECT_EQ(store.departures(), 0);
}

TEST(TcpStoreStrangers, NobodyAnswersForAnother) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  std::atomic<bool> asked{false}, refused{false};
  store.join(0, [&] {
    asked = true;
    EXPECT_TRUE(eventually([&] { return refused.load(); }));
    return std::string("true");
  });
  std::thread asker([&] {
    TcpStore other("127.0.0.1", server.port());
    EXPECT_EQ(other.ask(0, seconds(60)), "true");
  });
  EXPECT_TRUE(eventually([&] { return asked.load(); }));
  Raw stranger;
  ASSERT_TRUE(stranger.connect(server.port()));
  stranger.send(kHello);
  EXPECT_EQ(stranger.receive(12), kHelloOfServer);
  stranger.send(message(11, 0, "false", 1));
  EXPECT_EQ(stranger.receive(), "");
  refused = true;
  asker.join();
}

TEST(TcpStoreStrangers, ConnectionsThatBreakHarmNobody) {
  TcpStoreServer server;
  std::atomic<bool> done{false};
  // Makes news for all connections.
  std::thread busy([&] {
    TcpStore store("127.0.0.1", server.port());
    while (!done) {
      store.join(0, nothing);
      store.leave();
    }
  });
  for (int i = 0; i < 300; ++i) {
    Raw stranger;
    EXPECT_TRUE(stranger.connect(server.port()));
    stranger.send(kHello);
    stranger.receive(12);
    const linger reset{1, 0};
    ::setsockopt(stranger.fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  }
  done = true;
  busy.join();
}

TEST(TcpStoreStrangers, HalfMessagesWaitForTheRest) {
  TcpStoreServer server;
  Raw slow;
  ASSERT_TRUE(slow.connect(server.port()));
  for (const char c : kHello + message(1, 3, "keyvalue")) {
    slow.send(std::string(1, c));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(slow.receive(12 + 25).substr(0, 12), kHelloOfServer);
  EXPECT_EQ(server.find("key"), "value");
  EXPECT_EQ(server.find("other"), "");
}

TEST(TcpStoreStrangers, AnotherVersionIsToldOurs) {
  TcpStoreServer server;
  Raw old;
  ASSERT_TRUE(old.connect(server.port()));
  old.send(std::string("SYSTOREc\7\0\0\0", 12));
  EXPECT_EQ(old.receive(), kHelloOfServer);
}

// Expects this error of a TcpStore whose listener says `words`.
void expect_refusal(const std::string& words, Milliseconds timeout,
                    const std::string& message) {
  Raw listener;
  const uint16_t port = listener.listen();
  std::thread server([&] {
    Raw client(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    client.send(words);
    client.receive(13);  // until it closes
  });
  SY_EXPECT_ERROR(TcpStore("127.0.0.1", port, timeout), Error,
                  at(port) + message);
  server.join();
}

TEST(TcpStoreStrangers, WhatIsNoStoreIsRefused) {
  expect_refusal("SSH-2.0-OpenSSH_9.2\r\n", seconds(60),
                 " is no store of this version");
  expect_refusal(kHello, seconds(60), " is no store of this version");
  expect_refusal(std::string("SYSTOREs\2\0\0\0", 12), seconds(60),
                 " speaks version 2, expected 1");
  expect_refusal("SYS", milliseconds(50),
                 " within 0.05 s: the listener there does not speak");
}

TEST(TcpStoreStrangers, AServerThatGoesDuringACallIsLost) {
  for (int i = 0; i < 20; ++i) {
    Raw listener;
    const uint16_t port = listener.listen();
    std::thread server([&] {
      Raw client(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      client.receive(12);
      client.send(kHelloOfServer);
    });
    TcpStore store("127.0.0.1", port);
    const std::string value(100'000, 'v');
    SY_EXPECT_ERROR(for (;;) store.set("key", value), Error,
                    "lost the store at " + at(port));
    server.join();
  }
}

TEST(TcpStoreStrangers, ConnectionsWaitWhileTheServerHasNoFiles) {
  TcpStoreServer server;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  Raw late;
  // Lower than any new descriptor.
  rlimit none = before;
  none.rlim_cur = 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool connected = late.connect(server.port());
  // The server waits, too: it does not try all the time.
  const std::clock_t begin = std::clock();
  std::this_thread::sleep_for(milliseconds(150));
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC / 50);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(connected);
  late.send(kHello);
  EXPECT_EQ(late.receive(12), kHelloOfServer);
}

}  // namespace
}  // namespace sy::distributed
