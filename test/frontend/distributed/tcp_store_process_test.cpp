// Ranks that are processes of their own: killed, stopped, forked.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "c10/process/error.h"
#include "frontend/distributed/store/tcp_store.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/eventually.h"

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr const char* kPort = "STORE_TEST_PORT";
constexpr const char* kHeld = "STORE_TEST_HELD";  // a pipe, for a grandchild

// This program again, as rank 1.
class Child {
 public:
  Child(uint16_t port, int held = -1) {
    const std::string where = std::string(kPort) + "=" + std::to_string(port);
    const std::string pipe = std::string(kHeld) + "=" + std::to_string(held);
    std::vector<char*> environment;
    for (char** e = environ; *e != nullptr; ++e) {
      // The child gets no variables that are for the test alone: where results
      // go, and which part runs.
      const std::string_view variable = *e;
      if (variable.starts_with("TEST_") || variable.starts_with("GTEST_") ||
          variable.starts_with("XML_")) {
        continue;
      }
      environment.push_back(*e);
    }
    environment.push_back(const_cast<char*>(where.c_str()));
    environment.push_back(const_cast<char*>(pipe.c_str()));
    environment.push_back(nullptr);
    const char* const arguments[] = {
        "child", "--gtest_filter=Process.DISABLED_IsRankOne",
        "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr};
    EXPECT_EQ(
        ::posix_spawn(&process_, "/proc/self/exe", nullptr, nullptr,
                      const_cast<char* const*>(arguments), environment.data()),
        0);
  }
  ~Child() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void signal(int number) { ASSERT_EQ(::kill(process_, number), 0); }
  void stop() {
    signal(SIGSTOP);
    int status = 0;
    ASSERT_EQ(::waitpid(process_, &status, WUNTRACED), process_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }

 private:
  pid_t process_ = 0;
};

// The body of the child. It ends when it is told to, or the server goes.
TEST(Process, DISABLED_IsRankOne) {
  const char* const port = std::getenv(kPort);
  if (port == nullptr) GTEST_SKIP() << "started by the tests below";
  TcpStore store("127.0.0.1", static_cast<uint16_t>(std::atoi(port)));
  store.join(1, [] { return std::string("waiting to end"); });
  const int held = std::atoi(std::getenv(kHeld));
  if (held >= 0 && ::fork() == 0) {
    char c = 0;
    (void)!::read(held, &c, 1);  // until the test closes its end
    ::_exit(0);
  }
  store.set("ready", "");
  try {
    store.get("end", seconds(200));
    store.leave();
  } catch (const Error&) {
    // The test is over.
  }
}

struct World {
  TcpStoreServer server;
  TcpStore zero{"127.0.0.1", server.port()};
  TcpStore two{"127.0.0.1", server.port()};

  World() {
    zero.join(0, [] { return std::string("testing"); });
    two.join(2, [] { return std::string("testing"); });
  }
  void expect_departure(bool clean, const char* why) {
    const auto begin = Clock::now();
    for (TcpStore* store : {&zero, &two}) {
      ASSERT_TRUE(eventually([&] { return store->departures() == 1; }));
      EXPECT_EQ(store->departed().at(0).rank, 1);
      EXPECT_EQ(store->departed().at(0).clean, clean);
      EXPECT_EQ(store->departed().at(0).why, why);
    }
    const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    testing::Test::RecordProperty("milliseconds", std::to_string(took.count()));
    // A millisecond or so, where the machine has a core for it.
    EXPECT_LT(took, seconds(5));
  }
};

constexpr const char* kLost =
    "connection lost: the process was killed, or its machine is gone";

TEST(Process, ThatIsKilledHasDepartedForAll) {
  World world;
  Child child(world.server.port());
  world.zero.get("ready", seconds(60));
  EXPECT_EQ(world.zero.ask(1, seconds(60)), "waiting to end");
  child.signal(SIGKILL);
  world.expect_departure(false, kLost);
  EXPECT_EQ(world.zero.ask(1, seconds(60)), std::nullopt);
  world.server.depart(1, false, "killed by signal 9");
  EXPECT_TRUE(eventually(
      [&] { return world.two.departed().at(0).why == "killed by signal 9"; }));
}

TEST(Process, ThatEndsInGoodOrderDepartsClean) {
  World world;
  Child child(world.server.port());
  world.zero.get("ready", seconds(60));
  world.two.set("end", "");
  world.expect_departure(true, "its program ended");
}

TEST(Process, ThatIsStoppedDoesNotAnswerAndIsStillThere) {
  World world;
  Child child(world.server.port());
  world.zero.get("ready", seconds(60));
  child.stop();
  const auto begin = Clock::now();
  EXPECT_EQ(world.zero.ask(1, milliseconds(100)), std::nullopt);
  EXPECT_GE(Clock::now() - begin, milliseconds(100));
  EXPECT_LT(Clock::now() - begin, seconds(20));
  EXPECT_EQ(world.zero.departures(), 0);
  child.signal(SIGCONT);
  EXPECT_EQ(world.zero.ask(1, seconds(60)), "waiting to end");
  // Killed while it is asked.
  child.stop();
  std::thread asker(
      [&] { EXPECT_EQ(world.zero.ask(1, seconds(200)), std::nullopt); });
  std::this_thread::sleep_for(milliseconds(20));
  child.signal(SIGKILL);
  asker.join();
  world.expect_departure(false, kLost);
}

TEST(Process, ThatIsKilledHasDepartedThoughItsForkedChildLives) {
  World world;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::fcntl(ends[0], F_SETFD, 0), 0);
  {
    Child child(world.server.port(), ends[0]);
    world.zero.get("ready", seconds(60));
    child.signal(SIGKILL);
    world.expect_departure(false, kLost);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

// The exit code of what runs in a forked child.
template <class F>
int in_child(const F& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Whether it throws that error, without gtest.
template <class F>
bool refuses(const F& f, const char* text) {
  try {
    f();
  } catch (const Error& e) {
    return std::strstr(e.what(), text) != nullptr;
  }
  return false;
}

TEST(Process, ThatWasForkedUsesNeitherConnectionNorServer) {
  auto server = std::make_unique<TcpStoreServer>();
  auto store = std::make_unique<TcpStore>("127.0.0.1", server->port());
  TcpStore other("127.0.0.1", server->port());
  store->join(1, [] { return std::string("the parent"); });
  const auto body = [&] {
    const char* const text = "is used after fork";
    if (!refuses([&] { store->set("key", "of the child"); }, text)) return 1;
    if (!refuses([&] { store->get("key"); }, text)) return 2;
    if (!refuses([&] { store->find("key"); }, text)) return 3;
    if (!refuses([&] { store->add("key", 1); }, text)) return 4;
    if (!refuses([&] { store->remove("key"); }, text)) return 5;
    if (!refuses([&] { store->wait({"key"}, seconds(0)); }, text)) return 6;
    if (!refuses([&] { store->join(1, nullptr); }, text)) return 7;
    if (!refuses([&] { store->departed(); }, text)) return 8;
    if (!refuses([&] { store->ask(1, seconds(0)); }, text)) return 9;
    if (!refuses([&] { store->clock_offset(); }, text)) return 10;
    if (!refuses([&] { server->find("key"); }, text)) return 11;
    if (!refuses([&] { server->depart(1, true, ""); }, text)) return 12;
    if (store->departures() != 0) return 13;
    store->leave();
    store.reset();
    server.reset();
    return 42;
  };
  EXPECT_EQ(in_child(body), 42);
  // Nothing of that is seen here.
  store->set("key", "of the parent");
  EXPECT_EQ(other.get("key"), "of the parent");
  EXPECT_EQ(other.ask(1, seconds(60)), "the parent");
  EXPECT_EQ(other.departures(), 0);
}

TEST(Process, ThatWasForkedMakesConnectionsOfItsOwn) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  const uint16_t port = server.port();
  const auto body = [&] {
    TcpStore mine("127.0.0.1", port);
    mine.set("key", "of the child");
    return 42;
  };
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "no threads start in a child under this sanitizer";
#endif
  EXPECT_EQ(in_child(body), 42);
  EXPECT_EQ(store.get("key"), "of the child");
}

}  // namespace
}  // namespace sy::distributed
