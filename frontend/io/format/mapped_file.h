#pragma once

#include <memory>
#include <string>

#include "frontend/io/format/file_view.h"

namespace sy::io {

// A regular file in memory, page by page as it is read. Writing to the memory
// changes copies of its pages, never the file. Safe from several threads as
// any memory is. A file that another program shortens meanwhile ends this one
// (SIGBUS); replacing it by a new one, as OutputFile does, is harmless.
class MappedFile {
 public:
  // Throws FileError: no such file, not a regular one, no memory to map it.
  static std::shared_ptr<MappedFile> open(std::string_view op,
                                          const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  FileView view(std::string_view op) const { return {op, path_, data_, size_}; }

 private:
  MappedFile(std::string path, uint8_t* data, uint64_t size)
      : path_(std::move(path)), data_(data), size_(size) {}

  std::string path_;
  uint8_t* data_;
  uint64_t size_;
};

}  // namespace sy::io
