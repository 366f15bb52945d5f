#include "c10/plugin.h"

#include <dlfcn.h>

#include <algorithm>

#include "c10/library_file.h"
#include "c10/registry.h"

namespace sy {

namespace {

std::string hex(uint64_t v) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(v));
  return text;
}

void check_notes(const std::string& path) {
  const std::vector<LibraryNote> notes = read_library_notes(path);
  if (notes.empty()) {
    reject_library(
        path,
        "it registers nothing: there is no Switchyard note in it (no "
        "SY_LIBRARY block, or section .note.switchyard was stripped); is it "
        "the library that you mean?");
  }
  const LibraryNote ours;
  for (const LibraryNote& n : notes) {
    if (n.layout != ours.layout) {
      reject_library(
          path, str("it was built against SDK ", n.sdk_version / 10000, ".",
                    n.sdk_version / 100 % 100, ".", n.sdk_version % 100,
                    " with layout ", hex(n.layout), ", this library is ",
                    SY_VERSION_STRING, " with layout ", hex(ours.layout),
                    "; rebuild it against this SDK"));
    }
    if (n.cxx11_abi != ours.cxx11_abi) {
      reject_library(path, str("it was built with _GLIBCXX_USE_CXX11_ABI=",
                               n.cxx11_abi, ", this library with ",
                               ours.cxx11_abi, "; rebuild it with the same"));
    }
  }
}

// A library that was opened once: its blocks' records, for loading it again.
struct Opened {
  void* handle;
  std::vector<LibraryRecord*> records;
  LibraryToken* token = nullptr;
  int uses = 0;
};

std::vector<Opened>& opened() {
  static auto* list = new std::vector<Opened>;  // leaked: handles may outlive
  return *list;
}

const void* base_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

// What a load does under Registry's load mutex.
class Loader {
 public:
  explicit Loader(Registry& registry)
      : registry_(registry), lock_(registry.load_mutex()) {
    registry_.committing_ = true;  // look-ups by initialisers commit nothing
  }
  ~Loader() { registry_.committing_ = false; }

  LibraryToken* load(const std::string& path) {
    void* handle = open_library(path);
    if (handle == nullptr) {
      registry_.take_pending();
      reject_library(path, explain_dlopen(path, dlerror()));
    }
    Opened& library = remember(handle, path);
    if (library.uses > 0) {
      dlclose(handle);  // only the count of dlopen
      ++library.uses;
      return library.token;
    }
    commit(library, path);
    library.uses = 1;
    return library.token;
  }

 private:
  // Sorts fresh records to the shared objects they lie in. Those that the
  // library depends on are committed first, on their own.
  Opened& remember(void* handle, const std::string& path) {
    const std::vector<LibraryRecord*> fresh = registry_.take_pending();
    const auto known =
        std::find_if(opened().begin(), opened().end(),
                     [&](const Opened& o) { return o.handle == handle; });
    if (known != opened().end()) return *known;
    Opened library{handle, {}};
    const void* base = fresh.empty() ? nullptr : base_of(fresh.back()->dso);
    std::vector<std::vector<LibraryRecord*>> others;
    for (LibraryRecord* r : fresh) {
      if (base_of(r->dso) == base) {
        library.records.push_back(r);
      } else if (!others.empty() && others.back().front()->dso == r->dso) {
        others.back().push_back(r);
      } else {
        others.push_back({r});
      }
    }
    for (const auto& records : others) {
      Dl_info info{};
      dladdr(records.front()->dso, &info);
      registry_.commit_records(
          records,
          registry_.token_of(records.front()->dso, file_name(info.dli_fname)));
    }
    if (library.records.empty()) {
      reject_library(path,
                     "its blocks were registered before, by the program "
                     "itself; link it or load it, not both");
    }
    opened().push_back(std::move(library));
    return opened().back();
  }

  void commit(Opened& library, const std::string& path) {
    library.token =
        registry_.token_of(library.records.front()->dso, file_name(path));
    try {
      registry_.commit_records(library.records, library.token);
    } catch (RegistrationError& e) {
      e.add_context(str("cannot load library ", path, ":"));
      throw;
    }
  }

  Registry& registry_;
  std::lock_guard<std::recursive_mutex> lock_;
};

LibraryHandle load_library(const std::string& path) {
  init();
  const std::string resolved = find_library(path);
  check_notes(resolved);
  LibraryHandle handle;
  handle.token_ = Loader(Registry::singleton()).load(resolved);
  handle.path_ = resolved;
  return handle;
}

LibraryHandle::LibraryHandle(LibraryHandle&& o) noexcept
    : path_(std::move(o.path_)), token_(std::exchange(o.token_, nullptr)) {}

LibraryHandle& LibraryHandle::operator=(LibraryHandle&& o) noexcept {
  std::swap(path_, o.path_);
  std::swap(token_, o.token_);
  return *this;
}

LibraryHandle::~LibraryHandle() {
  try {
    if (token_ != nullptr) unload();
  } catch (const Error&) {
    // Still held: it stays loaded, as its holders need it.
  }
}

void LibraryHandle::unload(std::chrono::milliseconds timeout) {
  SY_CHECK(token_ != nullptr, Error, "unload: the handle is empty");
  Registry& registry = Registry::singleton();
  const std::lock_guard lock(registry.load_mutex());
  const auto it =
      std::find_if(opened().begin(), opened().end(),
                   [&](const Opened& o) { return o.token == token_; });
  if (it->uses == 1) registry.withdraw(token_, timeout);
  --it->uses;
  token_ = nullptr;
}

}  // namespace sy
