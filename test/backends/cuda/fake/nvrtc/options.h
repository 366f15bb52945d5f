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

// Options that NVRTC does not know are refused, and those that ask for
// approximations of floats: `error` says so.
bool parse_options(const std::vector<std::string>& given, Options* options,
                   std::string* error);

}  // namespace fake_nvrtc
