#include "backends/cuda/dnn/library.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "backends/cuda/dnn/plan.h"
#include "backends/cuda/driver/api.h"
#include "backends/cuda/runtime/device_state.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::cuda::dnn {

namespace {

constexpr const char* kVariable = "SWITCHYARD_CUDA_DNN";
// Descriptors and numbers are those of these versions.
constexpr size_t kOldest = 90000, kTooNew = 100000;

struct Opened {
  Api api = {};
  driver::Library library;
  size_t version = 0;
  std::string why;  // it is not used
  std::mutex mutex;
  Session sessions[kMaxDevices];
  std::atomic<bool> ready[kMaxDevices] = {};
  std::atomic<bool> failed[kMaxDevices] = {};
  // Under the mutex.
  std::string errors[kMaxDevices];
  int64_t plans = 0, refusals = 0;
  std::string last_refusal;
};

driver::Library open_file(std::string* why) {
  const char* const named = environment(kVariable);
  const std::string given = named == nullptr ? "" : named;
  if (given == "off" || given == "0") {
    *why = str("{}={}", kVariable, given);
    return {};
  }
  if (!given.empty()) return driver::open_file(given, kVariable, why);
  if (!driver::serves_libraries()) {
    *why = str("the driver {} is none that NVIDIA's libraries can use",
               driver::driver_info().path);
    return {};
  }
  return driver::open_library({"libcudnn.so.9"}, why);
}

void open(Opened* out) {
  if (driver::try_api(nullptr) == nullptr) {
    out->why = "there is no driver";
    return;
  }
  out->library = open_file(&out->why);
  if (!out->library) return;
  if (!find_functions(out->library, &out->api, &out->why)) return;
  out->version = out->api.version();
  if (out->version < kOldest || out->version >= kTooNew) {
    out->why =
        str("{} has version {}, expected 9", out->library.path, out->version);
  }
}

// Leaked: threads may outlive everything.
std::atomic<Opened*> opened{nullptr};
Opened& use() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (opened.load() == nullptr) reopen();
  });
  return *opened.load(std::memory_order_acquire);
}

bool begin_session(Opened& o, int device) {
  const std::lock_guard lock(o.mutex);
  if (o.ready[device].load()) return true;
  const Result r = o.api.create(&o.sessions[device].handle);
  if (r != kDone) {
    o.errors[device] = error_of(o.api, r);
    o.failed[device].store(true);
    return false;
  }
  o.sessions[device].plans = make_plans();
  o.ready[device].store(true, std::memory_order_release);
  return true;
}

void log(const std::string& line) {
  static const bool logs = [] {
    const char* const given = environment("SWITCHYARD_CUDA_DNN_LOG");
    return given != nullptr && std::strcmp(given, "0") != 0;
  }();
  if (logs) std::fprintf(stderr, "switchyard: cuDNN: %s\n", line.c_str());
}

}  // namespace

bool find_functions(const driver::Library& from, Api* api, std::string* why) {
  bool all = true;
  const auto find = [&](auto* member, const char* symbol) {
    *member = reinterpret_cast<std::remove_reference_t<decltype(*member)>>(
        from.symbol(symbol));
    if (*member != nullptr || !all) return;
    *why = str("{} has no function {}", from.path, symbol);
    all = false;
  };
#define SY_FIND(member, symbol, arguments) find(&api->member, symbol);
  SY_CUDA_DNN_FUNCTIONS(SY_FIND)
#undef SY_FIND
  find(&api->version, "cudnnGetVersion");
  find(&api->error_text, "cudnnGetErrorString");
  find(&api->last_error, "cudnnGetLastErrorString");
  return all;
}

std::string error_of(const Api& api, Result error) {
  char more[400] = "";
  api.last_error(more, sizeof more);
  more[sizeof more - 1] = '\0';
  std::string out = str("{} ({})", api.error_text(error), error);
  if (more[0] != '\0') out += str(": {}", more);
  for (char& c : out) {
    if (c == '\n') c = ' ';
  }
  return out;
}

Library library(int device) noexcept {
  try {
    Opened& o = use();
    if (!o.why.empty() || o.failed[device].load(std::memory_order_relaxed)) {
      return {};
    }
    use_device(device);
    if (!o.ready[device].load(std::memory_order_acquire) &&
        !begin_session(o, device)) {
      return {};
    }
    return {&o.api, &o.sessions[device]};
  } catch (...) {  // our own kernels throw what the device says
    return {};
  }
}

void note_plan(const std::string& line) {
  log(line);
  Opened& o = use();
  const std::lock_guard lock(o.mutex);
  ++o.plans;
}

void note_refusal(const std::string& line) {
  log(line);
  Opened& o = use();
  const std::lock_guard lock(o.mutex);
  ++o.refusals;
  o.last_refusal = line;
}

std::string describe() {
  Opened& o = use();
  if (!o.why.empty()) return str("cuDNN: {}; own kernels convolve", o.why);
  std::string out =
      str("cuDNN: {} ({}), {}.{}.{}", o.library.path, o.library.place,
          o.version / 10000, o.version / 100 % 100, o.version % 100);
  const std::lock_guard lock(o.mutex);
  for (int i = 0; i < kMaxDevices; ++i) {
    if (o.failed[i].load()) out += str("; not on cuda:{}: {}", i, o.errors[i]);
  }
  if (o.plans != 0) out += str("; {} plans", o.plans);
  if (o.refusals != 0) {
    out += str("; {} refused, the last: {}", o.refusals, o.last_refusal);
  }
  return out;
}

void reopen() {
  auto* const o = new Opened;
  open(o);
  opened.store(o, std::memory_order_release);
}

}  // namespace sy::cuda::dnn
