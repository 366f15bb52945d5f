#include "tools/sy/conform/worker.h"

#include <unistd.h>

#include <iostream>

#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/conform/driver.h"
#include "tools/sy/device/device_trials.h"
#include "tools/sy/device/red_zones.h"
#include "tools/sy/device/witness.h"
#include "tools/sy/support/worker_process.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

class Worker {
 public:
  // Throws Error if nothing can be run.
  explicit Worker(const WorkerOptions& options)
      : options_(options), plugins_(load_plugins(options.plugins)) {
    init();
    device_ = device_of_tensors(options.device);
    const Claims* const claims = claims_for(plugins_, device_);
    if (claims != nullptr) lay_red_zones(device_);
  }

  // Whether the reader is still there.
  bool serve(const std::string& line) const {
    const Json request = parse_json(line, "request");
    const std::string name = request["name"];
    const size_t first = request["first"];
    if (request.contains("tensors")) {
      return make(name, request["tensors"], request.value("words", ""), first);
    }
    std::unique_ptr<CaseFile> file;
    try {
      file = std::make_unique<CaseFile>(CaseFile::load(options_.cases, name));
    } catch (const Error& e) {
      return answer({{"bad", e.what()}});
    }
    return request.contains("dtype") ? recast(*file, request["dtype"], first)
                                     : replay(*file, first);
  }

 private:
  bool replay(const CaseFile& file, size_t first) const {
    const auto op = Dispatcher::singleton().find(file.op);
    if (!op) return answer({{"done", file.cases.size()}, {"missing", true}});
    try {
      auto trials = make_trials(trial_kind_of(options_.trials), *op, file,
                                {device_, options_.gradients});
      if (options_.few && options_.trials == "replay") {
        trials = few_trials(file, std::move(trials));
      }
      return run(*op, *trials, first);
    } catch (const Error& e) {
      return answer({{"bad", e.what()}});
    }
  }

  bool recast(const CaseFile& file, const std::string& dtype,
              size_t first) const {
    const auto op = Dispatcher::singleton().find(file.op);
    if (!op) return answer({{"done", 0}, {"missing", false}});
    std::shared_ptr<const Calls> calls =
        recast_calls(*op, recorded_calls(*op, file),
                     parse_scalar_type(dtype).value_or(kFloat));
    const Claims* const claims = claims_for(plugins_, device_);
    auto trials =
        device_trials(*op, std::move(calls), device_, options_.gradients,
                      claims != nullptr && claims->supports(op->name()));
    if (options_.few) trials = few_trials(std::move(trials));
    return run(*op, *trials, first);
  }

  bool make(const std::string& name, const std::string& tensors,
            const std::string& words, size_t first) const {
    const OperatorHandle op = Dispatcher::singleton().find_or_throw(name);
    std::unique_ptr<Trials> trials;
    try {
      trials = made_trials(op, device_, tensors, words,
                           claims_for(plugins_, device_), options_.gradients);
    } catch (const InternalError& e) {
      return answer({{"bad", e.what()}});
    } catch (const Error&) {
      return answer(
          {{"done", 0}, {"missing", false}, {"skipped", kSaysTooLittle}});
    }
    if (options_.few) trials = few_trials(std::move(trials));
    return run(op, *trials, first);
  }

  bool run(OperatorHandle op, const Trials& trials, size_t first) const {
    const Witness witness(op, device_, claims_for(plugins_, device_));
    for (size_t i = first; i < trials.size(); ++i) {
      const std::string id = trials.id(i);
      if (!answer({{"begin", i}, {"id", id}})) return false;
      const CaseResult r = witness.run(trials, i);
      if (!answer({{"end", i},
                   {"id", id},
                   {"why", r.why},
                   {"non_empty", r.non_empty},
                   {"note", r.note},
                   {"way", r.way},
                   {"skipped", r.skipped}})) {
        return false;
      }
    }
    return answer({{"done", trials.size()}, {"missing", false}});
  }

  const WorkerOptions& options_;
  std::vector<Plugin> plugins_;
  Device device_;
};

}  // namespace

int run_worker(const WorkerOptions& options) {
  begin_worker();
  std::unique_ptr<Worker> worker;
  try {
    worker = std::make_unique<Worker>(options);
  } catch (const Error& e) {
    answer({{"fatal", e.what()}});
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    if (!worker->serve(line)) break;
  }
  // No destructors run: a worker's end must not look like a crash of a case.
  _exit(0);
}

}  // namespace sy::tools
