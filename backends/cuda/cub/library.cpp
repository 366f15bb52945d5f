#include "backends/cuda/cub/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "backends/cuda/driver/library.h"
#include "backends/cuda/runtime/device_state.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::cuda::cub {

namespace {

constexpr const char* kFile = "libswitchyard_cuda_cub.so";
constexpr const char* kEntry = "switchyard_cuda_cub";
constexpr const char* kVariable = "SWITCHYARD_CUDA_CUB";

struct Opened {
  const SwitchyardCub* table = nullptr;
  driver::Library library;
  std::string why;  // it is not used
  // 0, or why a device cannot use it.
  std::atomic<int> errors[kMaxDevices] = {};
};

std::string version_text(int cuda) {
  return str("{}.{}", cuda / 1000, cuda % 1000 / 10);
}

// The library's, or the program's that it is linked into.
std::string own_folder() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &here) == 0 ||
      here.dli_fname == nullptr) {
    return "./";
  }
  const std::string path = here.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

driver::Library open_file(std::string* why) {
  const char* const named = environment(kVariable);
  const std::string given = named == nullptr ? "" : named;
  if (given == "off" || given == "0") {
    *why = str("{}={}", kVariable, given);
    return {};
  }
  if (!given.empty()) return driver::open_file(given, kVariable, why);
  const std::string path = own_folder() + kFile;
  if (access(path.c_str(), F_OK) != 0) {
    *why = str("there is no {}: the library was built without nvcc", path);
    return {};
  }
  if (!driver::serves_libraries()) {
    *why = str("the driver {} is none that CUDA's runtime can use",
               driver::driver_info().path);
    return {};
  }
  return driver::open_file(path, "beside the library", why);
}

void open(Opened* out) {
  if (driver::try_api(nullptr) == nullptr) {
    out->why = "there is no driver";
    return;
  }
  out->library = open_file(&out->why);
  if (!out->library) return;
  const auto entry =
      reinterpret_cast<SwitchyardCubEntry>(out->library.symbol(kEntry));
  if (entry == nullptr) {
    out->why = str("{} has no function {}", out->library.path, kEntry);
    return;
  }
  const SwitchyardCub* const table = entry();
  if (table->version != SWITCHYARD_CUDA_CUB_VERSION) {
    out->why = str("{} has version {}, expected {}", out->library.path,
                   table->version, int{SWITCHYARD_CUDA_CUB_VERSION});
    return;
  }
  const int driver = driver::driver_info().version;
  if (table->cuda / 1000 > driver / 1000) {
    out->why = str("{} is for CUDA {}, the driver for {}", out->library.path,
                   version_text(table->cuda), version_text(driver));
    return;
  }
  out->table = table;
}

std::atomic<int64_t> call_count{0};

// Leaked: threads may outlive everything.
std::atomic<Opened*> opened{nullptr};
Opened* use() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (opened.load() == nullptr) reopen();
  });
  return opened.load(std::memory_order_acquire);
}

}  // namespace

Least& least() noexcept {
  static Least l;
  return l;
}

const SwitchyardCub* functions(int device) noexcept {
  try {
    const Opened& o = *use();
    if (o.table == nullptr ||
        o.errors[device].load(std::memory_order_relaxed) != 0) {
      return nullptr;
    }
    enter_device(device_state(device));
    return o.table;
  } catch (...) {  // our own kernels throw what the device says
    return nullptr;
  }
}

void give_up(int device, int error) noexcept {
  opened.load()->errors[device].store(error, std::memory_order_relaxed);
}

void enqueue(int device, const char* what, LibraryCall call,
             const void* argument, const TensorBase& room,
             ArrayRef<const TensorBase*> tensors) {
  const LibraryWork work = {what, use()->table->error_text, /*lasting=*/true};
  enqueue_library(device, work, call, argument, room, tensors);
  call_count.fetch_add(1, std::memory_order_relaxed);
}

std::string describe() {
  const Opened& o = *use();
  if (o.table == nullptr) return str("CUB: {}; own kernels sort", o.why);
  std::string out =
      str("CUB: {} ({}), CUB {}.{}.{} of CUDA {}", o.library.path,
          o.library.place, o.table->cub / 100000, o.table->cub / 100 % 1000,
          o.table->cub % 100, version_text(o.table->cuda));
  for (int i = 0; i < kMaxDevices; ++i) {
    const int error = o.errors[i].load();
    if (error == 0) continue;
    out += str("; not on cuda:{}: {}", i, o.table->error_text(error));
  }
  return out;
}

int64_t calls() noexcept { return call_count.load(std::memory_order_relaxed); }

void reopen() {
  auto* const o = new Opened;
  open(o);
  opened.store(o, std::memory_order_release);
}

}  // namespace sy::cuda::cub
