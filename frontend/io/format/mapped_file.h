#pragma once

#include <memory>
#include <string>

#include "frontend/io/format/file_view.h"

namespace sy::io {

// A regular file in memory. Pages are read when they are used. Writing to the
// memory changes copies of its pages, never the file. It is as thread-safe as
// any memory. If another program shortens the file meanwhile, this process ends
// (SIGBUS). Replacing the file by a new one, as OutputFile does, is harmless.
class MappedFile {
 public:
  // Throws FileError if there is no such file, if it is not a regular one, or
  // if there is no memory to map it.
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
