#include <cstdlib>
#include <exception>
#include <string>

#include "backends/cuda/blas/library.h"
#include "backends/cuda/compile/cache.h"
#include "backends/cuda/compile/nvrtc.h"
#include "backends/cuda/compile/pack.h"
#include "backends/cuda/cub/library.h"
#include "backends/cuda/dnn/library.h"
#include "backends/cuda/driver/api.h"
#include "backends/cuda/runtime/context.h"
#include "c10/macros.h"
#include "c10/process/error.h"

// The lines that this library adds to `sy doctor`: docs/backends.md, "When it
// does not load".

namespace sy::cuda {

namespace {

using Say = void (*)(void* to, const char* line);

std::string driver_line() {
  const char* why = "";
  if (driver::try_api(&why) == nullptr) return std::string("driver: ") + why;
  const driver::DriverInfo d = driver::driver_info();
  return str("driver: {} ({}), for CUDA {}.{}", d.path, d.place,
             d.version / 1000, d.version % 1000 / 10);
}

std::string device_line(int device) {
  const driver::Api& a = driver::api();
  driver::Device ordinal = 0;
  char name[256] = "";
  int major = 0, minor = 0;
  size_t bytes = 0;
  driver::check(a.device_get(&ordinal, device), "cuDeviceGet");
  driver::check(a.device_name(name, sizeof name, ordinal), "cuDeviceGetName");
  driver::check(a.device_attribute(&major, driver::kComputeMajor, ordinal),
                "cuDeviceGetAttribute");
  driver::check(a.device_attribute(&minor, driver::kComputeMinor, ordinal),
                "cuDeviceGetAttribute");
  driver::check(a.device_memory(&bytes, ordinal), "cuDeviceTotalMem");
  return str("cuda:{}: {}, sm_{}{}, {} MiB", device, name, major, minor,
             bytes >> 20);
}

std::string nvrtc_line() {
  std::string why;
  const Nvrtc* const n = Nvrtc::get(&why);
  if (n == nullptr) {
    return str("NVRTC: {}; kernels come from packs, programs are interpreted",
               why);
  }
  return str("NVRTC: {} ({}), {}.{}", n->path(), n->place(), n->major(),
             n->minor());
}

std::string cache_line() {
  const Cache cache(Cache::default_path());
  return cache.why_off().empty()
             ? str("compiled kernels are kept in {}", cache.path())
             : str("compiled kernels are not kept: {}", cache.why_off());
}

}  // namespace

// Called in a process that ends afterwards; nothing may be thrown.
extern "C" SY_API void switchyard_doctor(Say say, void* to) {
  try {
    say(to, driver_line().c_str());
    const int n = device_count();
    if (n == 0 && driver::try_api(nullptr) != nullptr) {
      say(to, why_no_devices());
    }
    for (int i = 0; i < n; ++i) say(to, device_line(i).c_str());
    say(to, nvrtc_line().c_str());
    say(to, ("kernels in the library: " + describe_built_in()).c_str());
    for (const std::string& pack : describe_packs()) {
      say(to, ("pack: " + pack).c_str());
    }
    say(to, cache_line().c_str());
    say(to, cub::describe().c_str());
    say(to, blas::describe().c_str());
    say(to, dnn::describe().c_str());
  } catch (const std::exception& e) {
    say(to, e.what());
  }
}

}  // namespace sy::cuda
