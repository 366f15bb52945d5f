#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/io/file_error.h"
#include "frontend/io/named_tensors.h"

// The safetensors format: named tensors and a few strings, memory-mapped.

namespace sy {

// Keys and values, in a file's order.
using FileMetadata = std::vector<std::pair<std::string, std::string>>;

// An open file of tensors, or with a path that ends in .json the index of a
// sharded model (model.safetensors.index.json), whose files are opened with
// it. Elements are read when they are used. Copies are the same open file;
// safe from several threads.
class SY_API SafetensorsFile {
 public:
  // Throws FileError unless all headers are valid throughout.
  explicit SafetensorsFile(const std::string& path);

  // In the order of the header, or of the index.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;
  // Throw IndexError if there is no tensor of that name.
  IntArrayRef sizes(std::string_view name) const;
  // As the file names it: "F32", "BF16", "F8_E4M3".
  std::string dtype(std::string_view name) const;
  // A tensor over the mapped file, which it keeps open. Writing to it changes
  // neither the file nor what others read from it, but tensors of one name
  // from one SafetensorsFile share their memory. A copy if the file did not
  // align it. Throws FileError for a dtype that Switchyard does not have, and
  // for a bool other than 0 and 1.
  Tensor get(std::string_view name) const;
  NamedTensors get_all() const;
  // Of the header, or of the index (numbers as text).
  const FileMetadata& metadata() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// All tensors of a file or an index, as SafetensorsFile::get gives them.
SY_API NamedTensors load_safetensors(const std::string& path);

// Write a file, or several and an index at `index_path`, which must end in
// .safetensors.index.json and gives the others their names. No file is seen
// half written; the index comes last. Tensors of other devices or layouts are
// copied one at a time. `max_shard_bytes` is exceeded only by a tensor that is
// larger. Throw FileError; ValueError for names that are not UTF-8, and for
// tensors without elements to read.
SY_API void save_safetensors(const std::string& path,
                             const NamedTensors& tensors,
                             const FileMetadata& metadata = {});
SY_API void save_sharded_safetensors(const std::string& index_path,
                                     const NamedTensors& tensors,
                                     int64_t max_shard_bytes = 5'000'000'000,
                                     const FileMetadata& metadata = {});

}  // namespace sy
