#include "backends/cuda/compile/images.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "backends/cuda/compile/cache.h"
#include "backends/cuda/compile/nvrtc.h"
#include "backends/cuda/compile/pack.h"
#include "backends/cuda/runtime/context.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

struct Totals {
  std::atomic<int64_t> baked{0}, kept{0}, units{0}, failed{0}, compile_ns{0};
};
Totals totals;

// Leaked: threads may outlive everything.
Cache& cache() {
  static auto& c = *[] {
    auto* const made = new Cache(Cache::default_path());
    if (!made->why_off().empty() && !made->path().empty()) {
      std::fprintf(stderr,
                   "switchyard: cuda: compiled kernels are not kept: %s\n",
                   made->why_off().c_str());
    }
    return made;
  }();
  return c;
}

// Whether the image is no good here: not an error of the device or its memory.
bool is_refusal(driver::Result r) {
  return r == driver::kInvalidImage || r == driver::kNoBinaryForGpu ||
         r == driver::kInvalidPtx || r == driver::kUnsupportedPtxVersion ||
         r == driver::kNotSupported;
}

// Loads an image once for each device. Modules live until the process ends.
driver::Result load(int device, const Image& image, driver::Module* module) {
  struct Table {
    std::mutex mutex;
    std::map<std::pair<int, Hash>, driver::Module> modules;
  };
  static auto& table = *new Table;
  use_device(device);
  const std::lock_guard lock(table.mutex);
  driver::Module& known = table.modules[{device, image.id}];
  if (known == nullptr) {
    const driver::Result r =
        driver::api().module_load(&known, image.bytes.data());
    if (r != driver::kSuccess) {
      table.modules.erase({device, image.id});
      return r;
    }
  }
  *module = known;
  return driver::kSuccess;
}

bool load_stored(int device, const Image& image, driver::Module* module) {
  const driver::Result r = load(device, image, module);
  if (is_refusal(r)) return false;
  driver::check(r, "cuModuleLoadData");
  return true;
}

// Devices whose driver has refused a kernel of the library: it refuses them
// all.
std::atomic<bool>& refuses_built_in(int device) {
  constexpr size_t kDevices = 64;
  static std::atomic<bool> table[kDevices];
  return table[static_cast<size_t>(device) % kDevices];
}

bool load_built_in(int device, const Hash& key, driver::Module* module) {
  Image image;
  if (refuses_built_in(device) ||
      !find_built_in(key, architecture_of(device), &image)) {
    return false;
  }
  const bool good = load_stored(device, image, module);
  if (!good) refuses_built_in(device) = true;
  return good;
}

// Why the driver does not take what NVRTC makes, once that is known. Leaked.
std::atomic<const std::string*> no_use = nullptr;

// nullptr, and why, if nothing can be compiled for the architecture.
const Nvrtc* compiler_for(int architecture, Target* target, std::string* why) {
  const Nvrtc* const nvrtc = Nvrtc::get(why);
  if (nvrtc == nullptr) return nullptr;
  if (const std::string* const reason = no_use) {
    *why = *reason;
    return nullptr;
  }
  try {
    *target = nvrtc->target_for(architecture);
  } catch (const Error& e) {
    *why = e.message();
    return nullptr;
  }
  return nvrtc;
}

Hash key_on_disk(const Hash& key, const Nvrtc& nvrtc, const Target& target) {
  return Hasher().add(key.a).add(key.b).add(nvrtc.fingerprint(target)).end();
}

}  // namespace

int architecture_of(int device) {
  const DeviceLimits& l = limits(device);
  return l.compute_major * 10 + l.compute_minor;
}

bool load_baked(int device, const Hash& key, driver::Module* module) {
  Image image;
  const bool is_packed = find_in_packs(key, architecture_of(device), &image) &&
                         load_stored(device, image, module);
  if (!is_packed && !load_built_in(device, key, module)) return false;
  ++totals.baked;
  return true;
}

bool load_kept(int device, const Hash& key, driver::Module* module) {
  Target target;
  std::string why;
  const Nvrtc* const nvrtc =
      compiler_for(architecture_of(device), &target, &why);
  if (nvrtc == nullptr) return false;
  const Hash on_disk = key_on_disk(key, *nvrtc, target);
  Image image;
  if (!cache().read(on_disk, &image)) return false;
  if (!load_stored(device, image, module)) {
    cache().remove(on_disk);
    return false;
  }
  ++totals.kept;
  return true;
}

bool compile_and_load(int device, const Unit& unit,
                      const std::vector<Hash>& keys, driver::Module* module,
                      std::string* why) {
  Target target;
  const Nvrtc* const nvrtc =
      compiler_for(architecture_of(device), &target, why);
  if (nvrtc == nullptr) return false;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::string bytes;
  const bool good = nvrtc->compile(unit, target, &bytes, why);
  totals.compile_ns += std::chrono::nanoseconds(Clock::now() - begin).count();
  ++totals.units;
  if (!good) {
    ++totals.failed;
    return false;
  }
  const Image image = Image::make(std::move(bytes));
  const driver::Result r = load(device, image, module);
  if (is_refusal(r)) {
    const int version = driver::driver_info().version;
    *why =
        str("the driver, for CUDA {}.{}, refuses what NVRTC {}.{} made for {}: "
            "$SWITCHYARD_NVRTC may name another",
            version / 1000, version % 1000 / 10, nvrtc->major(), nvrtc->minor(),
            to_string(target));
    no_use = new std::string(*why);
    return false;
  }
  driver::check(r, "cuModuleLoadData");
  // The disk keeps only what the driver has taken.
  std::vector<Hash> on_disk;
  on_disk.reserve(keys.size());
  for (const Hash& key : keys) {
    on_disk.push_back(key_on_disk(key, *nvrtc, target));
  }
  cache().write(on_disk, image);
  return true;
}

std::string why_not_compiled(int device) {
  Target target;
  std::string why;
  compiler_for(architecture_of(device), &target, &why);
  return why;
}

std::string why_not_baked(int device) {
  if (refuses_built_in(device)) {
    return str("the driver, for CUDA {}.{}, refuses the kernels in the library",
               driver::driver_info().version / 1000,
               driver::driver_info().version % 1000 / 10);
  }
  const std::string why = why_not_built_in(architecture_of(device));
  return why.empty() ? "it is not among the kernels in the library" : why;
}

CompileCounters compile_counters() noexcept {
  return {totals.baked, totals.kept, totals.units, totals.failed,
          totals.compile_ns};
}

}  // namespace sy::cuda
