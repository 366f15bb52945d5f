#pragma once

#include <string>

#include "aten/program/op_desc.h"

// Scans as kernels: a struct of their program for the shell in
// device/scan.cuh.

namespace sy::cuda::print {

enum class ScanShell : uint8_t { kRows, kShortRows, kColumns };

// The computation of a scan. Borrows the program.
struct ScanText {
  const program::Program* combine = nullptr;
  bool chooses = false;
  program::ComputeType type{};
  ScalarType self = ScalarType::Undefined;
  ScalarType stored = ScalarType::Undefined;

  // How many numbers the kernel takes.
  int numbers() const { return combine->n_uniforms; }
};

std::string print_scan(const std::string& name, const ScanText& s,
                       ScanShell shell);

}  // namespace sy::cuda::print
