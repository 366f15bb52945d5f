#include "frontend/distributed/store/store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "c10/process/error.h"
#include "frontend/distributed/store/tcp_store.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/eventually.h"

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

enum class Kind { kHash, kPrefix, kTcp };

// Stores that share their values.
class StoreTest : public testing::TestWithParam<Kind> {
 protected:
  std::shared_ptr<Store> make() {
    if (GetParam() == Kind::kTcp) {
      if (!server_) server_ = std::make_unique<TcpStoreServer>();
      return std::make_shared<TcpStore>("127.0.0.1", server_->port());
    }
    auto hash = std::make_shared<HashStore>(shared_);
    if (GetParam() == Kind::kHash) return hash;
    return std::make_shared<PrefixStore>("job", hash);
  }

 private:
  std::shared_ptr<HashStore::Shared> shared_ = HashStore::make_shared();
  std::unique_ptr<TcpStoreServer> server_;
};

std::string nothing() { return "nothing"; }

TEST_P(StoreTest, AllSeeWhatOneHasSet) {
  const auto a = make(), b = make();
  a->set("key", "value");
  EXPECT_EQ(b->get("key", seconds(20)), "value");
  EXPECT_EQ(b->find("key"), "value");
  b->set("key", "another");
  EXPECT_EQ(a->get("key"), "another");
}

TEST_P(StoreTest, AnyBytesAreKeysAndValues) {
  const auto store = make();
  const std::string bytes("\0\n\xff{}\0", 6);
  store->set(bytes, bytes);
  store->set("", "of the empty key");
  store->set("empty", "");
  EXPECT_EQ(store->get(bytes), bytes);
  EXPECT_EQ(store->get(""), "of the empty key");
  EXPECT_EQ(store->get("empty"), "");
  std::string large(size_t{3} << 20, 'a');
  large.back() = 'z';
  store->set("large", large);
  EXPECT_EQ(store->get("large"), large);
}

TEST_P(StoreTest, FindDoesNotWaitAndRemoveSaysWhetherThereWasOne) {
  const auto store = make();
  EXPECT_EQ(store->find("key"), std::nullopt);
  EXPECT_FALSE(store->remove("key"));
  store->set("key", "value");
  EXPECT_TRUE(store->remove("key"));
  EXPECT_EQ(store->find("key"), std::nullopt);
}

TEST_P(StoreTest, AddBeginsAtZeroAndIsReadAsDigits) {
  const auto store = make();
  EXPECT_EQ(store->add("n", 5), 5);
  EXPECT_EQ(store->add("n", -7), -2);
  EXPECT_EQ(store->get("n"), "-2");
  store->set("n", "40");
  EXPECT_EQ(store->add("n", 2), 42);
  EXPECT_EQ(store->add("new", 0), 0);
  EXPECT_EQ(store->find("new"), "0");
}

TEST_P(StoreTest, AddRefusesWhatIsNoNumber) {
  const auto store = make();
  for (const char* text : {"", "abc", "1.5", "3 ", "99999999999999999999"}) {
    store->set("text", text);
    SY_EXPECT_ERROR(store->add("text", 1), ValueError, "add: expected");
    EXPECT_EQ(store->get("text"), text);
  }
  store->set("text", "abc");
  SY_EXPECT_ERROR(store->add("text", 1), ValueError, "text' and the sum");
  SY_EXPECT_ERROR(store->add("text", 1), ValueError, "got 'abc'");
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(store->add("most", kMost), kMost);
  SY_EXPECT_ERROR(store->add("most", 1), ValueError, "of 64 bits");
  EXPECT_EQ(store->add("most", 0), kMost);
}

TEST_P(StoreTest, SixteenAddAtOnce) {
  constexpr int kStores = 16, kEach = 50;
  std::vector<std::shared_ptr<Store>> stores;
  for (int i = 0; i < kStores; ++i) stores.push_back(make());
  std::vector<std::thread> threads;
  std::atomic<int64_t> largest{0};
  for (const auto& store : stores) {
    threads.emplace_back([&store, &largest] {
      for (int i = 0; i < kEach; ++i) {
        if (store->add("sum", 1) == kStores * kEach) ++largest;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(largest, 1);
  EXPECT_EQ(stores[0]->get("sum"), std::to_string(kStores * kEach));
}

TEST_P(StoreTest, ThreadsShareOneStore) {
  const auto store = make();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      const std::string mine = std::to_string(t);
      for (int i = 0; i < 50; ++i) {
        store->set(mine, std::to_string(i));
        EXPECT_EQ(store->get(mine), std::to_string(i));
        store->set_timeout(seconds(100 + t));
      }
    });
  }
  for (auto& t : threads) t.join();
}

TEST_P(StoreTest, GetWaitsForSetAndForAdd) {
  const auto setter = make(), getter = make();
  std::atomic<int> begun{0};
  std::vector<std::thread> waiting;
  for (const char* key : {"set", "set", "added"}) {
    waiting.emplace_back([&getter, &begun, key] {
      ++begun;
      EXPECT_EQ(getter->get(key, seconds(60)), "7");
    });
  }
  EXPECT_TRUE(eventually([&] { return begun == 3; }));
  std::this_thread::sleep_for(milliseconds(20));
  setter->set("set", "7");
  setter->add("added", 7);
  for (auto& t : waiting) t.join();
}

TEST_P(StoreTest, GetThatTimesOutNamesKeyAndSeconds) {
  const auto store = make();
  SY_EXPECT_ERROR(store->get("a/key", milliseconds(30)), Error, "a/key'");
  SY_EXPECT_ERROR(store->get("a/key", milliseconds(30)), Error,
                  "within 0.03 s");
  SY_EXPECT_ERROR(store->get("a/key", milliseconds(-1)), Error, "a/key'");
  store->set_timeout(milliseconds(20));
  SY_EXPECT_ERROR(store->get("a/key"), Error, "within 0.02 s");
  // Nobody is left waiting: what comes now is for those who ask now.
  store->set_timeout(seconds(20));
  store->set("a/key", "1");
  EXPECT_EQ(store->get("a/key", milliseconds::max()), "1");
}

TEST_P(StoreTest, WaitNamesAllThatAreMissing) {
  const auto store = make(), other = make();
  store->set("here", "");
  store->wait({"here"}, seconds(20));
  store->wait({}, milliseconds(0));
  SY_EXPECT_ERROR(store->wait({"x", "here", "y"}, milliseconds(30)), Error,
                  "[distributed] wait: within 0.03 s nobody has set 'x', 'y'");
  std::thread setter([&] {
    other->set("y", "");
    other->set("x", "");
  });
  store->wait({"x", "here", "y"}, seconds(60));
  setter.join();
}

TEST_P(StoreTest, LeavingIsACleanDeparture) {
  const auto a = make(), b = make();
  a->join(0, nothing);
  b->join(1, nothing);
  EXPECT_EQ(a->departures(), 0);
  b->leave();
  b->leave();
  ASSERT_TRUE(eventually([&] { return a->departures() > 0; }));
  const auto gone = a->departed();
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].rank, 1);
  EXPECT_TRUE(gone[0].clean);
  EXPECT_EQ(gone[0].why, "its program ended");
  // The connection's end adds nothing.
  make()->leave();  // nor does one that never joined
  a->set("key", "");
  EXPECT_EQ(a->departures(), 1);
}

TEST_P(StoreTest, AStoreDestroyedWithoutLeavingIsNoCleanDeparture) {
  const auto a = make();
  a->join(0, nothing);
  {
    const auto b = make();
    b->join(1, nothing);
  }
  ASSERT_TRUE(eventually([&] { return a->departures() == 1; }));
  EXPECT_EQ(a->departed().at(0).rank, 1);
  EXPECT_FALSE(a->departed().at(0).clean);
}

TEST_P(StoreTest, WhoComesLateKnowsWhoHasGone) {
  const auto a = make();
  a->join(3, nothing);
  a->leave();
  const auto b = make();
  b->join(4, nothing);
  EXPECT_EQ(b->departures(), 1);
  ASSERT_EQ(b->departed().size(), 1u);
  EXPECT_EQ(b->departed()[0].rank, 3);
}

TEST_P(StoreTest, ARankJoinsOnce) {
  const auto a = make(), b = make();
  a->join(1, nothing);
  SY_EXPECT_ERROR(b->join(1, nothing), ValueError,
                  "[distributed] rank 1 has joined twice: two programs use the "
                  "store ");
  SY_EXPECT_ERROR(a->join(2, nothing), ValueError, "used by rank 1, got 2");
  SY_EXPECT_ERROR(b->join(-1, nothing), ValueError, "got -1");
  b->join(2, nothing);
  EXPECT_EQ(b->departures(), 0);
  a->join(1, [] { return std::string("anew"); });
  EXPECT_EQ(b->ask(1, seconds(20)), "anew");
}

TEST_P(StoreTest, ARankThatHasGoneMayComeAgain) {
  const auto a = make(), b = make(), c = make();
  c->join(0, nothing);
  a->join(1, nothing);
  a->leave();
  b->join(1, [] { return std::string("second"); });
  EXPECT_TRUE(eventually([&] { return c->departed().empty(); }));
  EXPECT_EQ(c->ask(1, seconds(20)), "second");
  EXPECT_EQ(c->departures(), 1);
  b->leave();
  a->join(1, nothing);
  a->leave();
  EXPECT_TRUE(eventually([&] { return c->departures() == 3; }));
  EXPECT_EQ(c->departed().size(), 1u);
}

TEST_P(StoreTest, AskSaysWhatARankIsDoing) {
  const auto a = make(), b = make();
  EXPECT_EQ(a->ask(1, seconds(20)), std::nullopt);
  EXPECT_EQ(a->ask(-1, seconds(20)), std::nullopt);
  int asked = 0;
  a->join(0, nothing);
  b->join(1, [&] { return "question " + std::to_string(++asked); });
  EXPECT_EQ(a->ask(1, seconds(20)), "question 1");
  EXPECT_EQ(b->ask(1, seconds(20)), "question 2");
  EXPECT_EQ(b->ask(0, seconds(20)), "nothing");
  b->leave();
  EXPECT_EQ(a->ask(1, seconds(20)), std::nullopt);
  EXPECT_EQ(asked, 2);
}

TEST_P(StoreTest, AnAnswerThatThrowsIsOneToo) {
  const auto a = make();
  a->join(0, []() -> std::string { throw ValueError("lost my way"); });
  EXPECT_EQ(a->ask(0, seconds(20)), "it cannot say: lost my way");
  a->join(0, []() -> std::string { throw 1; });
  EXPECT_EQ(a->ask(0, seconds(20)), "it cannot say");
  a->join(0, nullptr);
  EXPECT_EQ(a->ask(0, seconds(20)), std::nullopt);
}

TEST_P(StoreTest, LeaveWaitsForTheAnswerThatIsBeingMade) {
  const auto a = make(), b = make();
  std::atomic<bool> begun{false}, ended{false};
  b->join(1, [&] {
    begun = true;
    std::this_thread::sleep_for(milliseconds(50));
    ended = true;
    return std::string("slow");
  });
  std::thread asker([&] { a->ask(1, seconds(20)); });
  EXPECT_TRUE(eventually([&] { return begun.load(); }));
  b->leave();
  EXPECT_TRUE(ended);
  asker.join();
}

std::string name_of(const testing::TestParamInfo<Kind>& kind) {
  switch (kind.param) {
    case Kind::kHash: return "Hash";
    case Kind::kPrefix: return "Prefix";
    case Kind::kTcp: return "Tcp";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(All, StoreTest,
                         testing::Values(Kind::kHash, Kind::kPrefix,
                                         Kind::kTcp),
                         name_of);

TEST(HashStore, VanishesForTheReasonGiven) {
  const auto shared = HashStore::make_shared();
  HashStore a(shared), b(shared);
  b.vanish("it never came");
  EXPECT_EQ(a.departures(), 0);
  b.join(1, nothing);
  b.vanish("power cut");
  b.leave();
  ASSERT_EQ(a.departed().size(), 1u);
  EXPECT_EQ(a.departed()[0].why, "power cut");
  EXPECT_FALSE(a.departed()[0].clean);
  EXPECT_EQ(a.ask(1, seconds(20)), std::nullopt);
  SY_EXPECT_ERROR(HashStore(nullptr), ValueError, "got nullptr");
}

TEST(HashStore, AloneIsAWorldOfItsOwn) {
  HashStore a, b;
  a.set("key", "value");
  EXPECT_EQ(b.find("key"), std::nullopt);
}

TEST(PrefixStore, KeepsKeysApartAndRanksTogether) {
  const auto base = std::make_shared<HashStore>();
  base->set_timeout(seconds(3));
  const auto x = std::make_shared<PrefixStore>("x", base);
  const auto y = std::make_shared<PrefixStore>("y", base);
  PrefixStore inner("inner", x);
  EXPECT_EQ(inner.timeout(), seconds(3));
  x->set("key", "1");
  EXPECT_EQ(y->find("key"), std::nullopt);
  EXPECT_EQ(base->find("x/key"), "1");
  inner.set("key", "2");
  EXPECT_EQ(base->find("x/inner/key"), "2");
  EXPECT_EQ(x->get("key"), "1");
  EXPECT_TRUE(x->remove("key"));
  EXPECT_EQ(base->find("x/key"), std::nullopt);
  inner.join(5, nothing);
  EXPECT_EQ(y->ask(5, seconds(20)), "nothing");
  inner.leave();
  EXPECT_EQ(y->departures(), 1);
  EXPECT_EQ(base->departed().at(0).rank, 5);
  SY_EXPECT_ERROR(PrefixStore("x", nullptr), ValueError, "got nullptr");
}

}  // namespace
}  // namespace sy::distributed
