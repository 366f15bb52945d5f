#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/compile/hash.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/compile/sources.h"

// The texts that are compiled at once.

namespace sy::cuda {

struct Unit {
  std::string name;  // for messages
  std::string text;
  // The source_files() that the text includes, directly or not, by name.
  std::vector<const SourceFile*> headers;
};

// A source that the library carries, after its definitions. Throws Error if
// there is none of the name.
Unit carried_unit(std::string_view source, ArrayRef<Define> defines);
// Kernels that were printed, as ProgramSource::text() gives them.
Unit printed_unit(std::string name, std::string_view kernels);

// Equal for units whose kernels are: a hash of the texts, not of the name.
Hash key_of(const Unit& unit);

}  // namespace sy::cuda
