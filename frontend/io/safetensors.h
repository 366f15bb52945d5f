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

// An open file of tensors. If the path ends in .json, it is the index of a
// sharded model (model.safetensors.index.json) with all its files open.
// Elements are read when they are used. Copies are the same open file.
// Thread-safe.
class SY_API SafetensorsFile {
 public:
  // Throws FileError unless all headers are valid.
  explicit SafetensorsFile(const std::string& path);

  // The names, in the order of the header or of the index.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;
  // These throw IndexError if there is no tensor of that name.
  IntArrayRef sizes(std::string_view name) const;
  // The dtype as the file names it: "F32", "BF16", "F8_E4M3".
  std::string dtype(std::string_view name) const;
  // A tensor over the mapped file. It keeps the file open. Writing to it
  // changes neither the file nor what others read from it, but tensors of one
  // name from one SafetensorsFile share their memory. The tensor is a copy if
  // the file did not align it. Throws FileError for a dtype that Switchyard
  // does not have, and for a bool other than 0 and 1.
  Tensor get(std::string_view name) const;
  NamedTensors get_all() const;
  // The metadata of the header, or of the index (numbers as text).
  const FileMetadata& metadata() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// All tensors of a file or an index, as SafetensorsFile::get returns them.
SY_API NamedTensors load_safetensors(const std::string& path);

// These write a file, or several files and an index at `index_path`. index_path
// must end in .safetensors.index.json; the files are named after it. Nobody
// sees a half-written file, and the index is written last. Tensors of other
// devices or layouts are copied one at a time. Only a tensor that is larger
// exceeds `max_shard_bytes`. Throws FileError; ValueError for names that are
// not UTF-8, and for tensors without elements to read.
SY_API void save_safetensors(const std::string& path,
                             const NamedTensors& tensors,
                             const FileMetadata& metadata = {});
SY_API void save_sharded_safetensors(const std::string& index_path,
                                     const NamedTensors& tensors,
                                     int64_t max_shard_bytes = 5'000'000'000,
                                     const FileMetadata& metadata = {});

}  // namespace sy
