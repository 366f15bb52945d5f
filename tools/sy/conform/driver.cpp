#include "tools/sy/conform/driver.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "c10/process/error.h"
#include "tools/sy/calls/axes.h"
#include "tools/sy/support/worker_process.h"

namespace sy::tools {

namespace {

using Clock = std::chrono::steady_clock;

// One worker and the job it is at.
struct Slot {
  std::unique_ptr<WorkerProcess> process;
  const Job* job = nullptr;  // nullptr: idle
  size_t next_case = 0;      // where a fresh worker would go on
  std::string id;            // of the case running, or the last one
  bool in_case = false;
  bool fresh = false;     // the worker was started for this request
  bool answered = false;  // anything since the request
  bool timed_out = false;
  Clock::time_point deadline;
};

class Driver {
 public:
  Driver(const ConformOptions& options, const std::vector<Job>& jobs)
      : options_(options), jobs_(jobs) {
    arguments_ = {"conform-worker", "--cases", options.worker.cases, "--device",
                  options.worker.device};
    for (const std::string& p : options.worker.plugins) {
      arguments_.insert(arguments_.end(), {"--plugin", p});
    }
    if (!options.worker.gradients) arguments_.push_back("--no-grad");
    arguments_.insert(arguments_.end(), {"--trials", options.worker.trials});
    if (options.worker.few) arguments_.push_back("--few");
  }

  Report run() {
    const auto jobs = static_cast<size_t>(share_cores(options_.jobs));
    slots_.resize(std::min(jobs, jobs_.size()));
    for (Slot& s : slots_) assign(s);
    while (finished_ < jobs_.size()) {
      wait();
      show_progress();
    }
    return std::move(report_);
  }

 private:
  void assign(Slot& s) {
    while (next_ < jobs_.size() && !jobs_[next_].skipped.empty()) {
      const Job& job = jobs_[next_++];
      ++report_[job.name].skipped[job.skipped];
      ++finished_;
    }
    s.job = next_ < jobs_.size() ? &jobs_[next_++] : nullptr;
    s.next_case = 0;
    s.in_case = false;
    if (s.job == nullptr) {
      s.process.reset();
      return;
    }
    request(s);
  }

  void request(Slot& s) {
    Json line = {{"name", s.job->name}, {"first", s.next_case}};
    if (!s.job->tensors.empty()) line["tensors"] = s.job->tensors;
    if (!s.job->dtype.empty()) line["dtype"] = s.job->dtype;
    if (!s.job->words.empty()) line["words"] = s.job->words;
    s.fresh = s.process == nullptr;
    if (s.fresh) s.process = std::make_unique<WorkerProcess>(arguments_);
    s.answered = false;
    s.timed_out = false;
    restart_clock(s);
    s.process->send(dump(line));  // if it is gone, its answers end
  }

  void restart_clock(Slot& s) {
    s.deadline = Clock::now() + std::chrono::seconds(options_.timeout);
  }

  void wait() {
    std::vector<pollfd> fds;
    std::vector<Slot*> busy;
    auto deadline = Clock::time_point::max();
    for (Slot& s : slots_) {
      if (s.job == nullptr) continue;
      fds.push_back({s.process->answers(), POLLIN, 0});
      busy.push_back(&s);
      deadline = std::min(deadline, s.deadline);
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    poll(fds.data(), fds.size(),
         static_cast<int>(std::max<int64_t>(0, left.count())));
    for (size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents != 0) {
        read(*busy[i]);
      } else if (Clock::now() >= busy[i]->deadline && !busy[i]->timed_out) {
        busy[i]->timed_out = true;
        busy[i]->process->kill();
        restart_clock(*busy[i]);
      }
    }
  }

  void read(Slot& s) {
    bool ended = false;
    for (const std::string& line : s.process->receive(ended)) {
      take(s, parse_json(line, "answer of a worker"));
    }
    if (ended) bury(s);
  }

  void take(Slot& s, const Json& v) {
    OverloadReport& r = report_[s.job->name];
    s.answered = true;
    restart_clock(s);
    if (v.contains("begin")) {
      s.next_case = v["begin"].get<size_t>() + 1;
      s.id = v["id"];
      s.in_case = true;
    } else if (v.contains("end")) {
      s.in_case = false;
      end_case(s, r, v);
    } else if (v.contains("done")) {
      if (v["missing"]) r.missing = v["done"];
      if (v.contains("skipped")) ++r.skipped[v["skipped"]];
      if (v["done"] == 0 && !r.tried()) report_.erase(s.job->name);
      finish(s);
    } else if (v.contains("bad")) {
      fail_case(s, r, "", v["bad"]);
      finish(s);
    } else {
      throw Error("cannot run cases: " + v.value("fatal", dump(v)));
    }
  }

  void end_case(const Slot& s, OverloadReport& r, const Json& v) {
    const std::string axis(axis_of(v["id"].get_ref<const std::string&>()));
    const bool made = v["skipped"] == "" && v["way"] != "declared";
    if (!axis.empty()) r.axes[axis] += made ? 1 : 0;
    if (v["why"] != "") return fail_case(s, r, v["id"], v["why"]);
    if (v["skipped"] != "") {
      ++r.skipped[v["skipped"]];
      return;
    }
    const std::string way = v["way"];
    if (!way.empty()) ++r.ways[way];
    if (way == "declared") return;
    if (v["note"] != "") r.notes.emplace_back(v["id"], v["note"]);
    if (way == "accepted") return;
    ++r.passed;
    if (v["non_empty"]) r.non_empty = true;
  }

  void fail_case(const Slot& s, OverloadReport& r, std::string id,
                 std::string why) {
    ++r.failed;
    r.failures.push_back({std::move(id), std::move(why), s.job->tensors,
                          s.job->dtype, s.job->words});
  }

  void finish(Slot& s) {
    ++finished_;
    assign(s);
  }

  // The worker is gone without having said "done".
  void bury(Slot& s) {
    OverloadReport& r = report_[s.job->name];
    const std::string end = s.process->how_it_ended();
    s.process.reset();
    const std::string why =
        s.timed_out ? str("took more than {} seconds", options_.timeout)
                    : "the process ended: " + end;
    if (s.in_case) {
      fail_case(s, r, s.id, why);
    } else if (s.answered) {
      // The worker ended between cases: the last one has broken something.
      if (r.failures.empty() || r.failures.back().id != s.id) {
        if (r.passed != 0) --r.passed;
        fail_case(s, r, s.id, "after the call " + why);
      }
    } else if (s.fresh) {
      fail_case(s, r, "", "before the first case " + why);
      return finish(s);
    }
    s.in_case = false;
    request(s);
  }

  void show_progress() {
    static const bool person = isatty(STDERR_FILENO) != 0;
    if (!person) return;
    fmt::print(stderr, "\r{} of {} overloads{}", finished_, jobs_.size(),
               finished_ == jobs_.size() ? "\r\033[K" : "");
  }

  const ConformOptions& options_;
  const std::vector<Job>& jobs_;
  std::vector<std::string> arguments_;
  std::vector<Slot> slots_;
  size_t next_ = 0, finished_ = 0;
  Report report_;
};

}  // namespace

Report run_jobs(const ConformOptions& options, const std::vector<Job>& jobs) {
  return Driver(options, jobs).run();
}

}  // namespace sy::tools
