#include "frontend/distributed/store/tcp_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "c10/process/error.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/eventually.h"

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

std::string nothing() { return "nothing"; }

std::string at(uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

TEST(TcpStore, WithoutAServerTheErrorNamesAddressTimeAndReason) {
  uint16_t port = 0;
  { port = TcpStoreServer().port(); }
  SY_EXPECT_ERROR(TcpStore("127.0.0.1", port, milliseconds(40)), Error,
                  "no connection to a store at " + at(port) +
                      " within 0.04 s: Connection refused");
  SY_EXPECT_ERROR(TcpStore("no.such.host.invalid", 1, milliseconds(0)), Error,
                  "no.such.host.invalid:1 within 0 s: ");
}

TEST(TcpStore, ConnectingWaitsForTheServer) {
  uint16_t port = 0;
  { port = TcpStoreServer().port(); }
  std::thread client([&] {
    TcpStore store("127.0.0.1", port, seconds(60));
    store.set("key", "value");
  });
  std::this_thread::sleep_for(milliseconds(60));
  TcpStoreServer server("127.0.0.1", port);
  client.join();
  EXPECT_EQ(server.find("key"), "value");
}

TEST(TcpStore, APortIsOfOneServer) {
  TcpStoreServer server;
  SY_EXPECT_ERROR(TcpStoreServer("127.0.0.1", server.port()), Error,
                  "cannot listen on " + at(server.port()) +
                      ": Address already in use (another program");
  SY_EXPECT_ERROR(TcpStoreServer("203.0.113.1"), Error,
                  "cannot listen on 203.0.113.1:0: ");
  SY_EXPECT_ERROR(TcpStoreServer("no.such.host.invalid"), Error,
                  "cannot listen on no.such.host.invalid:0: ");
}

TEST(TcpStore, AddressesMayBeNamesAndOfBothVersions) {
  TcpStoreServer all("0.0.0.0");
  TcpStore("localhost", all.port()).set("key", "1");
  EXPECT_EQ(all.find("key"), "1");
  std::unique_ptr<TcpStoreServer> six;
  try {
    six = std::make_unique<TcpStoreServer>("::");
  } catch (const Error&) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  TcpStore("127.0.0.1", six->port()).set("four", "4");
  EXPECT_EQ(six->find("four"), "4");
  std::unique_ptr<TcpStore> store;
  try {
    store = std::make_unique<TcpStore>("::1", six->port(), milliseconds(200));
  } catch (const Error&) {
    GTEST_SKIP() << "this machine has no address of IPv6";
  }
  store->set("six", "6");
  EXPECT_EQ(six->find("six"), "6");
  SY_EXPECT_ERROR(store->get("key", milliseconds(0)), Error,
                  "store at [::1]:" + std::to_string(six->port()));
}

TEST(TcpStore, ErrorsNameTheAddress) {
  TcpStoreServer server;
  TcpStore a("127.0.0.1", server.port()), b("127.0.0.1", server.port());
  SY_EXPECT_ERROR(a.get("key", milliseconds(20)), Error,
                  "[distributed] get: nobody has set 'key' within 0.02 s in "
                  "the store at " +
                      at(server.port()));
  a.join(1, nothing);
  SY_EXPECT_ERROR(b.join(1, nothing), ValueError,
                  "[distributed] rank 1 has joined twice: two programs use the "
                  "store at " +
                      at(server.port()));
}

TEST(TcpStore, AMessageIsAtMost64MiB) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  std::string value(size_t{64} << 20, 'v');
  SY_EXPECT_ERROR(store.set("key", value), ValueError,
                  "[distributed] set: expected a key and a value of at most "
                  "67108843 bytes together, got 67108867");
  value.resize(67108840);
  store.set("key", value);
  EXPECT_EQ(store.get("key"), value);
  SY_EXPECT_ERROR(store.find(std::string(67108844, 'k')), ValueError, "find:");
}

TEST(TcpStore, AServerThatGoesEndsEveryWait) {
  auto server = std::make_unique<TcpStoreServer>();
  const uint16_t port = server->port();
  TcpStore store("127.0.0.1", port);
  store.join(0, nothing);
  const std::string lost = "[distributed] lost the store at " + at(port);
  const auto begin = Clock::now();
  std::atomic<int> begun{0};
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      ++begun;
      SY_EXPECT_ERROR(store.get("key", seconds(200)), Error, lost);
    });
  }
  EXPECT_TRUE(eventually([&] { return begun == 3; }));
  std::this_thread::sleep_for(milliseconds(20));
  server.reset();
  for (auto& t : waiting) t.join();
  SY_EXPECT_ERROR(store.set("key", ""), Error, lost);
  SY_EXPECT_ERROR(store.find("key"), Error, lost);
  SY_EXPECT_ERROR(store.add("key", 1), Error, lost);
  SY_EXPECT_ERROR(store.remove("key"), Error, lost);
  SY_EXPECT_ERROR(store.wait({"key"}, seconds(200)), Error, lost);
  SY_EXPECT_ERROR(store.wait({"key"}, seconds(0)), Error, lost);
  SY_EXPECT_ERROR(store.ask(0, seconds(200)), Error, lost);
  SY_EXPECT_ERROR(store.clock_offset(), Error, lost);
  SY_EXPECT_ERROR(store.join(0, nothing), Error, lost);
  EXPECT_EQ(store.departures(), 0);
  store.leave();
  store.leave();
  EXPECT_LT(Clock::now() - begin, seconds(60));
}

TEST(TcpStore, TheFirstReasonCountsButALostConnectionIsReworded) {
  TcpStoreServer server;
  TcpStore watcher("127.0.0.1", server.port());
  {
    TcpStore one("127.0.0.1", server.port()), two("127.0.0.1", server.port());
    one.join(1, nothing);
    two.join(2, nothing);
    two.leave();
  }
  ASSERT_TRUE(eventually([&] { return watcher.departures() == 2; }));
  EXPECT_EQ(watcher.departed()[0].rank, 2);
  EXPECT_EQ(watcher.departed()[1].why,
            "connection lost: the process was killed, or its machine is gone");
  server.depart(1, false, "killed by signal 9");
  server.depart(1, false, "said too late");
  server.depart(2, false, "ended with exit code 1");
  server.depart(3, false, std::string(100'000, 'x'));  // it never came
  ASSERT_TRUE(eventually([&] { return watcher.departures() == 3; }));
  const auto gone = watcher.departed();
  EXPECT_EQ(gone[0].why, "its program ended");
  EXPECT_TRUE(gone[0].clean);
  EXPECT_EQ(gone[1].why, "killed by signal 9");
  EXPECT_FALSE(gone[1].clean);
  EXPECT_EQ(gone[2].rank, 3);
  EXPECT_EQ(gone[2].why.size(), 4096u);
  SY_EXPECT_ERROR(server.depart(-1, true, ""), ValueError, "depart rank:");
}

TEST(TcpStore, WhoEndsWithoutAWordIsNotClean) {
  TcpStoreServer server;
  TcpStore watcher("127.0.0.1", server.port());
  auto lost = std::make_unique<TcpStore>("127.0.0.1", server.port());
  TcpStore there("127.0.0.1", server.port());
  lost->join(1, nothing);
  there.join(2, nothing);
  lost.reset();
  ASSERT_TRUE(eventually([&] { return watcher.departures() == 1; }));
  // Their exit codes were 0.
  for (const int rank : {1, 2, 3}) {
    server.depart(rank, true, "its program ended");
  }
  ASSERT_TRUE(eventually([&] { return watcher.departures() == 3; }));
  for (const Departure& d : watcher.departed()) {
    EXPECT_EQ(d.why, "its program ended");
    EXPECT_EQ(d.clean, d.rank == 3) << d.rank;  // which never came
  }
}

TEST(TcpStore, WhoIsSaidToBeGoneNoLongerHoldsTheRank) {
  TcpStoreServer server;
  TcpStore old("127.0.0.1", server.port()), anew("127.0.0.1", server.port());
  old.join(1, nothing);
  server.depart(1, false, "its machine is gone");
  EXPECT_EQ(anew.ask(1, seconds(20)), std::nullopt);
  anew.join(1, [] { return std::string("anew"); });
  old.leave();  // which is no longer the rank's word
  EXPECT_EQ(anew.ask(1, seconds(20)), "anew");
  EXPECT_TRUE(anew.departed().empty());
}

TEST(TcpStore, TheClockOfOneMachineHasNoOffset) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  EXPECT_LT(std::abs(store.clock_offset()), 1'000'000'000);
}

TEST(TcpStore, AnAnswerThatUsesItsStoreIsToldSo) {
  TcpStoreServer server;
  TcpStore a("127.0.0.1", server.port());
  a.set("key", "value");
  a.join(0, [&] {
    a.leave();  // does nothing here
    return a.get("key");
  });
  const auto answer = a.ask(0, seconds(20));
  ASSERT_TRUE(answer);
  EXPECT_NE(
      answer->find("get: called by the function that answers for the rank"),
      answer->npos)
      << *answer;
  EXPECT_EQ(a.departures(), 0);
}

TEST(TcpStore, ASlowAnswerIsNotWaitedFor) {
  TcpStoreServer server;
  TcpStore a("127.0.0.1", server.port());
  std::atomic<bool> go{false};
  {
    TcpStore b("127.0.0.1", server.port());
    b.join(1, [&] {
      EXPECT_TRUE(eventually([&] { return go.load(); }));
      return std::string(3 << 20, 'x');
    });
    EXPECT_EQ(a.ask(1, milliseconds(30)), std::nullopt);
    go = true;
    const auto answer = a.ask(1, seconds(20));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->size(), size_t{1} << 20);  // and what is long is cut
  }
}

}  // namespace
}  // namespace sy::distributed
