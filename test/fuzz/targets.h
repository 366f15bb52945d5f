#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// The readers of files that others wrote. Each target takes any bytes; it
// aborts where a promise is broken, and else returns.

namespace sy::fuzz {

struct Target {
  std::string_view name;  // also of the folder of its corpus
  void (*run)(std::string_view text);
};
// The targets of the generator: yaml, schema, expression, words (examples),
// operators (our files), torch (PyTorch's); of tensors: safetensors,
// safetensors_index, npy, npz, pickle and torch_archive (PyTorch's),
// program_text and size_expression (of exported programs); of plugins:
// library.
std::span<const Target> targets();

}  // namespace sy::fuzz
