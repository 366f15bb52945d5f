#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostics.h"

// The kinds of the files of a run, told by their text: PyTorch's or ours.

namespace sy::codegen::torch {

enum class FileKind : std::uint8_t {
  kOwn,
  kNative,       // native_functions.yaml
  kTags,         // tags.yaml
  kDerivatives,  // derivatives.yaml
  kBackend,      // a backend's list of operators
};

struct SourceFile {
  std::string path;
  std::string text;
  FileKind kind = FileKind::kOwn;

  bool is_torch() const { return kind != FileKind::kOwn; }
};

// Reads the files. A file of operators that could be of either kind is
// PyTorch's if another file of the run is, or by the name
// native_functions.yaml.
std::vector<SourceFile> read_sources(std::span<const std::string> paths,
                                     lang::Diagnostics& diagnostics);

// The errors, each with its line and a caret below its place.
std::string report(const lang::Diagnostics& diagnostics,
                   std::span<const SourceFile> files);

}  // namespace sy::codegen::torch
