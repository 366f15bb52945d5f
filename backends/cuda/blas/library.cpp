#include "backends/cuda/blas/library.h"

#include <atomic>
#include <mutex>
#include <type_traits>

#include "backends/cuda/driver/library.h"
#include "backends/cuda/runtime/device_state.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::cuda::blas {

namespace {

constexpr const char* kVariable = "SWITCHYARD_CUDA_BLAS";
// Descriptors and numbers are those of these versions.
constexpr size_t kOldest = 120000, kTooNew = 140000;

struct Opened {
  Api api = {};
  driver::Library library;
  size_t version = 0;
  std::string why;  // it is not used
  std::mutex mutex;
  std::atomic<Handle> handles[kMaxDevices] = {};
  // 0, or why a device cannot use it.
  std::atomic<Result> errors[kMaxDevices] = {};
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
  return driver::driver_info().version / 1000 == 12
             ? driver::open_library({"libcublasLt.so.12"}, why)
             : driver::open_library({"libcublasLt.so.13", "libcublasLt.so.12"},
                                    why);
}

bool find_functions(Opened* out) {
  const auto find = [&](auto* member, const char* symbol) {
    *member = reinterpret_cast<std::remove_reference_t<decltype(*member)>>(
        out->library.symbol(symbol));
    if (*member == nullptr && out->why.empty()) {
      out->why = str("{} has no function {}", out->library.path, symbol);
    }
  };
#define SY_FIND(member, symbol, arguments) find(&out->api.member, symbol);
  SY_CUDA_BLAS_FUNCTIONS(SY_FIND)
#undef SY_FIND
  find(&out->api.version, "cublasLtGetVersion");
  find(&out->api.error_text, "cublasLtGetStatusString");
  return out->why.empty();
}

void open(Opened* out) {
  if (driver::try_api(nullptr) == nullptr) {
    out->why = "there is no driver";
    return;
  }
  out->library = open_file(&out->why);
  if (!out->library || !find_functions(out)) return;
  out->version = out->api.version();
  if (out->version < kOldest || out->version >= kTooNew) {
    out->why = str("{} has version {}, expected 12 or 13", out->library.path,
                   out->version);
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

Handle make_handle(Opened& o, int device) {
  const std::lock_guard lock(o.mutex);
  Handle handle = o.handles[device].load(std::memory_order_relaxed);
  if (handle != nullptr) return handle;
  const Result r = o.api.create(&handle);
  if (r != kDone) {
    o.errors[device].store(r, std::memory_order_relaxed);
    return nullptr;
  }
  o.handles[device].store(handle, std::memory_order_release);
  return handle;
}

}  // namespace

Library library(int device) noexcept {
  try {
    Opened& o = use();
    if (!o.why.empty() ||
        o.errors[device].load(std::memory_order_relaxed) != kDone) {
      return {};
    }
    use_device(device);
    Handle handle = o.handles[device].load(std::memory_order_acquire);
    if (SY_UNLIKELY(handle == nullptr)) handle = make_handle(o, device);
    return handle == nullptr ? Library{} : Library{&o.api, handle};
  } catch (...) {  // our own kernels throw what the device says
    return {};
  }
}

void give_up(int device, Result error) noexcept {
  opened.load()->errors[device].store(error, std::memory_order_relaxed);
}

std::string describe() {
  const Opened& o = use();
  if (!o.why.empty()) return str("cuBLASLt: {}; own kernels multiply", o.why);
  std::string out =
      str("cuBLASLt: {} ({}), {}.{}.{}", o.library.path, o.library.place,
          o.version / 10000, o.version / 100 % 100, o.version % 100);
  for (int i = 0; i < kMaxDevices; ++i) {
    const Result error = o.errors[i].load();
    if (error == kDone) continue;
    out += str("; not on cuda:{}: {}", i, o.api.error_text(error));
  }
  return out;
}

void reopen() {
  auto* const o = new Opened;
  open(o);
  opened.store(o, std::memory_order_release);
}

}  // namespace sy::cuda::blas
