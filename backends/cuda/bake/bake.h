#pragma once

#include <string>
#include <vector>

#include "backends/cuda/compile/nvrtc.h"

// Packs made of what runs asked for (compile/record.h). Needs NVRTC, and no
// device.

namespace sy::cuda {

struct BakeOptions {
  std::string records;    // a folder; "" for none
  std::string instances;  // a file of sources with definitions; "" for none
  std::vector<std::string> sources;  // of those alone; none: of all
  std::string pack;                  // the file to write; "" to compile only
  // A folder where compiled images stay, if it can be used; "" for none.
  std::string kept;
  std::vector<Target> targets = {{80}, {90}, {90, true}};
  int processes = 1;
  // Of the units, in their order, every shards-th from `shard` on.
  int shard = 0, shards = 1;
};

// How many there were, and what did not compile: texts of the
// compiler. If there is any, no pack is written. Throws Error for what is wrong
// with the folders, and without NVRTC.
struct Baked {
  int units = 0, programs = 0, sources = 0;
  std::vector<std::string> errors;
};
Baked bake(const BakeOptions& options);

// ~/.cache/switchyard/cuda-bake, also where the environment says nothing, as in
// an action of Bazel's. "" if there is no home.
std::string default_kept();

}  // namespace sy::cuda
