#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "c10/process/cache_folder.h"

namespace sy::cpu::jit {

// Images on disk, shared by processes. A file has the whole request and a
// checksum: one that is cut off, damaged or of another build is as good as
// none. Nothing throws; an image that cannot be written is not kept.
class Folder {
 public:
  // `fingerprint`: of the compiler.
  Folder(std::string path, uint64_t fingerprint);
  // Why it cannot be used; "" if it can.
  const std::string& why_off() const { return folder_.why_off(); }
  bool read(std::string_view request, std::string* image) const;
  void write(std::string_view request, std::string_view image) const;
  // Removes what was not used for the longest time, beyond this many bytes.
  void trim(uint64_t bytes) const;

  static std::string default_path();

 private:
  std::string file_of(std::string_view request) const;
  CacheFolder folder_;
  uint64_t fingerprint_;
};

}  // namespace sy::cpu::jit
