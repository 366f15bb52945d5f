#include "tools/sy/fuzz/worker.h"

#include <fmt/core.h>
#include <unistd.h>

#include <iostream>
#include <optional>

#include "c10/macros.h"
#include "c10/memory/allocator.h"
#include "c10/process/error.h"
#include "runtime/load_schema.h"
#include "sy/sy.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/fuzz/draw.h"
#include "tools/sy/fuzz/verdict.h"
#include "tools/sy/support/alone.h"
#include "tools/sy/support/names.h"
#include "tools/sy/support/worker_process.h"

#if SY_ASAN
#include <sanitizer/lsan_interface.h>
#endif

namespace sy::tools {

namespace {

// Loads what calls need. The device of their tensors.
Device prepare(const FuzzWorkerOptions& options) {
  init();
  for (const std::string& file : options.schemas) load_schema(file).keep();
  load_plugins(options.plugins);
  set_memory_limit(options.memory);
  return device_of_tensors(options.device);
}

// Whether LeakSanitizer, where it is compiled in, finds memory that nobody
// points to. Its report goes to stderr, and tells the same again each time.
bool finds_leaks() {
#if SY_ASAN
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

Verdict judge_alone(const FuzzCall& call, Device device) {
  Verdict v = judge_call(call, device);
  if (v.kind.empty() && finds_leaks()) {
    v = {"leak", "LeakSanitizer finds memory that nobody points to"};
  }
  return v;
}

class Worker {
 public:
  explicit Worker(const FuzzWorkerOptions& options)
      : device_(prepare(options)) {
    std::vector<OperatorHandle> fit;
    for (const OperatorHandle op : Dispatcher::singleton().operators()) {
      if (matches(options.glob, std::string(op.name()))) fit.push_back(op);
    }
    SY_CHECK(!fit.empty(), Value, "fuzz: no operator fits {}", options.glob);
    std::sort(fit.begin(), fit.end(), [](OperatorHandle a, OperatorHandle b) {
      return a.name() < b.name();
    });
    draw_.emplace(std::move(fit), read_examples(options.examples));
  }

  // Whether the reader is still there.
  bool serve(const Json& request) {
    if (request.contains("call")) {
      return answer(
          judge_alone(FuzzCall::parse(request["call"], "call"), device_)
              .json());
    }
    const uint64_t seed = request["seed"];
    if (request.contains("draw")) {
      return answer({{"call", draw(seed, request["draw"]).json()}});
    }
    const uint64_t end = request["end"];
    uint64_t refused = 0;
    for (uint64_t n = request["first"]; n < end; ++n) {
      if (!answer({{"at", n}})) return false;
      const Verdict v = judge_call(draw(seed, n), device_);
      refused += v.refused;
      if (!v.kind.empty() &&
          !answer({{"bad", n}, {"kind", v.kind}, {"why", v.why}})) {
        return false;
      }
    }
    return answer(
        {{"done", end}, {"refused", refused}, {"leaked", finds_leaks()}});
  }

 private:
  FuzzCall draw(uint64_t seed, uint64_t n) const {
    return draw_->call(seed, n, device_.is_cpu());
  }

  Device device_;
  std::optional<Draw> draw_;
};

}  // namespace

int run_fuzz_worker(const FuzzWorkerOptions& options) {
  begin_worker();
  const Alone alone;
  std::optional<Worker> worker;
  try {
    worker.emplace(options);
    for (std::string line; std::getline(std::cin, line);) {
      if (!worker->serve(parse_json(line, "request"))) break;
    }
  } catch (const std::exception& e) {
    answer({{"fatal", e.what()}});
    return 1;
  }
  // No destructors run: a worker's end must not look like a crash of a call.
  _exit(0);
}

int replay_call(const std::string& path) {
  const Alone alone;
  const Json v = parse_json(read_file(path), path);
  FuzzWorkerOptions options;
  try {
    options.device = v.at("device");
    options.plugins = v.at("plugins").get<std::vector<std::string>>();
    options.schemas = v.at("schemas").get<std::vector<std::string>>();
    options.memory = v.at("memory");
  } catch (const Json::exception& e) {
    fail(ErrorKind::Value, "{}: {}", path, e.what());
  }
  const FuzzCall call = FuzzCall::parse(v.value("call", Json()), path);
  const Verdict verdict = judge_alone(call, prepare(options));
  const bool passes = verdict.kind.empty();
  fmt::print("{} {}{}\n", passes ? "PASS" : "FAIL", call.op,
             passes ? "" : str(": {}: {}", verdict.kind, verdict.why));
  return passes ? 0 : 1;
}

}  // namespace sy::tools
