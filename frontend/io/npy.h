#pragma once

#include <string>

#include "frontend/io/file_error.h"
#include "frontend/io/named_tensors.h"

// NumPy's files: .npy holds one array, .npz (a zip archive) several.

namespace sy {

// Reads versions 1.0 to 3.0, in either order of bytes and of dims. A large
// array in this machine's order of bytes is memory-mapped: writing to the
// tensor does not change the file. Throws FileError for anything else:
// structured dtypes, objects, complex and unsigned numbers of more than a byte,
// too many or too few bytes.
SY_API Tensor load_npy(const std::string& path);
// Writes version 1.0, row-major. Nobody sees a half-written file. Throws
// TypeError for bfloat16, which NumPy does not have; FileError; ValueError for
// a tensor without elements to read.
SY_API void save_npy(const std::string& path, const Tensor& tensor);

// The arrays of an archive, named without .npy, in its order. Reads stored and
// deflated members, and archives beyond 4 GiB. Verifies check sums. Throws
// FileError.
SY_API NamedTensors load_npz(const std::string& path);
// Members are stored, not deflated, and aligned so that load_npz can map them.
// Throws what save_npy throws.
SY_API void save_npz(const std::string& path, const NamedTensors& tensors);

}  // namespace sy
