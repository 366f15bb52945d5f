#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "c10/macros.h"

namespace sy {

// A folder of files that processes share, such as compiled code. Files appear
// whole, by renaming. Folders and files that others could write are not read.
// Nothing throws. Immutable: any thread may use it.
class SY_API CacheFolder {
 public:
  // Makes the folder, and those above. "" for none.
  explicit CacheFolder(std::string path);

  // Why nothing is read or written; "" if something is.
  const std::string& why_off() const { return why_off_; }
  const std::string& path() const { return path_; }

  // kNone: there is no such file, or the folder is off. kDamaged: it is no
  // file, others could write it, or it has more bytes than `most`.
  enum class Found : uint8_t { kNone, kDamaged, kRead };
  Found read(const std::string& name, size_t most, std::string* text) const;
  // Writes `head` and `bytes` as one file. False, with errno, if it cannot.
  bool write(const std::string& name, std::string_view head,
             std::string_view bytes) const;
  void remove(const std::string& name) const;

  // If the files have more bytes than `most`, removes those that were not used
  // for the longest time, and a quarter more, so that it is seldom done. Looks
  // only at files whose names are this folder's.
  void trim(uint64_t most, bool (*is_own)(std::string_view name)) const;

  // The path that the variable says, or else $XDG_CACHE_HOME/switchyard/NAME,
  // or that of ~/.cache. "" for none: the variable is empty, or there is no
  // home.
  static std::string default_path(const char* variable,
                                  const std::string& name);

 private:
  std::string file_of(std::string_view name) const;
  std::string path_, why_off_;
};

}  // namespace sy
