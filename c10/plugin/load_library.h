#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "c10/macros.h"
#include "c10/plugin/library_note.h"

// Loads libraries while a program runs.

namespace sy {

class LibraryToken;

// One loaded library. The handle unloads it when it is destroyed; a library
// that is still held then stays loaded. Movable. For one thread at a time.
class SY_API LibraryHandle {
 public:
  LibraryHandle() = default;
  LibraryHandle(LibraryHandle&& o) noexcept;
  LibraryHandle& operator=(LibraryHandle&& o) noexcept;
  ~LibraryHandle();

  explicit operator bool() const { return token_ != nullptr; }
  const std::string& path() const { return path_; }
  // Removes the library's operators, kernels and backends, after the calls in
  // flight have returned. Throws Error and changes nothing if calls do not
  // return in time or if the library is held: by tensors in its memory, graph
  // nodes with its code, or libraries with kernels for its operators. The code
  // stays mapped; loading the library again registers the same.
  void unload(std::chrono::milliseconds timeout = std::chrono::seconds(10));
  // Leaves the library loaded for the life of the process.
  void keep() { token_ = nullptr; }

 private:
  friend SY_API LibraryHandle load_library(const std::string& path);
  std::string path_;
  LibraryToken* token_ = nullptr;
};

// Checks the file, loads it and commits all that it registers, or nothing.
// Throws RegistrationError, which says what is wrong and what to do: no such
// file, no ELF shared object, truncated, another SDK layout or C++ ABI, a
// missing dependency, a file that every user may write, or every problem of its
// registrations. If a static initialiser throws, the process ends. A library
// may be loaded several times; the last handle unloads it. A name without a
// folder is also searched in the folders of SWITCHYARD_PLUGINS. "lazy" stands
// for libswitchyard_lazy.so there or beside libswitchyard.so. Libraries that
// it links to are loaded before it and stay at least as long.
SY_API LibraryHandle load_library(const std::string& path);

// The file that load_library(path) would load, with links resolved. Throws
// RegistrationError if there is none, or if every user may write it.
SY_API std::string find_library(const std::string& path);

// The notes in a shared object, read without loading it. Throws
// RegistrationError, as load_library does, if the file is no such library.
SY_API std::vector<LibraryNote> read_library_notes(const std::string& path);
// The same for the bytes of a file, which messages call `path`.
SY_API std::vector<LibraryNote> parse_library_notes(std::string_view bytes,
                                                    const std::string& path);

}  // namespace sy
