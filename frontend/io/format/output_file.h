#pragma once

#include <string>

#include "frontend/io/format/file_view.h"
#include "frontend/io/format/output.h"

namespace sy::io {

// Writes a file that appears, or replaces an older one, whole or not at all. It
// is written under another name in the same folder, and commit() renames it.
// For one thread.
class OutputFile final : public Output {
 public:
  // Throws FileError, like all functions here. Follows a symbolic link to a
  // file. A file that replaces another one has its owner and rights.
  OutputFile(std::string_view op, const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  // Without commit(), no file is left behind.
  ~OutputFile() override;

  using Output::write;
  void write(const void* data, uint64_t size) override;
  uint64_t size() const override { return size_; }
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
