#include "tools/sy/launch/launch.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>

#include "c10/process/error.h"
#include "frontend/distributed/store/tcp_store.h"
#include "tools/sy/launch/hosts.h"
#include "tools/sy/launch/job.h"
#include "tools/sy/launch/mpirun.h"
#include "tools/sy/launch/rank.h"
#include "tools/sy/launch/timeline.h"
#include "tools/sy/launch/wire.h"

extern char** environ;

namespace sy::tools {

namespace {

namespace fs = std::filesystem;

constexpr int kMostRanks = 65536;

std::string random_token() {
  unsigned char bytes[16];
  SY_CHECK(getrandom(bytes, sizeof bytes, 0) == sizeof bytes, Error,
           "[launch] no random numbers: {}", std::strerror(errno));
  std::string out;
  for (const unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

std::string own_program() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  SY_CHECK(!error, Error, "[launch] cannot find this program: {}",
           error.message());
  return path.string();
}

void check_program(const std::string& name) {
  std::string why;
  SY_CHECK(!find_program(name, why).empty(), Value,
           "[launch] PROGRAM: cannot run '{}': {}", name, why);
}

std::string part_of(const std::string& trace, int rank) {
  return str("{}.rank{}", trace, rank);
}

// The absolute path: a program may go elsewhere before it writes its trace.
std::string prepare_trace(const std::string& path, int ranks) {
  const std::string out = fs::absolute(path).string();
  std::FILE* const file = std::fopen(out.c_str(), "a");
  SY_CHECK(file != nullptr, Value, "[launch] --trace: cannot write {}: {}", out,
           std::strerror(errno));
  std::fclose(file);
  // An older run's must not be taken for one of this run.
  for (int i = 0; i < ranks; ++i) {
    std::error_code error;
    fs::remove(part_of(out, i), error);
  }
  return out;
}

// mpirun hands down the environment on this machine only.
std::vector<std::string> own_variables() {
  std::vector<std::string> out;
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view text = *v;
    for (const char* prefix :
         {"SWITCHYARD_", "OMP_", "LD_LIBRARY_PATH=", "PATH="}) {
      if (text.starts_with(prefix) && !text.starts_with(kTokenVariable) &&
          !text.starts_with("SWITCHYARD_STORE")) {
        out.emplace_back(text);
      }
    }
  }
  return out;
}

// A connection to the watcher, and one to the store, for each rank.
void allow_descriptors(int ranks) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(2 * ranks + 256);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

struct Places {
  std::vector<LaunchHost> hosts;
  int ranks;
  bool elsewhere;  // on other machines
};

Places places_of(const LaunchOptions& o) {
  Places out;
  const auto cores =
      static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (o.hosts.empty()) {
    out.ranks = o.ranks == 0 ? cores : o.ranks;
  } else {
    out.hosts = parse_hosts(o.hosts);
    out.ranks = place_ranks(out.hosts, o.ranks, cores);
  }
  SY_CHECK(out.ranks <= kMostRanks, Value,
           "[launch] -n: expected at most {}, got {}", kMostRanks, out.ranks);
  out.elsewhere = !all_local(out.hosts);
  return out;
}

// Ranks get the MPI library that their mpirun came with.
std::string library_path(const Mpirun& mpirun) {
  const fs::path lib =
      fs::path(mpirun.path).parent_path().parent_path() / "lib";
  if (!fs::exists(lib / "libmpi.so.40")) return {};
  std::string out = lib.string();
  if (const char* const before = std::getenv("LD_LIBRARY_PATH")) {
    out += ':';
    out += before;
  }
  return out;
}

std::vector<RankOrders> orders_for(const LaunchOptions& o, const Places& places,
                                   const Mpirun& mpirun, uint16_t store_port,
                                   const std::string& secret,
                                   const std::string& trace) {
  RankOrders common;
  common.terminal = isatty(STDOUT_FILENO) == 1;
  common.survive = o.survive;
  common.threads = o.threads;
  common.store_port = store_port;
  common.secret = secret;
  common.command = o.command;
  if (places.elsewhere) common.variables = own_variables();
  if (const std::string path = library_path(mpirun); !path.empty()) {
    common.variables.push_back(str("LD_LIBRARY_PATH={}", path));
  }
  if (!o.engine.empty()) {
    common.variables.push_back(
        str("SWITCHYARD_DISTRIBUTED_ENGINE={}", o.engine));
  }
  if (o.timeout > 0) {
    common.variables.push_back(
        str("SWITCHYARD_DISTRIBUTED_TIMEOUT={}", o.timeout));
  }
  std::vector<RankOrders> out(static_cast<size_t>(places.ranks), common);
  for (int i = 0; i < places.ranks && !trace.empty(); ++i) {
    out[static_cast<size_t>(i)].variables.push_back(
        str("SWITCHYARD_TRACE=chrome:{}", part_of(trace, i)));
  }
  return out;
}

std::vector<std::string> watcher_command(bool elsewhere, uint16_t port) {
  std::string addresses = "127.0.0.1";
  if (elsewhere) {
    addresses.clear();
    for (const std::string& a : own_addresses()) {
      if (!addresses.empty()) addresses += ',';
      addresses += a;
    }
  }
  return {own_program(), "launch-rank", addresses, std::to_string(port)};
}

void say(const std::string& text) {
  fmt::print(stderr, "sy launch: {}\n", text);
}

// Merges the traces of the ranks that wrote one. A rank that was killed wrote
// none.
void merge_parts(const std::string& trace, int ranks) {
  std::vector<RankTrace> parts;
  for (int i = 0; i < ranks; ++i) {
    const std::string path = part_of(trace, i);
    if (fs::exists(path)) {
      parts.push_back({i, path});
    } else {
      say(str("rank {} wrote no trace", i));
    }
  }
  if (parts.empty()) {
    std::error_code error;
    if (fs::file_size(trace, error) == 0) fs::remove(trace, error);
    say("no rank wrote a trace: is the program one of Switchyard?");
    return;
  }
  try {
    const Timeline timeline = merge_traces(parts, trace);
    for (const std::string& w : timeline.warnings) say(w);
    fmt::print(stderr, "{}", table_of(timeline));
    for (const RankTrace& p : parts) fs::remove(p.path);
  } catch (const std::exception& e) {
    say(str("the traces of the ranks are not merged: {}", e.what()));
  }
}

}  // namespace

int run_launch(const LaunchOptions& options) {
  SY_CHECK(!options.command.empty(), Value,
           "[launch] PROGRAM: expected a program to run, got none");
  SY_CHECK(options.ranks >= 0, Value,
           "[launch] -n: expected at least 1 rank, got {}", options.ranks);
  SY_CHECK(std::getenv("OMPI_COMM_WORLD_RANK") == nullptr, Error,
           "[launch] this process is a rank of MPI already: a rank cannot "
           "launch others");
  const Places places = places_of(options);
  check_program(options.command.front());
  const Mpirun mpirun = find_mpirun();
  if (options.survive) check_survival(mpirun);
  const std::string trace = options.trace.empty()
                                ? std::string()
                                : prepare_trace(options.trace, places.ranks);

  // Threads take over the signals that are blocked when they start.
  const sigset_t signals = launch_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  allow_descriptors(places.ranks);
  LaunchJobSettings settings;
  settings.token = random_token();
  settings.labels = !options.no_labels;
  settings.survive = options.survive;
  setenv(kTokenVariable, settings.token.c_str(), 1);

  const Listener listener(places.elsewhere);
  const std::string secret = random_token() + random_token();
  distributed::TcpStoreServer store(places.elsewhere ? "0.0.0.0" : "127.0.0.1",
                                    0, secret);
  settings.orders =
      orders_for(options, places, mpirun, store.port(), secret, trace);
  MpirunJob job;
  job.ranks = places.ranks;
  job.hosts = places.hosts;
  job.survive = options.survive;
  job.command = watcher_command(places.elsewhere, listener.port());
  if (places.elsewhere) {
    job.variables = {kTokenVariable};
    if (std::getenv("LD_LIBRARY_PATH") != nullptr) {
      job.variables.push_back("LD_LIBRARY_PATH");
    }
  }
  std::string summary;
  int status = 0;
  {
    MpirunProcess process(mpirun_command(mpirun, job, geteuid() == 0));
    status = run_launch_job(settings, listener, process, store, summary);
  }
  if (!trace.empty()) merge_parts(trace, places.ranks);
  if (!summary.empty()) say(summary);
  return status;
}

}  // namespace sy::tools
