#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "test/c10/expect_error.h"
#include "tools/sy/launch/hosts.h"
#include "tools/sy/launch/lines.h"
#include "tools/sy/launch/mpirun.h"
#include "tools/sy/launch/wire.h"

// The parts of `sy launch`.

namespace sy::tools {
namespace {

using Slots = std::vector<std::pair<std::string, int>>;

Slots placed(const char* text, int ranks, int cores, int* total = nullptr) {
  std::vector<LaunchHost> hosts = parse_hosts(text);
  const int n = place_ranks(hosts, ranks, cores);
  if (total != nullptr) *total = n;
  Slots out;
  for (const LaunchHost& h : hosts) out.emplace_back(h.name, h.slots);
  return out;
}

TEST(LaunchHosts, RanksAreSharedOut) {
  int n = 0;
  EXPECT_EQ(placed("a,b:4", 0, 8, &n), (Slots{{"a", 8}, {"b", 4}}));
  EXPECT_EQ(n, 12);
  EXPECT_EQ(placed("a,b:4,c", 9, 8, &n), (Slots{{"a", 3}, {"b", 4}, {"c", 2}}));
  EXPECT_EQ(n, 9);
  EXPECT_EQ(placed("a:2,b:3", 4, 8, &n), (Slots{{"a", 2}, {"b", 3}}));
  EXPECT_EQ(n, 4);
  EXPECT_EQ(placed("node-1.lan_x:2", 0, 8), (Slots{{"node-1.lan_x", 2}}));
}

TEST(LaunchHosts, RanksThatDoNotFitAreRefused) {
  SY_EXPECT_ERROR(placed("a:2,b:3", 6, 8), ValueError,
                  "[launch] -n: 6 ranks do not fit: the hosts hold 5 (a 2, b "
                  "3)");
  SY_EXPECT_ERROR(placed("a,b:3,c", 4, 8), ValueError,
                  "[launch] -n: 4 ranks are too few for 3 hosts, of which some "
                  "hold 3");
  for (const char* bad : {"", ",", "a,", "a:", "a:x", "a:-1", "a:0", "a:1:2",
                          "a b", "-x", "a:99999999999", "[::1]:2"}) {
    EXPECT_THROW(parse_hosts(bad), ValueError) << bad;
  }
}

TEST(LaunchHosts, KnowsThisMachine) {
  EXPECT_TRUE(all_local({}));
  EXPECT_TRUE(all_local({{"localhost", 1}, {"127.0.0.1", 1}}));
  EXPECT_FALSE(all_local({{"localhost", 1}, {"a", 1}}));
  EXPECT_EQ(own_addresses().back(), "127.0.0.1");
}

TEST(LaunchLines, AreMadeOfPieces) {
  LabelledLines lines("[1] ");
  EXPECT_EQ(lines.add("a"), "");
  EXPECT_EQ(lines.add("b\nc\n\nd"), "[1] ab\n[1] c\n[1] \n");
  EXPECT_EQ(lines.add(""), "");
  EXPECT_EQ(lines.rest(), "[1] d\n");
  EXPECT_EQ(lines.rest(), "");
}

TEST(LaunchLines, AreCutWhereTheyDoNotEnd) {
  LabelledLines lines("");
  const std::string most(LabelledLines::kLongest, 'x');
  EXPECT_EQ(lines.add(most), "");
  EXPECT_EQ(lines.add("y\n"), most + "\ny\n");
  EXPECT_EQ(lines.add(most), "");
  EXPECT_EQ(lines.add("\nz"), most + "\n");
  EXPECT_EQ(lines.rest(), "z\n");
}

TEST(LaunchMpirun, GetsWhatAJobNeeds) {
  MpirunJob job;
  job.ranks = 5;
  job.hosts = {{"a", 2}, {"b", 3}};
  job.variables = {"X"};
  job.command = {"p", "q"};
  EXPECT_EQ(mpirun_command({"/bin/mpirun", 4, "4.1.4"}, job, true),
            (std::vector<std::string>{"/bin/mpirun", "--allow-run-as-root",
                                      "--map-by", "slot:OVERSUBSCRIBE",
                                      "--bind-to", "none", "--host", "a:2,b:3",
                                      "-x", "X", "-n", "5", "p", "q"}));
  job.survive = true;
  job.hosts.clear();
  job.variables.clear();
  EXPECT_EQ(mpirun_command({"m", 5, "5.0.11"}, job, false),
            (std::vector<std::string>{"m", "--map-by", "slot:OVERSUBSCRIBE",
                                      "--bind-to", "none", "--with-ft", "ulfm",
                                      "-n", "5", "p", "q"}));
}

TEST(RankEnd, SaysHowItWas) {
  RankEnd end;
  EXPECT_TRUE(end.good());
  EXPECT_EQ(end.reason(), "its program ended");
  end.exit_code = 3;
  EXPECT_EQ(end.describe(), "gave exit code 3");
  EXPECT_EQ(end.reason(), "exit code 3");
  EXPECT_EQ(end.status(), 3);
  end.exit_code = 0;
  end.signal = SIGSEGV;
  EXPECT_EQ(end.describe(), "was killed by signal 11 (SIGSEGV)");
  EXPECT_EQ(end.status(), 139);
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
  EXPECT_EQ(signal_name(50), "signal 50");
  end.told = true;
  EXPECT_FALSE(end.ended_by_us());
  end.signal = SIGTERM;
  EXPECT_TRUE(end.ended_by_us());
}

TEST(Mpirun, IsCalledByTheRealPathOfItsFolder) {
  namespace fs = std::filesystem;
  const fs::path base =
      fs::path(::testing::TempDir()) / ("mpirun" + std::to_string(getpid()));
  fs::create_directories(base / "usr" / "bin");
  const fs::path real = fs::canonical(base / "usr" / "bin");
  fs::create_directory_symlink(real, base / "bin");
  fs::create_symlink("elsewhere", real / "mpirun");
  EXPECT_EQ(with_real_folder((base / "bin" / "mpirun").string()),
            (real / "mpirun").string());
  EXPECT_EQ(with_real_folder("/no such folder/mpirun"),
            "/no such folder/mpirun");
  fs::remove_all(base);
}

TEST(LaunchWire, OrdersAndEndsComeBackAsTheyWere) {
  RankOrders orders;
  orders.survive = true;
  orders.threads = 3;
  orders.store_port = 65535;
  orders.variables = {"A=b c", "EMPTY="};
  orders.command = {"program", "", "a\nb", "\xff"};
  RankOrders got;
  ASSERT_TRUE(RankOrders::decode(orders.encode(), got));
  EXPECT_EQ(got.terminal, false);
  EXPECT_EQ(got.survive, true);
  EXPECT_EQ(got.threads, 3);
  EXPECT_EQ(got.store_port, 65535);
  EXPECT_EQ(got.variables, orders.variables);
  EXPECT_EQ(got.command, orders.command);
  for (const char* bad : {"", "1", "x ", "0 0 0 1 0 ", "0 0 0 1 0 open"}) {
    RankOrders none;
    EXPECT_FALSE(RankOrders::decode(bad, none)) << bad;
  }
  RankEnd end, back;
  end.exit_code = 127;
  end.told = true;
  end.problem = "could not be started: a b";
  ASSERT_TRUE(RankEnd::decode(end.encode(), back));
  EXPECT_EQ(back.exit_code, 127);
  EXPECT_EQ(back.signal, 0);
  EXPECT_TRUE(back.told);
  EXPECT_EQ(back.problem, end.problem);
  EXPECT_FALSE(RankEnd::decode("1 2", back));
}

TEST(LaunchWire, FramesComeWholeHoweverTheyAreCut) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  FrameSocket reader(ends[0]);
  const std::string bytes{2, 3, 0, 0, 0, 'a', 'b', 'c', 7, 0, 0, 0, 0};
  std::vector<Frame> frames;
  for (const char c : bytes) {
    ASSERT_EQ(write(ends[1], &c, 1), 1);
    ASSERT_TRUE(reader.receive(frames, 3));
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, FrameKind::kOutput);
  EXPECT_EQ(frames[0].bytes, "abc");
  EXPECT_EQ(frames[1].kind, static_cast<FrameKind>(7));
  EXPECT_EQ(frames[1].bytes, "");
  EXPECT_TRUE(reader.receive(frames, 3));  // nothing has come
  close(ends[1]);
  EXPECT_FALSE(reader.receive(frames, 3));
}

TEST(LaunchWire, FramesThatAreTooLongAreNone) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  FrameSocket reader(ends[0]);
  ASSERT_EQ(write(ends[1], "GET / HTTP/1.1", 14), 14);
  std::vector<Frame> frames;
  EXPECT_FALSE(reader.receive(frames, 1 << 20));
  EXPECT_TRUE(frames.empty());
  close(ends[1]);
}

TEST(LaunchWire, ConnectsToTheFirstThatAnswers) {
  const Listener listener(false);
  std::string used;
  FrameSocket client =
      connect_to({"127.0.0.2", "127.0.0.1"}, listener.port(), 5, used);
  EXPECT_EQ(used, "127.0.0.1");
  FrameSocket server(listener.accept());
  ASSERT_TRUE(server.open());
  EXPECT_TRUE(client.send(FrameKind::kHello, "hello"));
  std::vector<Frame> frames;
  while (frames.empty()) ASSERT_TRUE(server.receive(frames, 10));
  EXPECT_EQ(frames[0].bytes, "hello");
  EXPECT_THROW(connect_to({"nowhere"}, 1, 0, used), ValueError);
  EXPECT_THROW(connect_to({"127.0.0.1"}, 1, 0, used), Error);
}

}  // namespace
}  // namespace sy::tools
