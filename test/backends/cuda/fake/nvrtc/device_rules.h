#pragma once

#include <string>
#include <vector>

#include "test/backends/cuda/fake/nvrtc/object.h"

// Code that g++ takes and a compiler of kernels does not.

namespace fake_nvrtc {

// Splits what g++ -H wrote: its tree of headers, and the rest.
struct HeaderTree {
  struct Line {
    size_t depth;  // from 1
    std::string path;
  };
  std::vector<Line> lines;
  std::string rest;
};
HeaderTree split_headers(const std::string& log);

// "" or errors: headers of the host that files in `folders` include.
std::string check_headers(const HeaderTree& tree,
                          const std::vector<std::string>& folders);

// "" or errors, as NVRTC words them.
std::string check_object(const ObjectFacts& facts);

}  // namespace fake_nvrtc
