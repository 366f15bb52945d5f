#include "c10/plugin/load_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <optional>

#include "c10/dispatch/registry.h"
#include "c10/plugin/library_file.h"

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
    // The flag comes first: it changes the layout too, and is what one can set.
    if (n.cxx11_abi != ours.cxx11_abi) {
      reject_library(path, str("it was built with _GLIBCXX_USE_CXX11_ABI={}, "
                               "this library with {}; rebuild it with the same",
                               n.cxx11_abi, ours.cxx11_abi));
    }
    if (n.layout != ours.layout) {
      reject_library(
          path, str("it was built against SDK {}.{}.{} with layout {}, this "
                    "library is {} with layout {}; rebuild it against this SDK",
                    n.sdk_version / 10000, n.sdk_version / 100 % 100,
                    n.sdk_version % 100, hex(n.layout), SY_VERSION_STRING,
                    hex(ours.layout)));
    }
  }
}

// A library that was opened once: its blocks' records, for loading it again.
struct Opened {
  void* handle;
  std::string path;
  std::vector<LibraryRecord*> records;
  LibraryToken* token = nullptr;
  int uses = 0;  // by handles, and by libraries that link to it
  std::vector<size_t> needs;
};

std::vector<Opened>& opened() {
  static auto* list = new std::vector<Opened>;  // leaked: handles may outlive
  return *list;
}

std::optional<size_t> find_opened(const void* handle) {
  for (size_t i = 0; i < opened().size(); ++i) {
    if (opened()[i].handle == handle) return i;
  }
  return std::nullopt;
}

Dl_info info_of(const void* address) {
  Dl_info info{};
  dladdr(address, &info);
  return info;
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Adds the opened libraries that `handle` links to, by way of others too.
void add_needs(void* handle, std::vector<void*>& seen,
               std::vector<size_t>& needs) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return;
  const char* names = nullptr;
  for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_STRTAB) {
      names = reinterpret_cast<const char*>(d->d_un.d_ptr);
    }
  }
  for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag != DT_NEEDED || names == nullptr) continue;
    void* const needed = dlopen(names + d->d_un.d_val, RTLD_NOW | RTLD_NOLOAD);
    if (needed == nullptr) continue;
    dlclose(needed);  // only the count: it is loaded
    if (std::find(seen.begin(), seen.end(), needed) != seen.end()) continue;
    seen.push_back(needed);
    if (const auto known = find_opened(needed)) {
      needs.push_back(*known);
    } else {
      add_needs(needed, seen, needs);
    }
  }
}

// Takes a use back, and withdraws a library that nobody uses any more. Throws
// Error if it is held. The libraries that it links to stay while they are held.
void release(size_t i, std::chrono::milliseconds timeout) {
  if (opened()[i].uses == 1) {
    Registry::singleton().withdraw(opened()[i].token, timeout);
  }
  if (--opened()[i].uses > 0) return;
  const std::vector<size_t>& needs = opened()[i].needs;
  for (auto n = needs.rbegin(); n != needs.rend(); ++n) {
    try {
      release(*n, timeout);
    } catch (const Error&) {
    }
  }
}

}  // namespace

// The work of a load under Registry's load mutex.
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
    take_fresh(handle, path);
    const auto mine = find_opened(handle);
    if (!mine) {
      reject_library(path,
                     "its blocks were registered before, by the program "
                     "itself; link it or load it, not both");
    }
    acquire(*mine);
    return opened()[*mine].token;
  }

 private:
  // Sorts fresh records to the shared objects they lie in: the library, and
  // before it those that it links to.
  void take_fresh(void* handle, const std::string& path) {
    const std::vector<LibraryRecord*> fresh = registry_.take_pending();
    if (find_opened(handle)) {
      dlclose(handle);  // only the count of dlopen
      return;
    }
    const size_t first = opened().size();
    const void* base = nullptr;
    for (LibraryRecord* r : fresh) {
      const Dl_info info = info_of(r->dso);
      if (opened().size() == first || info.dli_fbase != base) {
        base = info.dli_fbase;
        opened().push_back({nullptr, info.dli_fname, {}, nullptr, 0, {}});
      }
      opened().back().records.push_back(r);
    }
    for (size_t i = first; i < opened().size(); ++i) {
      Opened& o = opened()[i];
      const bool last = i + 1 == opened().size();
      o.handle = last ? handle : dlopen(o.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
      if (last) o.path = path;
      std::vector<void*> seen;
      add_needs(o.handle, seen, o.needs);
    }
  }

  void acquire(size_t i) {
    if (opened()[i].uses > 0) {
      ++opened()[i].uses;
      return;
    }
    const std::vector<size_t>& needs = opened()[i].needs;
    size_t done = 0;
    try {
      for (; done < needs.size(); ++done) acquire(needs[done]);
      commit(opened()[i]);
    } catch (...) {
      while (done > 0) release(needs[--done], std::chrono::seconds(1));
      throw;
    }
    opened()[i].uses = 1;
  }

  void commit(Opened& library) {
    library.token = registry_.token_of(library.records.front()->dso,
                                       file_name(library.path));
    try {
      registry_.commit_records(library.records, library.token);
    } catch (RegistrationError& e) {
      e.add_context(str("cannot load library {}:", library.path));
      throw;
    }
  }

  Registry& registry_;
  std::lock_guard<RecursiveForkMutex> lock_;
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
  const std::lock_guard lock(Registry::singleton().load_mutex());
  const auto mine =
      std::find_if(opened().begin(), opened().end(),
                   [&](const Opened& o) { return o.token == token_; });
  release(static_cast<size_t>(mine - opened().begin()), timeout);
  token_ = nullptr;
}

}  // namespace sy
