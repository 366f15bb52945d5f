#include "backends/cpu/jit/store.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/cpu/jit/folder.h"
#include "c10/process/fork.h"

namespace sy::cpu::jit {

namespace {

constexpr uint64_t kMostOnDisk = uint64_t{64} << 20;

// Leaked: threads may outlive everything.
struct Store {
  ForkMutex mutex;
  std::unique_ptr<Folder> folder;
  std::string path = Folder::default_path();
  bool opened = false;
  int written = 0;
};
Store& store() {
  static auto* const s = new Store;
  return *s;
}

// nullptr: there is none to use.
Folder* folder(Store& s, uint64_t fingerprint) {
  if (!std::exchange(s.opened, true) && !s.path.empty()) {
    auto fresh = std::make_unique<Folder>(s.path, fingerprint);
    if (fresh->why_off().empty()) {
      s.folder = std::move(fresh);
    } else {
      std::fprintf(stderr, "switchyard: jit: compiled code is not kept: %s\n",
                   fresh->why_off().c_str());
    }
  }
  return s.folder.get();
}

}  // namespace

bool read_image(uint64_t fingerprint, const std::string& request,
                std::string* image) {
  Store& s = store();
  const std::lock_guard lock(s.mutex);
  Folder* const f = folder(s, fingerprint);
  return f != nullptr && f->read(request, image);
}

void keep_image(uint64_t fingerprint, const std::string& request,
                const std::string& image) {
  Store& s = store();
  const std::lock_guard lock(s.mutex);
  Folder* const f = folder(s, fingerprint);
  if (f == nullptr) return;
  if (s.written++ % 64 == 0) f->trim(kMostOnDisk);
  f->write(request, image);
}

void set_store(std::string path) {
  Store& s = store();
  const std::lock_guard lock(s.mutex);
  s.path = std::move(path);
  s.folder.reset();
  s.opened = false;
}

}  // namespace sy::cpu::jit
