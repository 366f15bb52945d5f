#pragma once

#include <string>
#include <vector>

#include "backends/cuda/compile/nvrtc.h"

// Makes packs of the kernels that runs asked for (compile/record.h). Needs
// NVRTC, and no device.

namespace sy::cuda {

struct BakeOptions {
  std::string records;    // a folder; "" for none
  std::string instances;  // a file of sources with definitions; "" for none
  std::vector<std::string> sources;  // instances of these alone; none: of all
  std::string pack;                  // the file to write; "" to compile only
  // A folder where compiled images stay, if it can be used; "" for none.
  std::string kept;
  std::vector<Target> targets = {{80}, {90}, {90, true}};
  int processes = 1;
  // Takes every shards-th of the units, in their order, from `shard` on.
  int shard = 0, shards = 1;
};

// The numbers of units, programs and sources, and the errors of the compiler.
// bake() writes no pack if there is any error. It throws Error for what is
// wrong with the folders, and without NVRTC.
struct Baked {
  int units = 0, programs = 0, sources = 0;
  std::vector<std::string> errors;
};
Baked bake(const BakeOptions& options);

// ~/.cache/switchyard/cuda-bake, also where the environment says nothing, as in
// an action of Bazel's. "" if there is no home.
std::string default_kept();

}  // namespace sy::cuda
