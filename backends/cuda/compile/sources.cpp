#include "backends/cuda/compile/sources.h"

#include <algorithm>

namespace sy::cuda {

const SourceFile* find_source(std::string_view name) noexcept {
  const ArrayRef<SourceFile> all = source_files();
  const auto* const at = std::lower_bound(
      all.begin(), all.end(), name,
      [](const SourceFile& f, std::string_view n) { return f.name < n; });
  return at != all.end() && at->name == name ? at : nullptr;
}

}  // namespace sy::cuda
