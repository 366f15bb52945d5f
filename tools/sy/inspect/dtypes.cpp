#include "tools/sy/inspect/dtypes.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "aten/backend/cpu_fallback.h"
#include "aten/tensor.h"
#include "c10/device/backend.h"
#include "c10/dispatch/introspect.h"
#include "c10/plugin/load_library.h"
#include "c10/process/error.h"
#include "tools/sy/calls/calls.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/calls/examples.h"
#include "tools/sy/calls/words.h"
#include "tools/sy/support/json.h"
#include "tools/sy/support/names.h"
#include "tools/sy/support/worker_process.h"

namespace sy::tools {

namespace {

constexpr const char* kWays[] = {"native", "composed", "cpu"};

using Ways = std::map<std::string, std::string>;  // by dtype

bool has_own_kernel(OperatorHandle op, Device device) {
  const std::string key = backend_key_name(device.type());
  for (const DispatchInfo& d : dispatch_of(op)) {
    if (d.key == key) return d.route == DispatchInfo::Route::Own;
  }
  return false;
}

bool ran_on_cpu(OperatorHandle op) {
  for (const FallbackCount& f : fallback_counts()) {
    if (f.op == op.name()) return true;
  }
  return false;
}

std::string line_of(const std::string& name, const std::string& device,
                    const Ways& ways) {
  std::string out = str("{} {}", name, device);
  for (const auto& [way, dtypes] : by_way(ways)) {
    out += str(" {}:{}", way, dtypes);
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> by_way(
    const std::map<std::string, std::string>& ways) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const char* way : kWays) {
    std::string dtypes;
    for (int t = 0; t < kNumScalarTypes; ++t) {
      const std::string dtype = str("{}", static_cast<ScalarType>(t));
      const auto found = ways.find(dtype);
      if (found == ways.end() || found->second != way) continue;
      dtypes += (dtypes.empty() ? "" : ",") + dtype;
    }
    if (!dtypes.empty()) out.emplace_back(way, dtypes);
  }
  return out;
}

Ways dtypes_of(OperatorHandle op, const std::string& words, Device device) {
  const auto calls = made_calls(op, words);
  const bool own = has_own_kernel(op, device);
  Ways out;
  for (size_t i = 0; i < calls->size(); ++i) {
    const std::string id = calls->id(i);
    if (!parse_scalar_type(id)) continue;  // other strides, no elements
    try {
      Arguments in = calls->arguments(i);
      change_tensors(
          op.schema(), [&](const Tensor& t) { return t.to(device); }, in);
      for (Value& v : in.values) {
        if (v.tag() == Value::Tag::Device) v = Value(device);
      }
      std::vector<Value> results(op.schema().returns().size());
      reset_fallback_counts();
      op.call_boxed(in.values.data(), in.values.size(), results.data(),
                    results.size());
      out[id] = ran_on_cpu(op) ? "cpu" : own ? "native" : "composed";
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      // The device does not take what the CPU takes.
    }
  }
  return out;
}

namespace {

// The operators that a pattern fits, "aten::" left out.
std::vector<std::pair<std::string, OperatorHandle>> subjects(
    const std::string& glob) {
  std::vector<std::pair<std::string, OperatorHandle>> out;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    std::string name = short_name(op.name());
    if (!op.schema().is_functional() ||
        (!glob.empty() && !matches(glob, name))) {
      continue;
    }
    out.emplace_back(std::move(name), op);
  }
  SY_CHECK(!out.empty(), Value, "no functional operator fits {}", glob);
  return out;
}

void tell(const Json& v) {
  SY_CHECK(answer(v), Error, "nobody reads what a worker answers");
}

using Workers = std::vector<std::unique_ptr<WorkerProcess>>;

Workers start_workers(const DtypesOptions& options) {
  const int jobs = share_cores(options.jobs);
  Workers out;
  for (int part = 0; part < jobs; ++part) {
    std::vector<std::string> arguments = {
        "dtypes-worker", "--jobs", str("{}", jobs), "--part", str("{}", part)};
    for (const std::string& p : options.plugins) {
      arguments.insert(arguments.end(), {"--plugin", p});
    }
    if (!options.device.empty()) {
      arguments.insert(arguments.end(), {"--device", options.device});
    }
    if (!options.glob.empty()) arguments.push_back(options.glob);
    out.push_back(std::make_unique<WorkerProcess>(arguments));
  }
  return out;
}

// Takes the answers of workers, as they come, until all have ended.
template <class F>
void collect(const Workers& workers, const F& take) {
  std::vector<pollfd> ends;
  for (const auto& w : workers) ends.push_back({w->answers(), POLLIN, 0});
  for (size_t running = workers.size(); running > 0;) {
    if (poll(ends.data(), ends.size(), -1) < 0) {
      SY_CHECK(errno == EINTR, Error, "cannot wait for workers");
      continue;
    }
    for (size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      bool ended = false;
      for (const std::string& line : workers[i]->receive(ended)) {
        take(parse_json(line, "a worker"));
      }
      if (!ended) continue;
      const std::string how = workers[i]->how_it_ended();
      SY_CHECK(how == "exit status 0", Error, "a worker ended with {}", how);
      ends[i].fd = -1;
      --running;
    }
  }
}

void run_part(const DtypesOptions& options) {
  const std::vector<Plugin> plugins = load_plugins(options.plugins);
  init();
  const Device device =
      device_of_tensors(choose_device(plugins, options.device));
  tell({{"device", str("{}", device)}});
  const ExampleWords examples = read_examples({});
  const auto all = subjects(options.glob);
  const auto jobs = static_cast<size_t>(std::max(1, options.jobs));
  for (size_t i = static_cast<size_t>(options.part); i < all.size();
       i += jobs) {
    const auto& [name, op] = all[i];
    const auto example = examples.find(name);
    if (example == examples.end() && !signature_suffices(op)) continue;
    Ways ways;
    try {
      ways = dtypes_of(op, example == examples.end() ? "" : example->second,
                       device);
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      // The arguments that the signature suggests make no call.
    }
    if (ways.empty()) continue;
    tell({{"at", i}, {"name", name}, {"ways", ways}});
  }
}

}  // namespace

int run_dtypes_worker(const DtypesOptions& options) {
  try {
    run_part(options);
  } catch (const std::exception& e) {
    tell({{"error", e.what()}});  // said once, by who started the workers
  }
  return 0;
}

int run_dtypes(const DtypesOptions& options) {
  DtypesOptions o = options;
  for (std::string& p : o.plugins) p = find_library(p);
  std::string device;
  std::map<size_t, Json> operators;  // in their order
  collect(start_workers(o), [&](Json json) {
    if (json.contains("error")) throw Error(json["error"].get<std::string>());
    if (json.contains("device")) {
      device = json["device"].get<std::string>();
    } else {
      const auto at = json["at"].get<size_t>();
      operators.emplace(at, std::move(json));
    }
  });
  Json json = {{"device", device}, {"operators", Json::object()}};
  for (const auto& [at, op] : operators) {
    const auto name = op["name"].get<std::string>();
    json["operators"][name] = op["ways"];
    if (options.json) continue;
    fmt::print("{}\n", line_of(name, device, op["ways"]));
  }
  if (options.json) fmt::print("{}\n", dump(json, 1));
  return 0;
}

}  // namespace sy::tools
