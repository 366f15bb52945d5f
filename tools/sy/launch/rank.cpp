#include "tools/sy/launch/rank.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "c10/process/error.h"
#include "tools/sy/launch/wire.h"

namespace sy::tools {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kSecondsToConnect = 15;
constexpr size_t kLongestOrders = 64 << 20;
// The times to SIGTERM and SIGKILL after mpirun asked for the end. A rank that
// called MPI_Abort leaves meanwhile, and after a second mpirun kills this
// process.
constexpr milliseconds kBeforeTerm{200}, kBeforeKill{800};

int number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  SY_CHECK(text != nullptr, Error,
           "[launch] {} is not set: `sy launch-rank` is for `sy launch`",
           variable);
  return std::atoi(text);
}

// Two ends of a pipe, or of a terminal without a person.
struct Pipe {
  int from = -1, to = -1;

  explicit Pipe(bool terminal) {
    termios raw{};
    cfmakeraw(&raw);
    if (terminal && openpty(&from, &to, nullptr, &raw, nullptr) == 0) {
      fcntl(from, F_SETFD, FD_CLOEXEC);
      fcntl(to, F_SETFD, FD_CLOEXEC);
    } else {
      int ends[2];
      SY_CHECK(pipe2(ends, O_CLOEXEC) == 0, Error, "[launch] no pipe: {}",
               std::strerror(errno));
      from = ends[0];
      to = ends[1];
    }
    fcntl(from, F_SETFL, fcntl(from, F_GETFL) | O_NONBLOCK);
  }
  ~Pipe() {
    end(from);
    end(to);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void end(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

class Watcher {
 public:
  Watcher(FrameSocket socket, const RankOrders& orders)
      : socket_(std::move(socket)),
        orders_(orders),
        out_(orders.terminal),
        err_(false) {
    sigset_t set;
    sigemptyset(&set);
    for (const int s : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, s);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Watcher() { close(signals_); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  int run() {
    start();
    while (child_ > 0) {
      wait(out_.from, err_.from);
      read_signals();
      read_orders();
      pass_on(out_.from, FrameKind::kOutput);
      pass_on(err_.from, FrameKind::kErrors);
      obey_mpirun();
      reap();
    }
    socket_.send(FrameKind::kEnded, end_.encode());
    if (orders_.survive) end_as_the_rank();
    while (!left_ && socket_.open()) {
      wait(-1, -1);
      read_signals();
      read_orders();
      // mpirun ends all, and waits for this process.
      if (asked_.has_value()) break;
    }
    return 0;
  }

 private:
  void start() {
    Pipe problem(false);
    std::vector<char*> argv;
    for (const std::string& a : orders_.command) {
      argv.push_back(const_cast<char*>(a.c_str()));
    }
    argv.push_back(nullptr);
    const pid_t self = getpid();
    child_ = fork();
    SY_CHECK(child_ >= 0, Error, "[launch] no process: {}",
             std::strerror(errno));
    if (child_ == 0) {
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != self) _exit(127);
      dup2(out_.to, STDOUT_FILENO);
      dup2(err_.to, STDERR_FILENO);
      signal(SIGPIPE, SIG_DFL);
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, nullptr);
      execvp(argv[0], argv.data());
      const int error = errno;
      static_cast<void>(!write(problem.to, &error, sizeof error));
      _exit(127);
    }
    setpgid(child_, child_);  // the child does it, too
    Pipe::end(out_.to);
    Pipe::end(err_.to);
    Pipe::end(problem.to);
    pollfd p{problem.from, POLLIN, 0};
    while (poll(&p, 1, -1) < 0 && errno == EINTR) {
    }
    int error = 0;
    if (read(problem.from, &error, sizeof error) == sizeof error) {
      end_.problem = str("could not be started: {}: {}",
                         orders_.command.front(), std::strerror(error));
    }
  }

  void wait(int out, int err) {
    pollfd list[] = {{signals_, POLLIN, 0},
                     {socket_.fd(), POLLIN, 0},
                     {out, POLLIN, 0},
                     {err, POLLIN, 0}};
    int timeout = -1;
    if (asked_.has_value()) {
      const auto next = *asked_ + (termed_ ? kBeforeKill : kBeforeTerm);
      timeout = static_cast<int>(std::max<int64_t>(
          std::chrono::ceil<milliseconds>(next - Clock::now()).count(), 0));
      if (killed_) timeout = -1;
    }
    poll(list, std::size(list), timeout);
  }

  void read_signals() {
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGCHLD || asked_.has_value()) continue;
      asked_ = Clock::now();
    }
  }

  void read_orders() {
    std::vector<Frame> frames;
    const bool there = socket_.receive(frames, kLongestOrders);
    for (const Frame& f : frames) {
      if (f.kind == FrameKind::kTerminate) terminate();
      if (f.kind == FrameKind::kKill) kill();
      if (f.kind == FrameKind::kLeave) left_ = true;
    }
    if (there || !socket_.open()) return;
    socket_.close();
    kill();  // `sy launch` is gone
  }

  // Sends what the rank wrote; closes `fd` at its end.
  void pass_on(int& fd, FrameKind kind) {
    char buffer[kLongestFrame];
    ssize_t n = 0;
    while (fd >= 0 && (n = read(fd, buffer, sizeof buffer)) > 0) {
      socket_.send(kind, {buffer, static_cast<size_t>(n)});
      // Orders must not wait for a rank that writes without an end.
      if (child_ > 0) return;
    }
    if (fd < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return;
    Pipe::end(fd);
  }

  void obey_mpirun() {
    if (!asked_.has_value()) return;
    const auto since = Clock::now() - *asked_;
    if (!termed_ && since >= kBeforeTerm) terminate();
    if (!killed_ && since >= kBeforeKill) kill();
  }

  void terminate() {
    if (child_ <= 0 || termed_) return;
    end_.told = termed_ = true;
    ::kill(-child_, SIGTERM);
    ::kill(-child_, SIGCONT);  // it may be stopped
  }
  void kill() {
    if (child_ <= 0) return;
    end_.told = termed_ = killed_ = true;
    ::kill(-child_, SIGKILL);
  }

  void reap() {
    siginfo_t info{};
    const auto id = static_cast<id_t>(child_);
    if (waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0) {
      return;
    }
    // Processes that it started and left behind would hold its output open.
    // Nobody else can have its number while the child is not reaped.
    ::kill(-child_, SIGKILL);
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    if (WIFSIGNALED(status)) {
      end_.signal = WTERMSIG(status);
    } else {
      end_.exit_code = WEXITSTATUS(status);
    }
    // mpirun may have told it too.
    if (asked_.has_value()) end_.told = true;
    pass_on(out_.from, FrameKind::kOutput);
    pass_on(err_.from, FrameKind::kErrors);
  }

  // Ends as the rank ended: the MPI library learns of it as of any rank.
  [[noreturn]] void end_as_the_rank() {
    if (end_.signal != 0) {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      signal(end_.signal, SIG_DFL);
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, end_.signal);
      sigprocmask(SIG_UNBLOCK, &set, nullptr);
      raise(end_.signal);
    }
    _exit(end_.exit_code);
  }

  FrameSocket socket_;
  const RankOrders& orders_;
  Pipe out_, err_;
  int signals_ = -1;
  pid_t child_ = -1;
  RankEnd end_;
  std::optional<Clock::time_point> asked_;  // by mpirun, to end
  bool termed_ = false, killed_ = false, left_ = false;
};

RankOrders wait_for_orders(FrameSocket& socket) {
  std::vector<Frame> frames;
  bool there = true;
  while (frames.empty() && there) {
    pollfd p{socket.fd(), POLLIN, 0};
    poll(&p, 1, -1);
    there = socket.receive(frames, kLongestOrders);
  }
  RankOrders out;
  SY_CHECK(!frames.empty() && frames[0].kind == FrameKind::kOrders &&
               RankOrders::decode(frames[0].bytes, out),
           Error, "[launch] `sy launch` has ended, or is of another version");
  return out;
}

void set(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

// The path of a file in memory, which is gone with this process and which only
// its user may open.
std::string file_of_secret(const std::string& secret) {
  const int fd = memfd_create("switchyard-secret", MFD_CLOEXEC);
  SY_CHECK(fd >= 0 && fchmod(fd, 0600) == 0 && write_all(fd, secret), Error,
           "[launch] no file in memory for the job's secret: {}",
           std::strerror(errno));
  return str("/proc/{}/fd/{}", int{getpid()}, fd);
}

void prepare_environment(const RankOrders& orders, const std::string& address) {
  unsetenv(kTokenVariable);
  for (const std::string& v : orders.variables) {
    const size_t equals = v.find('=');
    set(v.substr(0, equals).c_str(), v.substr(equals + 1));
  }
  std::string store = address;
  store += ':';
  store += std::to_string(orders.store_port);
  set("SWITCHYARD_STORE", store);
  set("SWITCHYARD_STORE_SECRET_FILE", file_of_secret(orders.secret));
  constexpr const char* kOurs = "SWITCHYARD_NUM_THREADS";
  constexpr const char* kOpenMp = "OMP_NUM_THREADS";
  const auto cores =
      static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::string threads = std::to_string(
      orders.threads > 0
          ? orders.threads
          : std::max(1, cores / number_of("OMPI_COMM_WORLD_LOCAL_SIZE")));
  if (orders.threads == 0) {
    for (const char* name : {kOpenMp, kOurs}) {
      const char* const before = std::getenv(name);
      if (before != nullptr && *before != '\0') threads = before;
    }
  }
  for (const char* name : {kOurs, kOpenMp}) {
    setenv(name, threads.c_str(), orders.threads > 0);
  }
}

}  // namespace

int run_launch_rank(const LaunchRankOptions& options) {
  const int rank = number_of("OMPI_COMM_WORLD_RANK");
  const char* const token = std::getenv(kTokenVariable);
  SY_CHECK(token != nullptr, Error,
           "[launch] `sy launch-rank` is started by `sy launch`");
  std::vector<std::string> addresses(1);
  for (const char c : options.addresses) {
    if (c == ',') {
      addresses.emplace_back();
    } else {
      addresses.back() += c;
    }
  }
  std::string used;
  FrameSocket socket =
      connect_to(addresses, options.port, kSecondsToConnect, used);
  socket.send(FrameKind::kHello, str("{} {}", token, rank));
  const RankOrders orders = wait_for_orders(socket);
  prepare_environment(orders, used);
  return Watcher(std::move(socket), orders).run();
}

}  // namespace sy::tools
