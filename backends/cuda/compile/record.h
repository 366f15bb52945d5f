#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/compile/unit.h"

// The kernels that a run asked for: with $SWITCHYARD_CUDA_RECORD, a folder,
// each unit is written there once, as a file named by its key. Packs are made
// of such folders (backends/cuda/bake).

namespace sy::cuda {

// Record a carried_unit(), or a printed_unit() of one kernel. Nothing throws.
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
// The units of a file of such lines, with # before comments. Throws Error for a
// source that the library does not carry.
std::vector<RecordedUnit> read_instances(const std::string& file);

}  // namespace sy::cuda
