#pragma once

#include <string>

#include "frontend/io/format/file_view.h"

namespace sy::io {

// Writes a file that appears, or replaces an older one, whole or not at all. It
// is written under another name in the same folder, and commit() renames it.
// For one thread.
class OutputFile {
 public:
  // Throws FileError, like all functions here. Follows a symbolic link to a
  // file. A file that replaces another one has its owner and rights.
  OutputFile(std::string_view op, const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  // Without commit(), no file is left behind.
  ~OutputFile();

  void write(const void* data, uint64_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  uint64_t size() const { return size_; }
  // Returns once the file is on the disk under its name.
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string op_;
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace sy::io
