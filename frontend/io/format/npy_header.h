#pragma once

#include <string>
#include <vector>

#include "c10/tensor/array_ref.h"
#include "c10/tensor/scalar_type.h"
#include "frontend/io/format/file_view.h"

// The header of .npy files, versions 1 to 3. Turns bytes into a checked
// description, and makes no tensor.

namespace sy::io {

struct NpyHeader {
  ScalarType dtype = ScalarType::Undefined;
  bool swapped = false;        // big-endian elements
  bool fortran_order = false;  // the first dim varies fastest
  std::vector<int64_t> sizes;
  uint64_t data = 0;  // where the elements start
};

// Throws FileError unless the file is one array of a supported dtype, and
// nothing else.
NpyHeader parse_npy(const FileView& file);

// A header of version 1.0. Its length is a multiple of 64 bytes. Throws
// TypeError "[op] tensor: ..." for bfloat16, which the format does not have.
std::string npy_header(std::string_view op, ScalarType dtype,
                       IntArrayRef sizes);

}  // namespace sy::io
