#pragma once

#include <string>
#include <vector>

// NVRTC's options as g++ takes them.

namespace fake_nvrtc {

struct Options {
  std::vector<std::string> arguments;      // for g++
  std::vector<std::string> include_paths;  // also in `arguments`
  int target = 75;                         // of --gpu-architecture
  bool virtual_target = true;              // compute_…: no cubin
};

// Options that NVRTC does not know are refused: `wrong` is the first.
bool parse_options(const std::vector<std::string>& given, Options* options,
                   std::string* wrong);

}  // namespace fake_nvrtc
