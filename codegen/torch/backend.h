#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/torch/model.h"

// The YAML of a backend outside the tree, as torch_xla and Lazy Tensor have it.

namespace sy::codegen::torch {

// A node of the backend's own, that is no operator.
struct NonNative {
  FunctionSchema schema;
  Text func;
  std::optional<Text> opkind;
  std::vector<Text> properties;
};

struct Backend {
  Text backend;
  Text cpp_namespace;
  std::optional<Text> class_name;
  std::optional<Text> extra_headers;
  bool use_out_as_primary = false;
  bool device_guard = false;
  // Names of operators, with their overloads.
  std::vector<Text> supported;
  std::vector<Text> autograd;
  std::vector<Text> full_codegen;
  std::vector<Text> ir_gen;
  std::vector<Text> symint;
  std::vector<NonNative> non_native;
  Location at;
};

std::optional<Backend> read_backend(const lang::YamlNode& root,
                                    Diagnostics& diagnostics);

}  // namespace sy::codegen::torch
