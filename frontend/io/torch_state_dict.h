#pragma once

#include <string>

#include "frontend/io/file_error.h"
#include "frontend/io/named_tensors.h"

// State dicts in whatever file: PyTorch's, safetensors or NumPy's.

namespace sy {

// The tensors of a file. Its content tells what it is: safetensors (also an
// index that ends in .json), an archive of PyTorch (Python's, libtorch's,
// TorchScript's) or an .npz archive.
//
// Names of tensors in dicts, lists and modules of one of PyTorch's are paths:
// {"model": {"fc": [a, b]}} has "model.fc.0" and "model.fc.1". Values that are
// no tensors are left out; with `numbers`, numbers and bools become tensors
// without dims: int64, float64 and bool. Tensors require no gradient.
//
// Throws FileError as load_safetensors, read_torch_file and load_npz do, and
// for a file that holds a tensor without a name or two of one name.
SY_API NamedTensors load_state_dict(const std::string& path,
                                    bool numbers = false);
// The same from memory, for archives of PyTorch. The bytes are copied.
SY_API NamedTensors load_state_dict_bytes(const void* data, size_t size,
                                          bool numbers = false);

// Writes the tensors by the path's ending: .safetensors; .pt or .pth, a plain
// dict that Python's torch.load and libtorch's pickle_load read; .npz. Throws
// ValueError for other endings, and what save_safetensors, write_torch_file and
// save_npz throw.
SY_API void save_state_dict(const NamedTensors& tensors,
                            const std::string& path);

}  // namespace sy
