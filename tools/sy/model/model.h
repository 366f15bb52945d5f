#pragma once

#include <string>
#include <vector>

// `sy model`: exported programs, looked at and run without writing C++.

namespace sy::tools {

struct ModelOptions {
  std::string file;
  std::string model = "model";  // which of the file's
  bool json = false;
  std::string picture;  // an SVG or DOT file to write
};

// Prints what the program takes, has and computes. Returns 1 if there are
// operators that it needs and nobody has registered.
int describe_model(const ModelOptions& options);

struct ModelRunOptions {
  std::string inputs;   // "input.0", "input.1", ... in the order of the inputs
  std::string outputs;  // written: "output.0", ...
  std::string gradients;  // written: of the sum of all floating outputs
  std::string device = "cpu";
  bool compiled = false;
};

// Runs the program once. Random numbers are those of seed 0.
int run_model(const ModelOptions& options, const ModelRunOptions& run);

}  // namespace sy::tools
