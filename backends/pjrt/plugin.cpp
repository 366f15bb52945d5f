#include "backends/pjrt/plugin.h"

#include <dlfcn.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "c10/process/error.h"

namespace sy::pjrt {

namespace {

const char* dl_text() {
  const char* const text = dlerror();
  return text != nullptr ? text : "dlopen failed";
}

const abi::Api* load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  SY_CHECK(library != nullptr, Error, "[pjrt] cannot open {}: {}", path,
           dl_text());
  const auto get = reinterpret_cast<abi::GetApi>(dlsym(library, "GetPjrtApi"));
  if (get == nullptr) {
    dlclose(library);
    fail(ErrorKind::Error,
         "[pjrt] {} is not a PJRT plugin: it has no function GetPjrtApi", path);
  }
  const abi::Api* const api = get();
  SY_CHECK(api != nullptr, Error, "[pjrt] {}: GetPjrtApi returned nothing",
           path);
  // All versions have the fields up to the version.
  const abi::Version& v = api->version;
  SY_CHECK(v.major == 0, Error,
           "[pjrt] {}: expected PJRT version 0.x, got {}.{}", path, v.major,
           v.minor);
  SY_CHECK(api->head.size >= sizeof(abi::Api), Error,
           "[pjrt] {}: PJRT {}.{} is too old: expected {} functions, got {}",
           path, v.major, v.minor, abi::kFunctions,
           (api->head.size - offsetof(abi::Api, functions)) / sizeof(void*));
  return api;
}

// One name for each file.
std::string real_path(const std::string& path) {
  char buffer[PATH_MAX];
  SY_CHECK(realpath(path.c_str(), buffer) != nullptr, Error,
           "[pjrt] cannot open {}: {}", path, std::strerror(errno));
  return buffer;
}

}  // namespace

Plugin::Plugin(std::string path, const abi::Api* api)
    : path_(std::move(path)), api_(api) {
  abi::PluginInitialize args;
  call(args);
}

Plugin& Plugin::open(const std::string& path) {
  // Leaked, as threads of plugins run until the process ends.
  static auto& mutex = *new std::mutex;
  static auto& plugins = *new std::map<std::string, std::unique_ptr<Plugin>>;
  const std::string real = real_path(path);
  const std::lock_guard lock(mutex);
  auto& plugin = plugins[real];
  if (plugin == nullptr) plugin.reset(new Plugin(path, load(real)));
  return *plugin;
}

std::string Plugin::versions() const {
  std::string text =
      str("PJRT {}.{}", api_->version.major, api_->version.minor);
  abi::PluginAttributes args;
  call(args);
  for (size_t i = 0; i < args.count; ++i) {
    const abi::NamedValue& v = args.values[i];
    if (std::string_view(v.name, v.name_length) !=
            "stablehlo_current_version" ||
        v.type != abi::kNumbers) {
      continue;
    }
    text += ", StableHLO ";
    for (size_t k = 0; k < v.count; ++k) {
      text += str("{}{}", k == 0 ? "" : ".", v.numbers[k]);
    }
  }
  return text;
}

const abi::Extension* Plugin::extension(int32_t type) const {
  const abi::Extension* e = api_->head.extensions;
  while (e != nullptr && e->type != type) e = e->next;
  return e;
}

Plugin::Failure Plugin::take(abi::Error* error) const {
  abi::ErrorGetCode code;
  code.error = error;
  drop(try_call(code));
  abi::ErrorMessage message;
  message.error = error;
  try_call(message);
  Failure failure{code.code, std::string(message.text, message.length)};
  drop(error);
  return failure;
}

void Plugin::raise(const char* what, const Failure& failure) const {
  switch (failure.code) {
    case abi::kResourceExhausted:
      fail(ErrorKind::OutOfMemory, "[pjrt] {}: {}", what, failure.text);
    case abi::kUnimplemented:
      fail(ErrorKind::NotImplemented, "[pjrt] {}: {}", what, failure.text);
    default: fail(ErrorKind::Error, "[pjrt] {}: {}", what, failure.text);
  }
}

void Plugin::drop(abi::Error* error) const noexcept {
  if (error == nullptr) return;
  abi::ErrorDestroy args;
  args.error = error;
  try_call(args);
}

void Plugin::destroy(abi::Buffer* buffer) const noexcept {
  if (buffer == nullptr) return;
  abi::BufferDestroy args;
  args.buffer = buffer;
  drop(try_call(args));
}

void Plugin::destroy(abi::Event* event) const noexcept {
  if (event == nullptr) return;
  abi::EventDestroy args;
  args.event = event;
  drop(try_call(args));
}

}  // namespace sy::pjrt
