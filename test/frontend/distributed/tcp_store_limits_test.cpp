// A store holds, and is asked for, no more than there is room for. Varied: what
// fills it, with small limits; what clients ask for and do not read, wait for,
// announce. Never varied: a client is admitted, as a rank is.

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "c10/process/error.h"
#include "frontend/distributed/store/store_state.h"
#include "frontend/distributed/store/tcp_store.h"
#include "frontend/distributed/store/tcp_store_service.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/raw_socket.h"

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Kind;

// Random changes, beside a map that is counted anew each time.
TEST(TcpStoreLimits, ValuesCountsWhatItHolds) {
  std::mt19937 draw(7);
  for (int run = 0; run < 50; ++run) {
    const StoreLimits limits{1 + draw() % 8, 1 + draw() % 100};
    Values values(limits);
    std::map<std::string, std::string> held;
    int refused = 0;
    for (int i = 0; i < 500; ++i) {
      const std::string key(1 + draw() % 12, static_cast<char>('a' + i % 3));
      const std::string value(draw() % 40, 'v');
      if (draw() % 4 == 0) {
        EXPECT_EQ(values.remove(key), held.erase(key) > 0);
        continue;
      }
      auto then = held;
      then[key] = value;
      size_t bytes = 0;
      for (const auto& [k, v] : then) bytes += k.size() + v.size();
      const bool fits = then.size() <= limits.keys && bytes <= limits.bytes;
      ASSERT_EQ(values.has_room(key, value.size()), fits) << run << " " << i;
      refused += !fits;
      if (!fits) continue;
      values.set(key, value);
      held = std::move(then);
    }
    EXPECT_GT(refused, 0);
  }
}

TEST(TcpStoreLimits, AFullStoreSaysSo) {
  std::vector<Kind> replies;
  Service service(
      [&](uint64_t, const wire::Message& m) { replies.push_back(m.kind); },
      {.keys = 2, .bytes = 40});
  service.welcome(1);
  const auto reply = [&](wire::Message m) {
    replies.clear();
    EXPECT_TRUE(service.handle(1, m));
    return replies.size() == 1 ? replies[0] : Kind::kSilent;
  };
  const std::string ten(10, 'v'), fifty(50, 'v');
  EXPECT_EQ(reply({.kind = Kind::kSet, .key = "a", .value = fifty}),
            Kind::kFull);
  EXPECT_EQ(service.find("a"), nullptr);
  EXPECT_EQ(reply({.kind = Kind::kSet, .key = "a", .value = ten}), Kind::kDone);
  EXPECT_EQ(reply({.kind = Kind::kSet, .key = "a", .value = fifty}),
            Kind::kFull);
  EXPECT_EQ(*service.find("a"), ten);
  EXPECT_EQ(reply({.kind = Kind::kAdd, .number = 7, .key = "n"}),
            Kind::kNumber);
  EXPECT_EQ(reply({.kind = Kind::kSet, .key = "b"}), Kind::kFull);
  EXPECT_EQ(reply({.kind = Kind::kAdd, .number = 7, .key = "m"}), Kind::kFull);
  EXPECT_EQ(reply({.kind = Kind::kAdd, .number = 7, .key = "n"}),
            Kind::kNumber);
  EXPECT_EQ(reply({.kind = Kind::kRemove, .key = "a"}), Kind::kNumber);
  EXPECT_EQ(reply({.kind = Kind::kSet, .key = "b", .value = ten}), Kind::kDone);
}

// Requests of a few hundred bytes, for 400 MB.
TEST(TcpStoreLimits, WhoDoesNotReadIsSentNoMore) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  const std::string value(size_t{10} << 20, 'b');
  store.set("big", value);
  Raw greedy;
  ASSERT_TRUE(greedy.connect(server.port()));
  constexpr size_t kRequests = 40;
  std::string requests = kStoreHello;
  for (size_t i = 0; i < kRequests; ++i) {
    requests += store_message(3, "big", "", i);
  }
  const size_t before = resident_bytes();
  greedy.send(requests);
  // Meanwhile others are served.
  for (int i = 0; i < 10; ++i) EXPECT_EQ(store.get("big"), value);
  EXPECT_LT(resident_bytes(), before + (size_t{150} << 20));
  // It gets all when it reads.
  size_t left = 12 + kRequests * (25 + value.size());
  while (left > 0) {
    const size_t came = greedy.receive(std::min(left, size_t{4} << 20)).size();
    ASSERT_GT(came, 0u);
    left -= came;
  }
}

TEST(TcpStoreLimits, WaitingIsLimited) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  const std::string longest(size_t{16} << 10, 'k'), longer = longest + "k";
  SY_EXPECT_ERROR(store.get(longest, milliseconds(50)), Error,
                  "nobody has set");
  SY_EXPECT_ERROR(store.get(longer, milliseconds(50)), Error,
                  "holds as much as it may");
  store.set(longer, "v");
  EXPECT_EQ(store.get(longer, seconds(5)), "v");
  // A reply that the store is full, for each request beyond so many.
  constexpr size_t kMost = 1024, kMore = 30;
  Raw greedy;
  ASSERT_TRUE(greedy.connect(server.port()));
  std::string requests = kStoreHello;
  for (size_t i = 0; i < kMost + kMore; ++i) {
    requests += store_message(2, "absent", "", i);
  }
  greedy.send(requests);
  const std::string replies = greedy.receive(12 + 25 * kMore);
  ASSERT_EQ(replies.size(), 12 + 25 * kMore);
  for (size_t i = 0; i < kMore; ++i) {
    EXPECT_EQ(replies[12 + 25 * i + 4], static_cast<char>(Kind::kFull));
  }
  store.set("absent", "v");
  EXPECT_EQ(greedy.receive(26 * kMost).size(), 26 * kMost);
}

TEST(TcpStoreLimits, AnAnnouncedSizeTakesNoMemory) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  store.set("key", "value");
  const std::string size_of_64_mib("\0\0\0\4", 4);
  const size_t before = resident_bytes();
  std::vector<std::unique_ptr<Raw>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<Raw>());
    ASSERT_TRUE(clients.back()->connect(server.port()));
    clients.back()->send(kStoreHello + size_of_64_mib + "\1");
    EXPECT_EQ(clients.back()->receive(12).size(), 12u);
  }
  EXPECT_EQ(store.get("key"), "value");
  EXPECT_LT(resident_bytes(), before + (size_t{100} << 20));
  // More than a message may have: the connection ends at once.
  Raw liar;
  ASSERT_TRUE(liar.connect(server.port()));
  liar.send(kStoreHello + std::string("\1\0\0\4", 4));
  liar.receive();
}

TEST(TcpStoreLimits, AKeyAndItsValueAreChecked) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  const std::string most((size_t{64} << 20) - 21 - 1, 'v');
  store.set("k", most);
  EXPECT_EQ(store.get("k").size(), most.size());
  SY_EXPECT_ERROR(store.set("kk", most), ValueError, "bytes together");
}

}  // namespace
}  // namespace sy::distributed
