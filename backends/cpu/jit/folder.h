#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sy::cpu::jit {

// Images on disk, shared by processes. A file has the whole request and a
// checksum: one that is cut off, damaged or of another build is as good as
// none. Folders and files that others could write are not read. Nothing throws;
// what cannot be written is not kept.
class Folder {
 public:
  // `fingerprint`: of the compiler.
  Folder(std::string path, uint64_t fingerprint);
  // Whether it can be used; if not, `why` says the reason.
  bool usable(std::string* why) const;
  bool read(std::string_view request, std::string* image) const;
  void write(std::string_view request, std::string_view image) const;
  // Removes the oldest files beyond this many bytes.
  void trim(uint64_t bytes) const;

  static std::string default_path();

 private:
  std::string file_of(std::string_view request) const;
  std::string path_;
  uint64_t fingerprint_;
};

}  // namespace sy::cpu::jit
