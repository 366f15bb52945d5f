#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/compile/image.h"
#include "backends/cuda/compile/unit.h"
#include "backends/cuda/driver/api.h"

// The sources of images: packs, the library itself, the folder on disk, NVRTC;
// and the modules as which they are loaded. All functions are thread-safe.

namespace sy::cuda {

// 90 for a device of compute capability 9.0.
int architecture_of(int device);

// Loads the image that packs and the library, or the disk, have for the key. A
// stored image that the driver refuses is passed over. Throws what the driver
// says of all else (no memory, a device that has failed).
bool load_baked(int device, const Hash& key, driver::Module* module);
bool load_kept(int device, const Hash& key, driver::Module* module);
// Compiles the unit, loads it, and keeps it on disk for all the keys. False,
// and why, if there is no compiler, or the compiler or the driver refuses it.
bool compile_and_load(int device, const Unit& unit,
                      const std::vector<Hash>& keys, driver::Module* module,
                      std::string* why);

// Why nothing can be compiled for the device; "" if it can.
std::string why_not_compiled(int device);
// Why load_baked() finds nothing in the library itself.
std::string why_not_baked(int device);

// Counts since the process began.
struct CompileCounters {
  // Images that packs and the library, or the disk, had.
  int64_t baked = 0, kept = 0;
  int64_t units = 0;   // compilations, with those that failed
  int64_t failed = 0;  // units that did not compile
  int64_t compile_ns = 0;
};
CompileCounters compile_counters() noexcept;

}  // namespace sy::cuda
