#include "runtime/load_schema.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "c10/process/error.h"
#include "c10/process/fork.h"
#include "runtime/schema_api.h"

namespace sy {

namespace runtime {
namespace {

constinit std::atomic<const SchemaApi*> linked{nullptr};

// The path of the file that this code is in; empty if that is not known.
std::string own_path() {
  Dl_info here;
  const bool known =
      dladdr(reinterpret_cast<const void*>(&own_path), &here) != 0 &&
      here.dli_fname != nullptr;
  return known ? here.dli_fname : "";
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

// Opens the library beside the one that this code is in, or beside what that is
// a link to, else where the dynamic linker searches.
void* open_library() {
  const std::string path = own_path();
  // The loader brings libswitchyard.so along: beside a program that is linked
  // with the static libraries it would be a second one.
  SY_CHECK(
      path.find("libswitchyard.so", path.rfind('/') + 1) != std::string::npos,
      NotImplemented,
      "load_schema: this program is linked with the static libraries; link "
      "//runtime:loader too, or //:sdk instead");
  std::error_code unknown;
  const std::string real = std::filesystem::canonical(path, unknown).string();
  for (const std::string& folder : {folder_of(path), folder_of(real)}) {
    if (void* lib = dlopen((folder + kSchemaLibrary).c_str(), RTLD_NOW)) {
      return lib;
    }
  }
  if (void* lib = dlopen(kSchemaLibrary, RTLD_NOW)) return lib;
  const char* why = dlerror();
  fail(ErrorKind::NotImplemented, "load_schema: expected {} beside {}: {}",
       kSchemaLibrary, path, why != nullptr ? why : "dlopen failed");
}

const SchemaApi* find_api() {
  using Entry = const SchemaApi* (*)();
  const auto entry =
      reinterpret_cast<Entry>(dlsym(open_library(), kSchemaEntry));
  const SchemaApi* const api = entry == nullptr ? nullptr : entry();
  SY_CHECK(
      api != nullptr && api->version == SchemaApi::kVersion, NotImplemented,
      "load_schema: {} is of another version of Switchyard", kSchemaLibrary);
  return api;
}

const SchemaApi& api() {
  if (const SchemaApi* const own = linked.load()) return *own;
  const ForkSection section;
  static const SchemaApi* const loaded = find_api();
  return *loaded;
}

}  // namespace

void register_schema_api(const SchemaApi* api) noexcept { linked.store(api); }

}  // namespace runtime

SchemaHandle::SchemaHandle(SchemaHandle&& o) noexcept
    : path_(std::move(o.path_)),
      operators_(std::move(o.operators_)),
      loaded_(std::exchange(o.loaded_, nullptr)) {}

SchemaHandle& SchemaHandle::operator=(SchemaHandle&& o) noexcept {
  std::swap(path_, o.path_);
  std::swap(operators_, o.operators_);
  std::swap(loaded_, o.loaded_);
  return *this;
}

SchemaHandle::~SchemaHandle() {
  try {
    if (loaded_ != nullptr) unload();
  } catch (const Error&) {
    // Still held: they stay, as their holders need them.
  }
}

void SchemaHandle::unload(std::chrono::milliseconds timeout) {
  SY_CHECK(loaded_ != nullptr, Error, "unload: the handle is empty");
  runtime::api().unload(loaded_, timeout);
  loaded_ = nullptr;
  operators_.clear();
}

namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// A device has no end, and a pipe may have no writer.
std::string read_schema(const std::string& path) {
  const Descriptor file{
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  SY_CHECK(file.fd >= 0, Registration,
           "cannot load schema {}: the file cannot be read: {}", path,
           std::strerror(errno));
  struct stat info {};
  SY_CHECK(::fstat(file.fd, &info) == 0 && S_ISREG(info.st_mode), Registration,
           "cannot load schema {}: expected a regular file", path);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(file.fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    SY_CHECK(n >= 0, Registration,
             "cannot load schema {}: the file cannot be read: {}", path,
             std::strerror(errno));
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace

SchemaHandle load_schema(const std::string& path) {
  return load_schema_text(read_schema(path), path);
}

SchemaHandle load_schema_text(std::string_view text, const std::string& name) {
  SchemaHandle handle;
  handle.path_ = name;
  handle.loaded_ = runtime::api().load(text, name, &handle.operators_);
  return handle;
}

}  // namespace sy
