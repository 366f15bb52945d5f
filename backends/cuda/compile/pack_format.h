#pragma once

#include <cstdint>
#include <string_view>

#include "backends/cuda/compile/hash.h"

namespace sy::cuda {

struct PackHead {
  static constexpr uint64_t kMagic = 0x4B43415041445543;  // CUDAPACK
  static constexpr uint32_t kVersion = 1;
  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t entries = 0;
  uint64_t bytes = 0;  // of the file
  Hash index;          // of the entries
  Hash head;           // of the members above
  uint64_t zero = 0;

  Hash sum() const {
    return Hasher()
        .add(magic)
        .add(uint64_t{version})
        .add(uint64_t{entries})
        .add(bytes)
        .add(index.a)
        .add(index.b)
        .end();
  }
};

struct PackEntry {
  Hash key;
  uint32_t architecture = 0;
  uint32_t is_ptx = 0;
  uint64_t offset = 0, bytes = 0;  // of the deflated image
  uint64_t inflated = 0;           // its bytes
  Hash image;                      // of those
};
static_assert(sizeof(PackHead) == 64 && sizeof(PackEntry) == 64);

}  // namespace sy::cuda
