#pragma once

#include <string>
#include <utility>
#include <vector>

#include "test/backends/cuda/fake/nvrtc/options.h"

// Compiles a kernel's source with g++ into a shared object, or takes it from
// the folder of what was compiled before: $FAKE_CUDA_CACHE, or one in the
// folder for temporary files.

namespace fake_nvrtc {

struct Source {
  std::string name, text;
  std::vector<std::pair<std::string, std::string>> headers;  // name, text
};

struct Compiled {
  bool good = false;
  std::string log;
  std::string image;  // bytes of the shared object
};

Compiled compile(const Source& source, const Options& options);

}  // namespace fake_nvrtc
