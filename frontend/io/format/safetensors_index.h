#pragma once

#include "frontend/io/format/file_view.h"
#include "frontend/io/format/string_pairs.h"

// model.safetensors.index.json says which file of a sharded model has which
// tensor.

namespace sy::io {

struct SafetensorsIndex {
  StringPairs files;     // tensor -> file in the folder of the index
  StringPairs metadata;  // numbers as text
};

// Throws FileError, also for files that would lie outside the index's folder.
SafetensorsIndex parse_safetensors_index(const FileView& file);

// The text of an index. Throws ValueError as safetensors_header does.
std::string safetensors_index(std::string_view op,
                              const SafetensorsIndex& index,
                              uint64_t total_size);

}  // namespace sy::io
