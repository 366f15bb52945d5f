#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/tools/sy/launch/launched.h"

// How ranks of `sy launch` end, and what becomes of the others.

namespace sy::tools {
namespace {

using namespace test;
namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Launch, GivesTheExitCodeOfTheFirstThatFails) {
  // The other one has time for an error of its own.
  const Ran ran =
      launch(shell("3",
                   "[ $r != 1 ] || exit 7; [ $r = 0 ] && exit 0; sleep 0.7; "
                   "echo 'rank 1 is gone' >&2; exit 4"));
  EXPECT_EQ(ran.status, 7);
  const std::vector<std::string> said = lines(ran.err);
  ASSERT_EQ(said.size(), 2u) << ran.err;
  EXPECT_EQ(said[0], "[2] rank 1 is gone");
  EXPECT_TRUE(said[1].starts_with("sy launch: rank 1 gave exit code 7 after "))
      << said[1];
  EXPECT_TRUE(said[1].ends_with(" s; the others ended too")) << said[1];
}

// Whether a process of the group runs: one that ended, and that nobody has
// asked about, does not count.
bool lives(pid_t group) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string stat = contents((entry.path() / "stat").string());
    const size_t name_end = stat.rfind(')');
    if (name_end == stat.npos) continue;
    char state = 0;
    int parent = 0, its_group = 0;
    if (std::sscanf(stat.c_str() + name_end + 1, " %c %d %d", &state, &parent,
                    &its_group) == 3 &&
        its_group == group && state != 'Z' && state != 'X') {
      return true;
    }
  }
  return false;
}

TEST(Launch, EndsTheOthersOfARankThatIsKilled) {
  // They ignore SIGTERM, and leave others behind.
  const Ran ran =
      launch(shell("3",
                   "trap '' TERM; [ $r != 2 ] || kill -KILL $$; sleep 60 & "
                   "echo $$ >&2; sleep 60; sleep 60"));
  EXPECT_EQ(ran.status, 137);
  const std::vector<std::string> said = lines(ran.err);
  ASSERT_EQ(said.size(), 3u) << ran.err;
  EXPECT_TRUE(said[2].starts_with(
      "sy launch: rank 2 was killed by signal 9 (SIGKILL) after "))
      << said[2];
  EXPECT_TRUE(said[2].ends_with(" s; the others were ended")) << said[2];
  for (int i = 0; i < 2; ++i) {
    const pid_t group = std::atoi(said[static_cast<size_t>(i)].c_str() + 4);
    EXPECT_GT(group, 1);
    EXPECT_FALSE(lives(group)) << group;
  }
}

// The process groups that ranks wrote to a file.
std::vector<pid_t> groups_in(const std::string& path, size_t n) {
  std::vector<pid_t> out;
  for (int i = 0; i < 1000 && out.size() < n; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    out.clear();
    const std::string text = contents(path);
    if (!text.ends_with("\n")) continue;
    for (const std::string& l : lines(text)) out.push_back(std::stoi(l));
  }
  return out;
}

bool all_gone(const std::vector<pid_t>& groups) {
  for (int i = 0; i < 500; ++i) {
    if (std::all_of(groups.begin(), groups.end(),
                    [](pid_t g) { return !lives(g); })) {
      return true;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(Launch, StrangersAtItsPortHarmNobody) {
  // The watcher, which is the rank's parent, has the port in its arguments.
  const Ran ran =
      launch({"-n", "2", "bash", "-c",
              "[ $OMPI_COMM_WORLD_RANK = 0 ] || { sleep 0.3; exit 0; };"
              "port=$(tr '\\0' '\\n' </proc/$PPID/cmdline | tail -n 1);"
              "say() { exec 3<>/dev/tcp/127.0.0.1/$port; printf \"$1\" >&3; "
              "  timeout 10 cat <&3; [ $? -ne 124 ]; echo \"$?\"; };"
              "say 'GET / HTTP/1.1\\r\\n\\r\\n';"
              "say '\\1\\7\\0\\0\\0wrong 1'; say '\\4\\2\\0\\0\\0xx';"
              "exec 4<>/dev/tcp/127.0.0.1/$port; printf '\\1\\9' >&4"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  // It hangs up, by a reset where it leaves bytes unread.
  EXPECT_EQ(ran.out, "[0] 0\n[0] 0\n[0] 0\n") << ran.err;
}

TEST(Launch, SignalsEndAllRanks) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const std::string path = scratch("pids");
    fs::remove(path);
    const Launched running(
        shell("2", "echo $$ >>" + path + "; sleep 60; echo no"));
    const std::vector<pid_t> groups = groups_in(path, 2);
    ASSERT_EQ(groups.size(), 2u);
    kill(running.pid(), signal);
    const Ran ran = running.wait();
    EXPECT_EQ(ran.status, 128 + signal);
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(all_gone(groups)) << signal;
    if (signal == SIGKILL) continue;
    const std::string name = signal == SIGINT ? "SIGINT" : "SIGTERM";
    EXPECT_TRUE(
        ran.err.starts_with("sy launch: stopped by " + name + " after "))
        << ran.err;
  }
}

TEST(Launch, SurvivorsGoOn) {
  // An mpirun that calls itself newer; the real one lets ranks go on if asked.
  const std::string newer = scratch("newer");
  std::ofstream(newer) << "#!/bin/sh\n"
                          "[ \"$1\" != --version ] || {\n"
                          "  echo 'mpirun (Open MPI) 5.0.11'; exit; }\n"
                          "case \" $* \" in *' --with-ft ulfm '*) ;;\n"
                          "  *) exit 9 ;; esac\n"
                          "for a; do shift\n"
                          "  case $a in --with-ft | ulfm) ;;\n"
                          "    *) set -- \"$@\" \"$a\" ;; esac; done\n"
                          "exec mpirun --enable-recovery \"$@\"\n";
  fs::permissions(newer, fs::perms::owner_all);
  std::vector<std::string> arguments =
      shell("2", "[ $r = 0 ] || kill -KILL $$; sleep 2.5; echo saved");
  arguments.insert(arguments.begin(), "--survive");
  const Ran ran = launch(arguments, {"SWITCHYARD_MPIRUN=" + newer});
  EXPECT_EQ(ran.status, 137);
  EXPECT_EQ(ran.out, "[0] saved\n") << ran.err;
  EXPECT_NE(ran.err.find("sy launch: rank 1 was killed by signal 9 (SIGKILL)"),
            ran.err.npos);
  EXPECT_TRUE(ran.err.ends_with(" s; the others went on\n")) << ran.err;
}

TEST(LaunchedRank, DISABLED_LearnsWhyAnotherIsGone) {
  const auto store = own_store();
  store->join(own_rank(), [] { return std::string(); });
  store->set("here" + std::to_string(own_rank()), "yes");
  store->wait({"here0", "here1", "here2"}, seconds(20));
  if (own_rank() == 1) raise(SIGKILL);
  if (own_rank() == 2) {
    store->leave();
    _exit(0);
  }
  const auto limit = std::chrono::steady_clock::now() + seconds(1);
  std::set<std::string> said;
  while (said.size() < 2 && std::chrono::steady_clock::now() < limit) {
    said.clear();
    for (const distributed::Departure& d : store->departed()) {
      if (!d.why.starts_with("connection lost")) {
        said.insert(std::to_string(d.rank) + " " + d.why);
      }
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(said, (std::set<std::string>{"1 killed by signal 9 (SIGKILL)",
                                         "2 its program ended"}));
  store->leave();
}

TEST(Launch, RanksLearnWhoIsGoneAndWhy) {
  const Ran ran = launch(this_test("3", "LearnsWhyAnotherIsGone"));
  EXPECT_EQ(ran.status, 137) << ran.err;
  EXPECT_NE(ran.out.find("[0] [  PASSED  ] 1 test."), ran.out.npos) << ran.out;
}

}  // namespace
}  // namespace sy::tools
