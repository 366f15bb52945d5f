#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "test/backends/cuda/fake/driver/entries.h"
#include "test/backends/cuda/fake/driver/image.h"

// Modules are shared objects of the host.

namespace fake_cuda {
namespace {

// Each module is a file of its own, so that its variables are too.
std::string write_file(const void* image, size_t bytes, uint64_t number) {
  const char* folder = std::getenv("TMPDIR");
  if (folder == nullptr || *folder == 0) folder = "/tmp";
  std::string path = std::string(folder) + "/fake_cuda_module_" +
                     std::to_string(getpid()) + "_" + std::to_string(number) +
                     ".so";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return "";
  const bool good = std::fwrite(image, 1, bytes, file) == bytes;
  if (std::fclose(file) != 0 || !good) return "";
  return path;
}

int most_shared_of_device() {
  return (settings().major >= 9 ? 227 : 163) << 10;
}

Result usable_function(Function handle, std::shared_ptr<FunctionState>* f) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  *f = state().functions.find(handle);
  return *f == nullptr ? kInvalidHandle : kSuccess;
}

}  // namespace

namespace entry {

Result module_load(Module* out, const void* image) {
  ContextState* c;
  Result r = usable_context(&c);
  if (r != kSuccess) return r;
  if (out == nullptr) return kInvalidValue;
  size_t bytes;
  r = classify_image(image, &bytes);
  if (r != kSuccess) {
    if (image != nullptr) note_refused(image);
    return r;
  }
  static std::atomic<uint64_t> next{1};
  const uint64_t number = next++;
  const std::string path = write_file(image, bytes, number);
  if (path.empty()) {
    std::perror("fake_cuda: cannot write a module");
    return kUnknown;
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!settings().keep_modules) unlink(path.c_str());
  if (library == nullptr) {
    std::fprintf(stderr, "fake_cuda: %s\n", dlerror());
    return kInvalidImage;
  }
  // The target that the fake NVRTC was told to compile for.
  const auto* target =
      static_cast<const int*>(dlsym(library, "sy_on_host_target"));
  const int device = settings().major * 10 + settings().minor;
  if (target != nullptr &&
      (*target / 10 != settings().major || *target > device)) {
    dlclose(library);
    return kNoBinaryForGpu;
  }
  auto module = std::make_shared<ModuleState>();
  module->context = c;
  module->library = library;
  module->number = number;
  link_map* map = nullptr;
  dlinfo(library, RTLD_DI_LINKMAP, &map);
  module->loaded_at = map->l_addr;
  *out = static_cast<Module>(state().modules.add(std::move(module)));
  return kSuccess;
}

Result module_unload(Module handle) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  const auto module = state().modules.remove(handle);
  if (module == nullptr) return kInvalidHandle;
  wait_for_context(*module->context);
  for (const auto& [name, f] : module->functions) {
    state().functions.remove(f.get());
  }
  module->functions.clear();
  dlclose(module->library);
  return kSuccess;
}

Result module_function(Function* out, Module handle, const char* name) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  if (out == nullptr || name == nullptr || *name == 0) return kInvalidValue;
  const auto module = state().modules.find(handle);
  if (module == nullptr) return kInvalidHandle;
  static std::mutex* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  std::shared_ptr<FunctionState>& f = module->functions[name];
  if (f == nullptr) {
    const std::string symbol = name;
    void* const kernel =
        dlsym(module->library, ("sy_kernel_" + symbol).c_str());
    void* const info =
        dlsym(module->library, ("sy_kernel_info_" + symbol).c_str());
    if (kernel == nullptr || info == nullptr) {
      module->functions.erase(name);
      return kNotFound;
    }
    f = std::make_shared<FunctionState>();
    f->module = module.get();
    f->name = name;
    f->kernel = reinterpret_cast<sy_on_host::Kernel>(kernel);
    f->info = *static_cast<const sy_on_host::KernelInfo*>(info);
    f->most_shared = 48 << 10;
    f->left_to_check = settings().most_checked;
    state().functions.add(f);
  }
  *out = reinterpret_cast<Function>(f.get());
  return kSuccess;
}

Result function_attribute(int* value, int attribute, Function handle) {
  std::shared_ptr<FunctionState> f;
  const Result r = usable_function(handle, &f);
  if (r != kSuccess) return r;
  const int target = settings().major * 10 + settings().minor;
  switch (attribute) {
    case 0: *value = static_cast<int>(f->info.max_threads); break;
    case 1:
    case 2:
    case 3: *value = 0; break;   // shared, constant, local bytes
    case 4: *value = 32; break;  // registers
    case 5:
    case 6: *value = target; break;
    case 7: *value = 0; break;
    case driver::kMaxDynamicShared:
      *value = static_cast<int>(f->most_shared.load());
      break;
    default: return kInvalidValue;
  }
  return kSuccess;
}

Result function_set(Function handle, int attribute, int value) {
  std::shared_ptr<FunctionState> f;
  const Result r = usable_function(handle, &f);
  if (r != kSuccess) return r;
  if (attribute == 9) return kSuccess;  // how memory is split with the cache
  if (attribute != driver::kMaxDynamicShared || value < 0 ||
      value > most_shared_of_device()) {
    return kInvalidValue;
  }
  f->most_shared = static_cast<unsigned>(value);
  return kSuccess;
}

}  // namespace entry
}  // namespace fake_cuda
