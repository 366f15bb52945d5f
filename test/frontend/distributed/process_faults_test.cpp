#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

// A short run of processes (process_faults_main.cpp), in which one of them is
// killed, stopped, throws, ends, comes late or calls something else, at one
// call after another. The others have the right numbers or an error that names
// it, nobody hangs, and nothing is left behind.
//
// SY is bin/sy, PROCESS_FAULTS_MAIN the program, SWITCHYARD_PLUGINS the folder
// of libswitchyard_mpi.so. SY_ALL_FAULTS: all calls and faults, some minutes.

extern char** environ;

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The numbers of process_faults_main.cpp.
constexpr int kCalls = 23, kLastOfAll = 20;
constexpr int kThrew = 4, kHadError = 3;
constexpr double kTimeout = 2000, kMostSeconds = 40;

struct Case {
  int ranks;
  std::string fault;
  int victim, call;

  std::string name() const {
    return fault + " of rank " + std::to_string(victim) + " of " +
           std::to_string(ranks) + " at call " + std::to_string(call);
  }
  // Whether the fault takes the rank away before all have called the rest.
  bool harms() const {
    return fault != "none" && fault != "short" && call <= kLastOfAll;
  }
};

struct Ran {
  int status = -1;
  double seconds = 0;
  std::string out, err;
  bool left = false;  // processes
};

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) throw std::runtime_error(std::string("no ") + name);
  return fs::absolute(text).string();
}

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// Whether a process has the text among its arguments.
bool lives(const std::string& argument) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!fs::is_directory(entry.path(), gone) || name == "self" ||
        name == std::to_string(getpid())) {
      continue;
    }
    if (contents(entry.path() / "cmdline").find(argument) != argument.npos) {
      return true;
    }
  }
  return false;
}

// Runs a program whose arguments have `mark`, which no other's have.
Ran run(const std::vector<std::string>& command, const fs::path& folder,
        const std::string& mark) {
  const std::string out = (folder / "out").string();
  const std::string err = (folder / "err").string();
  std::vector<char*> argv;
  for (const std::string& a : command) {
    argv.push_back(const_cast<char*>(a.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), kWrite, 0600);
  const auto begun = steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(steady_clock::now() - begun).count();
  };
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  Ran ran;
  if (error != 0) return ran;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (seconds() > kMostSeconds) {  // it hangs
      kill(pid, SIGTERM);
      waitpid(pid, &status, 0);
      break;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  ran.seconds = seconds();
  ran.status =
      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  ran.out = contents(out);
  ran.err = contents(err);
  ran.left = lives(mark);
  for (int i = 0; ran.left && i < 200; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    ran.left = lives(mark);
  }
  return ran;
}

Ran run(const Case& c, bool by_sy) {
  static std::atomic<int> number{0};
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("faults" + std::to_string(getpid()) +
                                        "_" + std::to_string(++number) + "_");
  fs::create_directories(folder);
  std::vector<std::string> command{variable("SY"), "launch"};
  if (c.fault == "survive") command.push_back("--survive");
  if (!by_sy) command = {"mpirun", "--oversubscribe", "--bind-to", "none"};
  for (const std::string& a :
       {std::string("-n"), std::to_string(c.ranks),
        variable("PROCESS_FAULTS_MAIN"), folder.string(), c.fault,
        std::to_string(c.victim), std::to_string(c.call)}) {
    command.push_back(a);
  }
  Ran ran = run(command, folder, folder.string());
  fs::remove_all(folder);
  return ran;
}

// The report of a rank.
struct Said {
  bool any = false, right = false, wrong = false, saved = false;
  double after = -1;  // milliseconds
  std::string error;
};

Said said_by(int rank, const Ran& ran) {
  Said said;
  const std::string label = "[" + std::to_string(rank) + "] ";
  for (const std::string& line : lines(ran.out)) {
    if (!line.starts_with(label)) continue;
    const std::string text = line.substr(label.size());
    said.any = true;
    said.right |= text.starts_with("right ");
    said.wrong |= text.starts_with("wrong ");
    said.saved |= text.starts_with("saved ");
    if (!said.saved && !text.starts_with("error ") &&
        !text.starts_with("ended ")) {
      continue;
    }
    said.after = std::atof(text.c_str() + 6);
    said.error = text.substr(text.find(": ") + 2);
  }
  return said;
}

bool names(const std::string& error, int rank) {
  const std::string r = std::to_string(rank);
  return error.find("rank " + r) != error.npos ||
         (error.starts_with("[init] ") &&
          (error.ends_with(": " + r) || error.ends_with(", " + r)));
}

class Times {
 public:
  void add(double ms) {
    ++n_;
    sum_ += ms;
    most_ = std::max(most_, ms);
  }
  void print(const char* of) const {
    if (n_ == 0) return;
    std::printf("%-12s %4d errors: %.0f ms on average, %.0f ms at most\n", of,
                n_, sum_ / n_, most_);
  }

 private:
  int n_ = 0;
  double sum_ = 0, most_ = 0;
};

bool is_departure(const Case& c) {
  return c.fault == "kill" || c.fault == "throw" || c.fault == "exit" ||
         c.fault == "return";
}

// Whether the rank that failed first may have this status. A rank that threw
// waits at its end for the others, as long as they do not know.
bool is_status(const Case& c, int status) {
  if (c.fault == "kill") return status == 137;
  const bool threw = c.fault == "throw" && status == kThrew;
  return threw ||
         (c.harms() ? status == kHadError : status == 0 && c.fault != "throw");
}

void check(const Case& c, const Ran& ran, Times& gone, Times& other) {
  SCOPED_TRACE(c.name() + "\n" + ran.out + ran.err);
  EXPECT_LT(ran.seconds, kMostSeconds);
  EXPECT_FALSE(ran.left);
  EXPECT_TRUE(is_status(c, ran.status)) << ran.status;
  EXPECT_EQ(ran.err.find("sy launch: rank ") != ran.err.npos, ran.status != 0);
  // One of three ranks may wait for one that waits for the victim.
  const bool in_a_row = c.ranks > 2 && c.call >= 13 && c.call <= 15;
  int naming = 0;
  for (int r = 0; r < c.ranks; ++r) {
    const Said said = said_by(r, ran);
    EXPECT_FALSE(said.wrong);
    if (r == c.victim && c.fault != "other") continue;
    EXPECT_TRUE(said.any) << r;
    EXPECT_EQ(said.error.empty(), !c.harms()) << r;
    EXPECT_EQ(said.right, !c.harms()) << r;
    if (!c.harms()) continue;
    naming += names(said.error, c.victim);
    EXPECT_TRUE(in_a_row || r == c.victim || names(said.error, c.victim)) << r;
    EXPECT_LT(said.after, kTimeout + 5000) << r;
    if (is_departure(c)) {
      EXPECT_LT(said.after, 5000) << r;
      gone.add(said.after);
    } else if (c.fault == "other" &&
               said.error.find("the ranks disagree") != said.error.npos) {
      EXPECT_LT(said.after, 5000) << r;
      EXPECT_NE(said.error.find("not of this run"), said.error.npos) << r;
      other.add(said.after);
    }
  }
  EXPECT_EQ(naming > 0, c.harms());
}

constexpr const char* kFaults[] = {"kill",   "stop",  "throw", "exit",
                                   "return", "short", "long",  "other"};

// A rank that is stopped after the last call is for who stopped it to wake; and
// "other" needs a world.
bool possible(const Case& c) {
  if (c.fault == "stop") return c.call < kCalls - 1;
  return c.fault != "other" || (c.call > 0 && c.call <= kLastOfAll);
}

std::vector<Case> all_cases() {
  std::vector<Case> out;
  for (const char* fault : kFaults) {
    for (int call = 0; call < kCalls; ++call) {
      out.push_back({2, fault, 1, call});
      out.push_back({2, fault, 0, call});
      out.push_back({3, fault, 1, call});
    }
  }
  return out;
}

// Each call with some fault, and each fault at several calls.
std::vector<Case> some_cases() {
  std::vector<Case> out;
  int i = 0;
  for (int call = 0; call < kCalls; ++call) {
    const char* const fault = kFaults[call % 8];
    ++i;
    out.push_back({2 + i % 2, fault, i % 3 == 0 ? 0 : 1, call});
  }
  for (const int call : {4, 14, 17, 21}) out.push_back({2, "kill", 1, call});
  for (const int call : {3, 16, 18}) out.push_back({3, "other", 1, call});
  out.push_back({2, "exit", 1, 21});
  out.push_back({2, "return", 1, 0});
  return out;
}

// Some at a time: they wait more than they compute.
std::vector<Ran> run_all(const std::vector<Case>& cases, bool by_sy = true) {
  std::vector<Ran> ran(cases.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (size_t k = 0; (k = next++) < cases.size();) {
        ran[k] = run(cases[k], by_sy);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return ran;
}

TEST(ProcessFaults, AtEveryCall) {
  std::vector<Case> cases =
      std::getenv("SY_ALL_FAULTS") != nullptr ? all_cases() : some_cases();
  std::erase_if(cases, [](const Case& c) { return !possible(c); });
  for (const int ranks : {2, 3}) cases.push_back({ranks, "none", -1, -1});
  const std::vector<Ran> ran = run_all(cases);
  Times gone, other;
  for (size_t k = 0; k < cases.size(); ++k) {
    check(cases[k], ran[k], gone, other);
  }
  gone.print("a rank gone");
  other.print("a mismatch");
}

// Most of a short run is the beginning of MPI, which may end the others before
// they can say why.
TEST(ProcessFaults, AtAnyTime) {
  std::vector<Case> cases;
  const int n = std::getenv("SY_ALL_FAULTS") != nullptr ? 90 : 9;
  for (int i = 0; i < n; ++i) {
    const char* const fault = i % 3 == 0   ? "stop_at"
                              : i % 3 == 1 ? "exit_at"
                                           : "kill_at";
    cases.push_back({2 + i % 2, fault, i / 3 % 2, i * 250'000 / n});
  }
  const std::vector<Ran> ran = run_all(cases);
  for (size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    SCOPED_TRACE(c.name() + "\n" + ran[k].out + ran[k].err);
    EXPECT_LT(ran[k].seconds, kMostSeconds);
    EXPECT_FALSE(ran[k].left);
    int right = 0;
    for (int r = 0; r < c.ranks; ++r) {
      const Said said = said_by(r, ran[k]);
      EXPECT_FALSE(said.wrong);
      right += said.right;
      if (r == c.victim || said.error.empty()) continue;
      EXPECT_TRUE(names(said.error, c.victim)) << r;
    }
    // The victim may have come to the end, or nearly.
    EXPECT_TRUE(ran[k].status != 0 || right >= c.ranks - 1);
  }
}

// The mpirun of an Open MPI of ULFM, which SWITCHYARD_ULFM_MPIRUN names.
TEST(ProcessFaults, SurvivorsSave) {
  const char* const mpirun = std::getenv("SWITCHYARD_ULFM_MPIRUN");
  if (mpirun == nullptr || *mpirun == '\0') {
    GTEST_SKIP() << "there is no SWITCHYARD_ULFM_MPIRUN: `./sy setup --full` "
                    "downloads Open MPI 5";
  }
  setenv("SWITCHYARD_MPIRUN", mpirun, 1);
  Times gone;
  for (const Case& c : {Case{3, "survive", 1, 4}, Case{3, "survive", 0, 12},
                        Case{2, "survive", 1, 17}}) {
    const Ran ran = run(c, true);
    SCOPED_TRACE(c.name() + "\n" + ran.out + ran.err);
    EXPECT_FALSE(ran.left);
    EXPECT_EQ(ran.status, 137);  // of the one that died
    EXPECT_NE(ran.err.find("the others went on"), ran.err.npos);
    int saved = 0;
    for (int r = 0; r < c.ranks; ++r) {
      if (r == c.victim) continue;
      const Said said = said_by(r, ran);
      saved += said.saved;
      EXPECT_TRUE(names(said.error, c.victim)) << r;
      EXPECT_LT(said.after, 5000);
      gone.add(said.after);
    }
    EXPECT_EQ(saved, 1);
  }
  unsetenv("SWITCHYARD_MPIRUN");
  gone.print("ULFM");
}

// mpirun itself ends all ranks when one dies: perhaps before they say why.
TEST(ProcessFaults, UnderPlainMpirun) {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  const std::vector<Case> cases = {{2, "none", -1, -1},  {2, "kill", 1, 5},
                                   {3, "throw", 2, 8},   {2, "exit", 1, 10},
                                   {2, "return", 0, 17}, {2, "stop", 1, 12}};
  const std::vector<Ran> ran = run_all(cases, false);
  for (size_t k = 0; k < cases.size(); ++k) {
    SCOPED_TRACE(cases[k].name() + "\n" + ran[k].out + ran[k].err);
    EXPECT_LT(ran[k].seconds, kMostSeconds);
    EXPECT_FALSE(ran[k].left);
    EXPECT_EQ(ran[k].status != 0, cases[k].harms());
    EXPECT_EQ(ran[k].out.find("wrong "), std::string::npos);
  }
}

}  // namespace
