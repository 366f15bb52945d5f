#pragma once

#include <initializer_list>
#include <string>
#include <vector>

// The places of NVIDIA's libraries. None is linked: each is opened when it is
// first needed, so the backend loads on any machine. They are looked for in
// this order:
//
//   $SWITCHYARD_CUDA_LIBS   folders or files, separated by ':'
//   the loader's path       and what the process has open already
//   the toolkit             $CUDA_HOME, $CUDA_PATH, /usr/local/cuda*, and what
//                           `./sy setup --cuda` has unpacked:
//                           ~/.cache/switchyard/cuda-*
//   a Python's packages     nvidia/*/lib (cu13/lib, cuda_nvrtc/lib, …) of
//                           $VIRTUAL_ENV, $CONDA_PREFIX, of each python3 on
//                           PATH, of the user and of the system

namespace sy::cuda::driver {

// An opened library. It is never closed.
struct Library {
  void* handle = nullptr;
  std::string path;     // of the file, links resolved
  std::string version;  // in the name of the file: "13.0.88", or "13"
  std::string place;    // "SWITCHYARD_CUDA_LIBS", "the loader's path", …

  explicit operator bool() const { return handle != nullptr; }
  // nullptr if it has none of that name.
  void* symbol(const char* name) const;
};

// Opens the first file that there is. `files` are names, the best first:
// {"libnvrtc.so.13", "libnvrtc.so.12"}; a place is searched for all of them
// before the next one. Without any, the result is empty and `why` (may be
// nullptr) says where it looked and what the loader said. The opened library is
// remembered for opened_libraries(). Thread-safe.
Library open_library(std::initializer_list<const char*> files,
                     std::string* why);
// The same for one file, or one name that the loader finds.
Library open_file(const std::string& path, const char* place, std::string* why);

// The folders that are searched, beside the loader's path, with the place that
// each belongs to. Folders that do not exist are left out.
struct Folder {
  std::string path;
  const char* place;
};
std::vector<Folder> library_folders();

// All that was opened so far.
std::vector<Library> opened_libraries();

}  // namespace sy::cuda::driver
