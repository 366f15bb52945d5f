#pragma once

#include <string>
#include <vector>

#include "frontend/io/format/file_view.h"
#include "frontend/io/format/safetensors_dtype.h"
#include "frontend/io/format/string_pairs.h"

// The header of a safetensors file. Turns bytes into a checked list, and makes
// no tensor.

namespace sy::io {

struct SafetensorsEntry {
  std::string name;
  const SafetensorsDtype* dtype = nullptr;
  std::vector<int64_t> sizes;
  uint64_t begin = 0;  // places in the file, in bytes
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of the text
  StringPairs metadata;
};

// Throws FileError unless the whole file is valid: every byte behind the header
// belongs to exactly one tensor, and sizes, dtypes and bytes agree.
SafetensorsHeader parse_safetensors(const FileView& file);

// The first bytes of a file; their number is a multiple of 64. The places of
// the tensors are counted from the end of these bytes. Entries need name,
// dtype, sizes, begin and end; their names differ. Throws ValueError for names
// that are not UTF-8, for metadata keys that stand twice, and for too many of
// either.
std::string safetensors_header(std::string_view op,
                               const std::vector<SafetensorsEntry>& entries,
                               const StringPairs& metadata);

}  // namespace sy::io
