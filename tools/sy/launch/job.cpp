#include "tools/sy/launch/job.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>

#include "c10/process/error.h"
#include "c10/process/secret.h"
#include "frontend/distributed/store/tcp_store.h"
#include "tools/sy/launch/lines.h"

namespace sy::tools {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kGraceTime{2000}, kTermTime{2000}, kKillTime{5000};
constexpr size_t kLongestHello = 256, kMostStrangers = 64;

struct Rank {
  FrameSocket socket{-1};
  LabelledLines out, err;
  std::optional<RankEnd> end;

  explicit Rank(const std::string& label) : out(label), err(label) {}
  bool runs() const { return socket.open() && !end.has_value(); }
};

class Job {
 public:
  Job(const LaunchJobSettings& settings, const Listener& listener,
      MpirunProcess& mpirun, distributed::TcpStoreServer& store)
      : settings_(settings),
        listener_(listener),
        mpirun_(mpirun),
        store_(store) {
    const bool several = settings.orders.size() > 1;
    for (size_t i = 0; i < settings.orders.size(); ++i) {
      ranks_.emplace_back(several && settings.labels ? str("[{}] ", i) : "");
    }
    const sigset_t set = launch_signals();
    signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Job() { close(signals_); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int run(std::string& summary) {
    while (!over()) {
      wait();
      read_signals();
      accept();
      greet();
      for (size_t i = 0; i < ranks_.size(); ++i) listen_to(i);
      mpirun_.pass_on();
      look_after_mpirun();
      advance();
    }
    for (Rank& r : ranks_) r.socket.send(FrameKind::kLeave);
    mpirun_.finish(absent_);
    return conclude(summary);
  }

 private:
  enum Stage { kRunning, kGrace, kTerm, kKill, kGivenUp };

  bool over() const {
    return stage_ == kGivenUp ||
           std::all_of(ranks_.begin(), ranks_.end(),
                       [](const Rank& r) { return r.end.has_value(); });
  }

  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  void wait() {
    std::vector<pollfd> list{{signals_, POLLIN, 0},
                             {listener_.fd(), POLLIN, 0},
                             {mpirun_.out(), POLLIN, 0},
                             {mpirun_.err(), POLLIN, 0}};
    for (const FrameSocket& s : strangers_) list.push_back({s.fd(), POLLIN, 0});
    for (const Rank& r : ranks_) list.push_back({r.socket.fd(), POLLIN, 0});
    int timeout = -1;
    if (stage_ != kRunning) {
      const auto left = std::chrono::ceil<milliseconds>(until_ - Clock::now());
      timeout = static_cast<int>(std::max<int64_t>(left.count(), 0));
    }
    poll(list.data(), list.size(), timeout);
  }

  void enter(Stage stage) {
    stage_ = stage;
    until_ = Clock::now() + (stage == kGrace  ? kGraceTime
                             : stage == kTerm ? kTermTime
                                              : kKillTime);
    if (stage != kTerm && stage != kKill) return;
    for (Rank& r : ranks_) {
      if (r.runs()) {
        r.socket.send(stage == kTerm ? FrameKind::kTerminate
                                     : FrameKind::kKill);
      } else if (!r.end.has_value()) {  // it never began
        r.end.emplace().signal = SIGTERM;
        r.end->told = true;
        absent_ = true;
      }
    }
  }

  void advance() {
    if (stage_ == kRunning || Clock::now() < until_) return;
    enter(static_cast<Stage>(stage_ + 1));
  }

  void stop(int signal) {
    if (interrupted_ == 0) {
      interrupted_ = signal;
      interrupted_after_ = seconds();
    }
    if (stage_ < kKill) enter(stage_ < kTerm ? kTerm : kKill);
  }

  void read_signals() {
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == sizeof info) {
      const auto signal = static_cast<int>(info.ssi_signo);
      if (signal != SIGCHLD) stop(signal);
    }
  }

  void accept() {
    for (int fd; (fd = listener_.accept()) >= 0;) strangers_.emplace_back(fd);
    // Strangers that only connect must not use up the descriptors.
    while (strangers_.size() > ranks_.size() + kMostStrangers) {
      strangers_.erase(strangers_.begin());
    }
  }

  // Anybody may connect; a peer that knows the token is a rank's watcher.
  void greet() {
    for (FrameSocket& s : strangers_) {
      std::vector<Frame> frames;
      const bool there = s.receive(frames, kLongestHello);
      if (!frames.empty()) {
        admit(s, frames.front());
      } else if (!there) {
        s.close();
      }
    }
    std::erase_if(strangers_, [](const FrameSocket& s) { return !s.open(); });
  }

  void admit(FrameSocket& s, const Frame& hello) {
    const std::string expected = settings_.token + " ";
    const std::string_view bytes = hello.bytes;
    size_t rank = ranks_.size();
    if (hello.kind == FrameKind::kHello &&
        is_same_secret(bytes.substr(0, expected.size()), expected)) {
      std::from_chars(bytes.data() + expected.size(),
                      bytes.data() + bytes.size(), rank);
    }
    FrameSocket theirs(-1);
    std::swap(theirs, s);
    if (rank >= ranks_.size() || ranks_[rank].socket.open() ||
        ranks_[rank].end.has_value()) {
      return;  // which hangs up
    }
    std::swap(ranks_[rank].socket, theirs);
    ranks_[rank].socket.send(FrameKind::kOrders,
                             settings_.orders[rank].encode());
  }

  void listen_to(size_t rank) {
    Rank& r = ranks_[rank];
    if (!r.socket.open()) return;
    std::vector<Frame> frames;
    const bool there = r.socket.receive(frames, kLongestFrame);
    for (const Frame& f : frames) {
      RankEnd end;
      if (f.kind == FrameKind::kOutput || f.kind == FrameKind::kErrors) {
        show(r, f.kind, f.bytes);
      } else if (f.kind == FrameKind::kEnded && RankEnd::decode(f.bytes, end) &&
                 !r.end.has_value()) {
        ended(rank, end);
      }
    }
    if (there) return;
    r.socket.close();
    if (r.end.has_value()) return;
    RankEnd end;
    end.signal = SIGKILL;
    end.problem = "was lost: the process that watched it ended";
    ended(rank, end);
  }

  void show(Rank& r, FrameKind kind, std::string_view bytes) {
    const bool is_out = kind == FrameKind::kOutput;
    // One rank's output is passed on as it is.
    if (ranks_.size() == 1) return put(is_out, bytes);
    put(is_out, (is_out ? r.out : r.err).add(bytes));
  }

  void put(bool is_out, std::string_view text) {
    if (write_all(is_out ? STDOUT_FILENO : STDERR_FILENO, text)) return;
    // Ends as a program that writes to nobody.
    if (is_out && interrupted_ == 0) stop(SIGPIPE);
  }

  void ended(size_t rank, const RankEnd& end) {
    Rank& r = ranks_[rank];
    put(true, r.out.rest());
    put(false, r.err.rest());
    r.end = end;
    store_.depart(static_cast<int>(rank), end.good(), end.reason());
    if (end.good() || failed_.has_value()) return;
    // mpirun ends all, or another rank ends this one: the first to fail may
    // tell.
    if (stage_ == kRunning && !settings_.survive) enter(kGrace);
    if (end.ended_by_us()) return;
    failed_ = rank;
    failed_after_ = seconds();
    others_ = std::any_of(ranks_.begin(), ranks_.end(),
                          [](const Rank& o) { return !o.end.has_value(); });
  }

  // Nobody else starts without mpirun, and the MPI library of the ranks that
  // run may wait for it.
  void look_after_mpirun() {
    if (mpirun_is_gone_ || !mpirun_.ended()) return;
    mpirun_is_gone_ = true;
    // Ranks that told of their end, and then left, are still to be read.
    for (size_t i = 0; i < ranks_.size(); ++i) listen_to(i);
    if (over()) return;
    mpirun_failed_ = !failed_.has_value() && interrupted_ == 0;
    enter(kKill);
  }

  int conclude(std::string& summary) const {
    const bool told = std::any_of(
        ranks_.begin(), ranks_.end(),
        [](const Rank& r) { return r.end.has_value() && r.end->told; });
    if (interrupted_ != 0) {
      summary = fmt::format(
          "stopped by {} after {:.1f} s; {} ended", signal_name(interrupted_),
          seconds(), ranks_.size() == 1 ? "the program was" : "all ranks were");
      return 128 + interrupted_;
    }
    if (failed_.has_value()) {
      const RankEnd& end = *ranks_[*failed_].end;
      summary = fmt::format("rank {} {} after {:.1f} s{}", *failed_,
                            end.describe(), failed_after_,
                            !others_            ? ""
                            : settings_.survive ? "; the others went on"
                            : told              ? "; the others were ended"
                                                : "; the others ended too");
      return end.status();
    }
    if (!told) return 0;
    const int status = mpirun_.status();
    summary = mpirun_failed_
                  ? fmt::format(
                        "mpirun ended before the ranks, with exit code "
                        "{}, after {:.1f} s",
                        status, seconds())
                  : fmt::format(
                        "the ranks were asked to end, by mpirun or by "
                        "a signal, after {:.1f} s",
                        seconds());
    return status == 0 ? 1 : status;
  }

  const LaunchJobSettings& settings_;
  const Listener& listener_;
  MpirunProcess& mpirun_;
  distributed::TcpStoreServer& store_;
  const Clock::time_point begin_ = Clock::now();
  int signals_ = -1;
  std::vector<FrameSocket> strangers_;
  std::vector<Rank> ranks_;
  Stage stage_ = kRunning;
  Clock::time_point until_;
  std::optional<size_t> failed_;  // the first
  double failed_after_ = 0;
  bool others_ = false;  // ran when it failed
  int interrupted_ = 0;  // by this signal
  double interrupted_after_ = 0;
  bool mpirun_is_gone_ = false, mpirun_failed_ = false;
  bool absent_ = false;  // some had not begun when all were ended
};

}  // namespace

sigset_t launch_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, s);
  return set;
}

int run_launch_job(const LaunchJobSettings& settings, const Listener& listener,
                   MpirunProcess& mpirun, distributed::TcpStoreServer& store,
                   std::string& summary) {
  return Job(settings, listener, mpirun, store).run(summary);
}

}  // namespace sy::tools
