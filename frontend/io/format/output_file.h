#pragma once

#include <string>

#include "frontend/io/format/file_view.h"

namespace sy::io {

// A file that appears, or replaces an older one, whole or not at all: it is
// written under another name in the same folder, and renamed by commit(). For
// one thread.
class OutputFile {
 public:
  // Throws FileError, as all functions here. A symbolic link to
  // a file is followed.
  OutputFile(std::string_view op, const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  // Without commit(), nothing is left behind.
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
