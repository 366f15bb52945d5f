#include "tools/sy/fuzz/fuzz.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "c10/process/error.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/calls/reproduction.h"
#include "tools/sy/fuzz/call.h"
#include "tools/sy/fuzz/shrink.h"
#include "tools/sy/fuzz/verdict.h"
#include "tools/sy/support/names.h"
#include "tools/sy/support/worker_process.h"

namespace sy::tools {

namespace {

using Clock = std::chrono::steady_clock;

// Calls that a worker is given at a time.
constexpr uint64_t kCallsAtATime = 250;

class Workers {
 public:
  explicit Workers(const FuzzOptions& o) : timeout_(o.timeout) {
    arguments_ = {"fuzz-worker",
                  "--op",
                  o.worker.glob,
                  "--device",
                  o.worker.device,
                  "--memory-limit",
                  std::to_string(o.worker.memory)};
    const auto add = [&](const char* option, const auto& list) {
      for (const std::string& v : list) {
        arguments_.insert(arguments_.end(), {option, v});
      }
    };
    add("--plugin", o.worker.plugins);
    add("--schema", o.worker.schemas);
    add("--examples", o.worker.examples);
  }
  std::unique_ptr<WorkerProcess> start() const {
    return std::make_unique<WorkerProcess>(arguments_);
  }
  Clock::time_point deadline() const {
    return Clock::now() + std::chrono::seconds(timeout_);
  }
  int timeout() const { return timeout_; }

 private:
  int timeout_;
  std::vector<std::string> arguments_;
};

[[noreturn]] void cannot_run(const Json& v) {
  throw Error("cannot make calls: " + v.value("fatal", dump(v)));
}

// A worker that is asked one thing at a time.
class Probe {
 public:
  explicit Probe(const Workers& workers) : workers_(workers) {}

  // The worker's answer, or {"kind": "crash" or "hang", …}.
  Json ask(const Json& request) {
    if (process_ == nullptr) process_ = workers_.start();
    process_->send(dump(request));
    const auto deadline = workers_.deadline();
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - Clock::now());
      pollfd p{process_->answers(), POLLIN, 0};
      const bool late =
          left.count() <= 0 || poll(&p, 1, static_cast<int>(left.count())) == 0;
      if (late) {
        process_.reset();
        return {{"kind", "hang"},
                {"why", str("took more than {} seconds", workers_.timeout())},
                {"refused", false}};
      }
      bool ended = false;
      for (const std::string& line : process_->receive(ended)) {
        Json v = parse_json(line, "answer of a worker");
        if (v.contains("fatal")) cannot_run(v);
        // Another leak is seen only by another process.
        if (v.value("kind", "") == "leak") process_.reset();
        return v;
      }
      if (ended) {
        const std::string why = process_->how_it_ended();
        process_.reset();
        return {{"kind", "crash"}, {"why", why}, {"refused", false}};
      }
    }
  }

 private:
  const Workers& workers_;
  std::unique_ptr<WorkerProcess> process_;
};

struct Found {
  uint64_t n;  // of the draw
  std::string kind, why;
};

// Calls after which LeakSanitizer, in whose process they were made, found
// memory that nobody points to.
struct Leaky {
  uint64_t first, end;
};

// Has workers draw and make calls.
class Search {
 public:
  Search(const FuzzOptions& options, const Workers& workers)
      : options_(options),
        workers_(workers),
        end_(Clock::now() + std::chrono::seconds(options.seconds)) {}

  void run() {
    slots_.resize(static_cast<size_t>(share_cores(options_.jobs)));
    for (Slot& s : slots_) assign(s);
    for (;;) {
      std::vector<pollfd> fds;
      for (const Slot& s : slots_) {
        fds.push_back({s.process ? s.process->answers() : -1, POLLIN, 0});
      }
      bool idle = true;
      for (const Slot& s : slots_) idle &= s.process == nullptr;
      if (idle) return;
      poll(fds.data(), fds.size(), 200);
      for (size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].process && fds[i].revents != 0) read(slots_[i]);
        if (slots_[i].process && Clock::now() > slots_[i].deadline) {
          slots_[i].late = true;
          slots_[i].process->kill();
        }
      }
      show_progress();
    }
  }

  uint64_t made() const { return made_; }
  uint64_t refused() const { return refused_; }
  const std::vector<Found>& found() const { return found_; }
  const std::vector<Leaky>& leaky() const { return leaky_; }

 private:
  struct Slot {
    std::unique_ptr<WorkerProcess> process;
    uint64_t first = 0, at = 0, end = 0;
    bool began = false, late = false;
    Clock::time_point deadline;
  };

  bool more() const {
    return options_.seconds != 0 ? Clock::now() < end_ : next_ < options_.calls;
  }

  void assign(Slot& s) {
    if (!more()) {
      s.process.reset();
      return;
    }
    s.first = next_;
    s.end = next_ + kCallsAtATime;
    if (options_.seconds == 0) s.end = std::min(s.end, options_.calls);
    next_ = s.end;
    request(s);
  }

  void request(Slot& s) {
    if (s.process == nullptr) s.process = workers_.start();
    s.at = s.first;
    s.began = s.late = false;
    s.deadline = workers_.deadline() + std::chrono::seconds(20);  // it starts
    s.process->send(
        dump({{"seed", options_.seed}, {"first", s.first}, {"end", s.end}}));
  }

  void read(Slot& s) {
    bool ended = false;
    for (const std::string& line : s.process->receive(ended)) {
      const Json v = parse_json(line, "answer of a worker");
      s.deadline = workers_.deadline();
      if (v.contains("at")) {
        s.at = v["at"];
        s.began = true;
      } else if (v.contains("bad")) {
        found_.push_back({v["bad"], v["kind"], v["why"]});
      } else if (v.contains("done")) {
        made_ += s.end - s.first;
        refused_ += v["refused"].get<uint64_t>();
        if (v["leaked"].get<bool>()) {
          leaky_.push_back({s.first, s.end});
          s.process.reset();
        }
        return assign(s);
      } else {
        cannot_run(v);
      }
    }
    if (ended) bury(s);
  }

  // The worker is gone in the midst of a call.
  void bury(Slot& s) {
    const std::string how = s.process->how_it_ended();
    SY_CHECK(s.began || s.late, Error, "cannot make calls: {}", how);
    s.process.reset();
    found_.push_back(
        {s.at, s.late ? "hang" : "crash",
         s.late ? str("took more than {} seconds", workers_.timeout()) : how});
    made_ += s.at + 1 - s.first;
    s.first = s.at + 1;
    if (s.first < s.end) {
      request(s);
    } else {
      assign(s);
    }
  }

  void show_progress() const {
    static const bool person = isatty(STDERR_FILENO) != 0;
    if (person) {
      fmt::print(stderr, "\r{} calls, {} failures\033[K", made_, found_.size());
    }
  }

  const FuzzOptions& options_;
  const Workers& workers_;
  Clock::time_point end_;
  std::vector<Slot> slots_;
  uint64_t next_ = 0, made_ = 0, refused_ = 0;
  std::vector<Found> found_;
  std::vector<Leaky> leaky_;
};

// One failure of each operator and kind, made shorter, shown and written.
class Findings {
 public:
  Findings(const FuzzOptions& options, const Workers& workers)
      : options_(options), probe_(workers) {}

  void add(const Found& found) {
    const Json drawn = probe_.ask({{"draw", found.n}, {"seed", options_.seed}});
    FuzzCall call = FuzzCall::parse(drawn.value("call", Json()), "worker");
    if (size_t& seen = seen_[{call.op, found.kind}]; seen++ != 0) return;
    Verdict last{found.kind, found.why, false};
    const auto fails = [&](const FuzzCall& c) {
      const Verdict v = Verdict::parse(probe_.ask({{"call", c.json()}}));
      if (v.kind != found.kind) return false;
      last = v;
      return true;
    };
    // A call that fails only after other calls cannot be made shorter.
    const bool alone = fails(call);
    // Fewer questions are asked if each takes long, by itself or by a new
    // process.
    const int questions = found.kind == "hang"   ? 12
                          : found.kind == "leak" ? 40
                                                 : 300;
    if (alone) call = shrink(std::move(call), fails, questions);
    const std::string about = str("{}: {}", last.kind, last.why);
    fmt::print("FAIL {}, call {}: {}{}\n  {}\n", call.op, found.n, about,
               alone ? "" : " (only after the calls before it)",
               dump(call.json()));
    std::fflush(stdout);
    if (!options_.failures.empty()) write(call, found, last);
  }

  // The number of operators of these that leak, and did not before.
  size_t add(const Leaky& calls) {
    size_t count = 0;
    bool known = false;
    for (uint64_t n = calls.first; n < calls.end; ++n) {
      const Json drawn = probe_.ask({{"draw", n}, {"seed", options_.seed}});
      const std::string op = drawn.at("call").at("op");
      if (seen_.contains({op, "leak"})) {
        known = true;
        continue;
      }
      const Json v = probe_.ask({{"call", drawn.at("call")}});
      if (v.at("kind") != "leak") continue;
      add(Found{n, "leak", v.at("why")});
      ++count;
    }
    if (count != 0 || known) return count;
    fmt::print("FAIL calls {} to {}: leak: none of them alone\n", calls.first,
               calls.end - 1);
    return 1;
  }

  // Prints how often failures were found again and not shown.
  void print_repeated() const {
    for (const auto& [key, n] : seen_) {
      if (n > 1) {
        fmt::print("{}: {} {} more times\n", key.first, key.second, n - 1);
      }
    }
  }

 private:
  void write(const FuzzCall& call, const Found& found, const Verdict& v) {
    const FuzzWorkerOptions& w = options_.worker;
    std::filesystem::create_directories(options_.failures);
    std::string name = short_name(call.op);
    for (size_t at; (at = name.find("::")) != name.npos;)
      name.replace(at, 2, "-");
    const std::string path =
        str("{}/{}-{}", options_.failures, name, found.kind);
    write_file(path + ".json", dump({{"call", call.json()},
                                     {"kind", v.kind},
                                     {"why", v.why},
                                     {"seed", options_.seed},
                                     {"draw", found.n},
                                     {"device", w.device},
                                     {"plugins", w.plugins},
                                     {"schemas", w.schemas},
                                     {"memory", w.memory}},
                                    1) +
                                   "\n");
    fmt::print("  written: {}.json (sy replay FILE)\n", path);
  }

  const FuzzOptions& options_;
  Probe probe_;
  std::map<std::pair<std::string, std::string>, size_t> seen_;
};

}  // namespace

int run_fuzz(FuzzOptions options) {
  const std::vector<Plugin> plugins = load_plugins(options.worker.plugins);
  options.worker.device = choose_device(plugins, options.worker.device);
  const Workers workers(options);
  Search search(options, workers);
  search.run();
  Findings findings(options, workers);
  for (const Found& f : search.found()) findings.add(f);
  size_t failed = search.found().size();
  for (const Leaky& calls : search.leaky()) failed += findings.add(calls);
  findings.print_repeated();
  fmt::print(
      "{} calls of seed {}: {} gave a result, {} were refused, {} failed\n",
      search.made(), options.seed, search.made() - search.refused() - failed,
      search.refused(), failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace sy::tools
