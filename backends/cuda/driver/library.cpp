#include "backends/cuda/driver/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <mutex>
#include <string_view>

#include "c10/process/environment.h"

namespace sy::cuda::driver {
namespace {

constexpr const char* kVariable = "SWITCHYARD_CUDA_LIBS";
constexpr const char* kLoader = "the loader's path";
constexpr const char* kToolkit = "the toolkit";
constexpr const char* kPython = "a Python's packages";

// Never destroyed: threads may still open libraries while the process ends.
struct Opened {
  std::mutex mutex;
  std::vector<Library> libraries;
};
Opened& opened() {
  static auto* const o = new Opened;
  return *o;
}

std::string variable(const char* name) {
  const char* const value = environment(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end != 0) out.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

bool is_folder(const std::string& path) {
  struct stat s;
  return stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

std::string resolved(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) == nullptr ? path : buffer;
}

std::string parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

class Folders {
 public:
  // Adds the folders that exist and are new. Newer versions come first:
  // "cuda-13.0" before "cuda-12.4".
  void add(const std::string& pattern, const char* place) {
    glob_t found = {};
    if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
      std::vector<std::string> paths(found.gl_pathv,
                                     found.gl_pathv + found.gl_pathc);
      std::sort(paths.begin(), paths.end(),
                [](const std::string& a, const std::string& b) {
                  return strverscmp(a.c_str(), b.c_str()) > 0;
                });
      for (const std::string& p : paths) add_one(p, place);
    }
    globfree(&found);
  }
  // Adds the folders of wheels of NVIDIA's libraries in a folder of Python's.
  void add_python(const std::string& prefix) {
    for (const char* const packages :
         {"/lib/python3*/site-packages", "/lib/python3*/dist-packages",
          "/lib/python3/dist-packages", "/lib64/python3*/site-packages"}) {
      add(prefix + packages + "/nvidia/*/lib", kPython);
    }
  }
  void add_toolkit(const std::string& root) {
    for (const char* const lib : {"/lib64", "/targets/x86_64-linux/lib",
                                  "/targets/sbsa-linux/lib", "/lib"}) {
      add(root + lib, kToolkit);
    }
  }
  std::vector<Folder> take() { return std::move(list_); }

 private:
  void add_one(const std::string& path, const char* place) {
    const std::string real = resolved(path);
    if (!is_folder(real)) return;
    for (const Folder& f : list_) {
      if (f.path == real) return;
    }
    list_.push_back({real, place});
  }
  std::vector<Folder> list_;
};

// A virtual environment's python3 is a link to another's: both have packages.
// pyenv's is a script beside the versions.
void add_pythons_on_path(Folders* folders) {
  for (const std::string& bin : split(variable("PATH"))) {
    const std::string python = bin + "/python3";
    if (access(python.c_str(), X_OK) != 0) continue;
    folders->add_python(parent(bin));
    folders->add_python(parent(parent(resolved(python))));
    folders->add_python(parent(bin) + "/versions/*");
  }
}

// "13.0.88" of libnvrtc.so.13.0.88.
std::string version_in(const std::string& path) {
  const size_t at = path.rfind(".so.");
  return at == std::string::npos ? "" : path.substr(at + 4);
}

std::string file_of(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map->l_name[0] == '\0') {
    return asked;
  }
  return resolved(map->l_name);
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

void* Library::symbol(const char* name) const { return dlsym(handle, name); }

std::vector<Folder> library_folders() {
  Folders out;
  const std::string home = variable("HOME");
  for (const std::string& p : split(variable(kVariable))) {
    if (is_folder(p)) out.add(p, kVariable);
  }
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string root = variable(name);
    if (!root.empty()) out.add_toolkit(root);
  }
  out.add_toolkit("/usr/local/cuda");
  out.add_toolkit("/usr/local/cuda-*");
  std::string cache = variable("XDG_CACHE_HOME");
  if (cache.empty() && !home.empty()) cache = home + "/.cache";
  if (!cache.empty()) out.add_toolkit(cache + "/switchyard/cuda-*");
  for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = variable(name);
    if (!prefix.empty()) out.add_python(prefix);
  }
  add_pythons_on_path(&out);
  if (!home.empty()) out.add_python(home + "/.local");
  out.add_python("/usr/local");
  out.add_python("/usr");
  return out.take();
}

Library open_file(const std::string& path, const char* place,
                  std::string* why) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const said = dlerror();
    if (why != nullptr) *why = said == nullptr ? path : said;
    return {};
  }
  Library out{handle, file_of(handle, path), "", place};
  out.version = version_in(out.path);
  if (out.version.empty()) out.version = version_in(path);
  Opened& all = opened();
  const std::lock_guard lock(all.mutex);
  const auto known =
      std::any_of(all.libraries.begin(), all.libraries.end(),
                  [&](const Library& l) { return l.handle == handle; });
  if (!known) all.libraries.push_back(out);
  return out;
}

Library open_library(std::initializer_list<const char*> files,
                     std::string* why) {
  // Files that are there and do not load say more than the loader's "no such
  // file".
  std::string broken, missing, looked;
  const auto attempt = [&](const std::string& path, const char* place) {
    std::string said;
    Library out = open_file(path, place, &said);
    if (!out) {
      std::string& list =
          path.find('/') == std::string::npos ? missing : broken;
      if (list.empty()) list = said;
    }
    return out;
  };
  const auto in_folders = [&](bool of_variable) -> Library {
    for (const Folder& f : library_folders()) {
      if ((f.place == kVariable) != of_variable) continue;
      looked += (looked.empty() ? "" : ", ") + f.path;
      for (const char* const file : files) {
        const std::string path = f.path + "/" + file;
        if (!exists(path)) continue;
        if (Library out = attempt(path, f.place)) return out;
      }
    }
    return {};
  };

  for (const std::string& p : split(variable(kVariable))) {
    if (is_folder(p) || !exists(p)) continue;
    const std::string name = p.substr(p.rfind('/') + 1);
    for (const char* const file : files) {
      if (!name.starts_with(file)) continue;
      if (Library out = attempt(p, kVariable)) return out;
    }
  }
  if (Library out = in_folders(true)) return out;
  for (const char* const file : files) {
    if (Library out = attempt(file, kLoader)) return out;
  }
  if (Library out = in_folders(false)) return out;
  if (why != nullptr) {
    *why = broken.empty() ? missing : broken;
    *why += "; looked in " + std::string(kLoader) +
            (looked.empty() ? "" : ", " + looked);
    if (variable(kVariable).empty()) {
      *why += "; " + std::string(kVariable) + " may name a folder";
    }
  }
  return {};
}

std::vector<Library> opened_libraries() {
  Opened& all = opened();
  const std::lock_guard lock(all.mutex);
  return all.libraries;
}

}  // namespace sy::cuda::driver
