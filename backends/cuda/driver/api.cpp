#include "backends/cuda/driver/api.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "backends/cuda/driver/library.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::cuda::driver {
namespace {

constexpr const char* kVariable = "SWITCHYARD_CUDA_DRIVER";
// Virtual memory and its kin are in all drivers since.
constexpr int kOldest = 11000;

// Answers of cuInit that the driver's own texts explain badly, or that it
// cannot explain, having refused to start.
constexpr int kStubLibrary = 34;
constexpr int kInsufficientDriver = 35;
constexpr int kDriverMismatch = 803;
constexpr int kForwardCompatibility = 804;

const char* hint(int r) {
  switch (r) {
    case kNoDevice: return "this machine has no device that CUDA can use";
    case kStubLibrary: return "this is the library for linking, not a driver";
    case kInsufficientDriver: return "the kernel's driver is too old for it";
    case kDriverMismatch:
      return "the kernel's driver has another version than the library";
    case kForwardCompatibility:
      return "the library is one for newer CUDA than this device may run";
    default: return nullptr;
  }
}

std::string version_text(int version) {
  return str("{}.{}", version / 1000, version % 1000 / 10);
}

// The library, once it is known to work or not. Never destroyed: memory of
// devices may be freed while the process ends.
struct Loaded {
  Api api = {};
  std::string why;  // "" if the library can be used
  std::string path, place;
  int version = 0;

  Loaded() {
    const char* const asked = environment(kVariable);
    const bool by_variable = asked != nullptr && *asked != '\0';
    std::string said;
    const Library library = by_variable ? open_file(asked, kVariable, &said)
                                        : open_library({"libcuda.so.1"}, &said);
    if (!library) {
      why = str("[cuda] there is no driver: {}{}", said,
                by_variable ? str(" ({} is {})", kVariable, asked) : "");
      return;
    }
    path = library.path;
    place = library.place;
    if (why = missing_symbols(library); !why.empty()) return;
    api.driver_version(&version);
    if (version < kOldest) {
      why = str("[cuda] {}: expected a driver for CUDA {} or newer, got {}",
                path, version_text(kOldest), version_text(version));
      return;
    }
    const Result r = api.init(0);
    if (r == kSuccess) return;
    const char* const more = hint(r);
    why = str("[cuda] {} (CUDA {}): cuInit: {}{}", path, version_text(version),
              text(r), more == nullptr ? "" : str("; {}", more));
  }

  std::string missing_symbols(const Library& library) {
    std::string missing;
#define SY_FIND(member, name, arguments)                                      \
  api.member = reinterpret_cast<decltype(Api::member)>(library.symbol(name)); \
  if (api.member == nullptr) missing += missing.empty() ? name : ", " name;
    SY_CUDA_DRIVER_FUNCTIONS(SY_FIND)
#undef SY_FIND
    if (missing.empty()) return "";
    return str("[cuda] {}: it lacks {}: the driver is too old, or no driver",
               path, missing);
  }

  std::string text(Result r) const {
    const char *name = nullptr, *said = nullptr;
    if (api.error_name != nullptr) api.error_name(r, &name);
    if (api.error_string != nullptr) api.error_string(r, &said);
    if (name == nullptr) return str("CUDA error {}", static_cast<int>(r));
    return said == nullptr ? std::string(name) : str("{}, {}", name, said);
  }
};

const Loaded& loaded() {
  static const auto* const l = new Loaded;
  return *l;
}

std::atomic<const Api*> usable{nullptr};
std::atomic<void (*)(Result)> fault_handler{nullptr};

}  // namespace

const Api& api() {
  if (const Api* const a = usable.load(std::memory_order_acquire)) return *a;
  const Loaded& l = loaded();
  if (!l.why.empty()) throw Error(l.why);
  usable.store(&l.api, std::memory_order_release);
  return l.api;
}

const Api* try_api(const char** why) noexcept {
  try {
    const Loaded& l = loaded();
    if (why != nullptr) *why = l.why.c_str();
    return l.why.empty() ? &l.api : nullptr;
  } catch (...) {
    if (why != nullptr) *why = "[cuda] no memory to open the driver";
    return nullptr;
  }
}

DriverInfo driver_info() noexcept {
  if (try_api(nullptr) == nullptr && loaded().path.empty()) return {};
  const Loaded& l = loaded();
  return {l.path.c_str(), l.place.c_str(), l.version};
}

bool serves_libraries() noexcept {
  if (try_api(nullptr) == nullptr) return false;
  void* const library = dlopen(loaded().path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool serves = dlsym(library, "cuGetExportTable") != nullptr;
  dlclose(library);
  return serves;
}

bool is_fault(Result r) noexcept {
  switch (static_cast<int>(r)) {
    case 214:  // memory errors that cannot be corrected
    case 220:  // and of links
    case kIllegalAddress:
    case 702:  // a kernel ran too long
    case 710:  // an assertion of a kernel
    case 714:  // stack
    case 715:  // instruction
    case kMisalignedAddress:
    case 717:  // address space
    case 718:  // program counter
    case kLaunchFailed: return true;
    default: return false;
  }
}

void set_fault_handler(void (*handler)(Result)) noexcept {
  fault_handler.store(handler, std::memory_order_release);
}

std::string result_text(Result r) { return loaded().text(r); }

void check(Result r, const char* what) {
  if (SY_LIKELY(r == kSuccess)) return;
  if (is_fault(r)) {
    if (const auto f = fault_handler.load(std::memory_order_acquire)) f(r);
  }
  if (r == kOutOfMemory) {
    fail(ErrorKind::OutOfMemory, "[cuda] {}: {}", what, result_text(r));
  }
  fail(ErrorKind::Error, "[cuda] {}: {}", what, result_text(r));
}

}  // namespace sy::cuda::driver
