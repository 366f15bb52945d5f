#pragma once

#include <iosfwd>
#include <span>

#include "codegen/torch/files.h"

// print and check for the files that are PyTorch's; the others are passed over.

namespace sy::codegen::torch {

struct PrintOptions {
  bool autogen = false;  // with the functions that PyTorch adds
  bool uses = false;     // the values that each formula keeps and reads
};
void print(std::span<const SourceFile> files, const PrintOptions& options,
           std::ostream& out, lang::Diagnostics& diagnostics);

void check(std::span<const SourceFile> files, lang::Diagnostics& diagnostics);

}  // namespace sy::codegen::torch
