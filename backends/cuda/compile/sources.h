#pragma once

#include <string_view>

#include "c10/tensor/array_ref.h"

// The texts of the device code, as they were when the library was built: *.cu
// by their path in backends/cuda ("indexing.cu", "engine/interpret.cu"),
// device/** by their path in that folder ("functors/math.cuh"), and files of
// other folders by their path in the repository. embed.py writes the table. An
// #include of device code says one of these names.

namespace sy::cuda {

struct SourceFile {
  std::string_view name, text;
};

// Sorted by name.
ArrayRef<SourceFile> source_files() noexcept;
// nullptr if there is none of the name.
const SourceFile* find_source(std::string_view name) noexcept;

}  // namespace sy::cuda
