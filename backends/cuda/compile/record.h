#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/compile/unit.h"

// What kernels a run asked for: with $SWITCHYARD_CUDA_RECORD, a folder, each
// unit is written there once, as a file named by its key. Packs are made of
// such folders (backends/cuda/bake).

namespace sy::cuda {

// Of carried_unit(), and of printed_unit() with one kernel. Nothing throws.
void record_carried(const Hash& key, std::string_view source,
                    ArrayRef<Define> defines) noexcept;
void record_printed(const Hash& key, std::string_view label,
                    std::string_view kernel) noexcept;

struct RecordedUnit {
  Hash key;  // as it is now, which may differ from that of the record
  Unit unit;
  std::string kernel;    // of printed ones: the text of the kernel
  std::string instance;  // of carried ones: "indexing.cu SY_ITEM=4 SY_N=1"
};
// All units of a folder, by key. Throws Error for what is no record; sources
// that the library no longer carries are left out.
std::vector<RecordedUnit> read_records(const std::string& folder);
// Of a file of such lines, with # before comments. Throws Error for a source
// that the library does not carry.
std::vector<RecordedUnit> read_instances(const std::string& file);

}  // namespace sy::cuda
