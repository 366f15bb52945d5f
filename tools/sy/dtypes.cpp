#include "tools/sy/dtypes.h"

#include <cstdio>

#include "aten/cpu_fallback.h"
#include "aten/tensor.h"
#include "c10/backend.h"
#include "c10/error.h"
#include "c10/introspect.h"
#include "c10/plugin.h"
#include "tools/sy/calls.h"
#include "tools/sy/case_file.h"
#include "tools/sy/claims.h"
#include "tools/sy/examples.h"
#include "tools/sy/json.h"
#include "tools/sy/words.h"

namespace sy::tools {

namespace {

constexpr const char* kWays[] = {"native", "composed", "cpu"};

using Ways = std::map<std::string, std::string>;  // by dtype

bool has_own_kernel(OperatorHandle op, Device device) {
  const std::string key = backend_key_name(device.type);
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

// In the order of dtypes.yaml, by way.
std::string line_of(const std::string& name, Device device, const Ways& ways) {
  std::string out = str(name, " ", device);
  for (const char* way : kWays) {
    std::string dtypes;
    for (int t = 0; t < kNumScalarTypes; ++t) {
      const std::string dtype = str(static_cast<ScalarType>(t));
      const auto found = ways.find(dtype);
      if (found == ways.end() || found->second != way) continue;
      dtypes += (dtypes.empty() ? "" : ",") + dtype;
    }
    if (!dtypes.empty()) out += str(" ", way, ":", dtypes);
  }
  return out;
}

}  // namespace

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

int run_dtypes(const DtypesOptions& options) {
  std::vector<std::string> paths = options.plugins;
  for (std::string& p : paths) p = find_library(p);
  const std::vector<Plugin> plugins = load_plugins(paths);
  init();
  Device device(choose_device(plugins, options.device));
  if (device.type > kMeta && !device.has_index()) {
    device = Device(device.type, 0);  // as tensors have it
  }
  const ExampleWords examples = read_examples({});
  Json json = {{"device", str(device)}, {"operators", Json::object()}};
  bool found = false;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    std::string name(op.name());
    if (name.starts_with("aten::")) name.erase(0, 6);
    if (!op.schema().is_functional() ||
        (!options.glob.empty() && !matches(options.glob, name))) {
      continue;
    }
    found = true;
    const auto example = examples.find(name);
    if (example == examples.end() && !signature_suffices(op)) continue;
    Ways ways;
    try {
      ways = dtypes_of(op, example == examples.end() ? "" : example->second,
                       device);
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      // What the signature suggests is no call.
    }
    if (ways.empty()) continue;
    json["operators"][name] = ways;
    if (!options.json) {
      std::printf("%s\n", line_of(name, device, ways).c_str());
    }
  }
  SY_CHECK(found, Value, "no functional operator fits ", options.glob);
  if (options.json) std::printf("%s\n", dump(json, 1).c_str());
  return 0;
}

}  // namespace sy::tools
