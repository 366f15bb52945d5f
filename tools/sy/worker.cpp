#include "tools/sy/worker.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "c10/dispatcher.h"
#include "c10/error.h"
#include "tools/sy/plugins.h"
#include "tools/sy/trials.h"
#include "tools/sy/worker_process.h"

namespace sy::tools {

namespace {

// Whether the reader is still there.
bool answer(const Json& v) {
  const std::string line = dump(v) + "\n";
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n =
        write(WorkerProcess::kAnswers, line.data() + done, line.size() - done);
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

bool replay(const CaseFile& file, size_t first, const WorkerOptions& options,
            Device device) {
  const auto op = Dispatcher::singleton().find(file.op);
  if (!op) return answer({{"done", file.cases.size()}, {"missing", true}});
  std::unique_ptr<Trials> trials;
  try {
    trials = make_trials(trial_kind_of(options.trials), *op, file,
                         {device, options.gradients});
  } catch (const Error& e) {
    return answer({{"bad", e.what()}});
  }
  for (size_t i = first; i < trials->size(); ++i) {
    const std::string id = trials->id(i);
    if (!answer({{"begin", i}, {"id", id}})) return false;
    const CaseResult r = trials->run(i);
    if (!answer({{"end", i},
                 {"id", id},
                 {"why", r.why},
                 {"non_empty", r.non_empty},
                 {"note", r.note}})) {
      return false;
    }
  }
  return answer({{"done", trials->size()}, {"missing", false}});
}

bool serve(const std::string& line, const WorkerOptions& options,
           Device device) {
  const Json request = parse_json(line, "request");
  std::unique_ptr<CaseFile> file;
  try {
    file.reset(new CaseFile(
        CaseFile::load(options.cases, request["name"].get<std::string>())));
  } catch (const Error& e) {
    return answer({{"bad", e.what()}});
  }
  return replay(*file, request["first"].get<size_t>(), options, device);
}

}  // namespace

int run_worker(const WorkerOptions& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  Device device;
  try {
    load_plugins(options.plugins);
    init();
    device = Device(options.device);
    // As tensors have it: "npu" is npu:0.
    if (device.type > kMeta && !device.has_index()) {
      device = Device(device.type, 0);
    }
  } catch (const Error& e) {
    answer({{"fatal", e.what()}});
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    if (!serve(line, options, device)) break;
  }
  // Without destructors: a worker's end must not look like a crash of a case.
  _exit(0);
}

}  // namespace sy::tools
