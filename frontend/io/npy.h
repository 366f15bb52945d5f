#pragma once

#include <string>

#include "frontend/io/file_error.h"
#include "frontend/io/named_tensors.h"

// NumPy's files: .npy of one array, .npz (a zip archive) of several.

namespace sy {

// Versions 1.0 to 3.0, either order of bytes and of dims. A large array in
// this machine's order of bytes is memory-mapped: writing to the tensor does
// not change the file. Throw FileError for anything else: structured dtypes,
// objects, complex and unsigned numbers of more than a byte, bytes too many or
// too few.
SY_API Tensor load_npy(const std::string& path);
// Version 1.0, row-major. No file is seen half written. Throws TypeError for
// bfloat16, which NumPy does not have, FileError, and ValueError for a tensor
// without elements to read.
SY_API void save_npy(const std::string& path, const Tensor& tensor);

// The arrays of an archive, named without .npy, in its order. Stored and
// deflated members are read, archives beyond 4 GiB too; check sums are
// checked. Throws FileError.
SY_API NamedTensors load_npz(const std::string& path);
// Members are stored, not deflated, and aligned so that load_npz can map them.
// Throws as save_npy does.
SY_API void save_npz(const std::string& path, const NamedTensors& tensors);

}  // namespace sy
