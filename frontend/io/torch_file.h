#pragma once

#include <string>

#include "frontend/io/file_error.h"
#include "frontend/io/torch_value.h"

// PyTorch's files: what Python's torch.save writes since 1.6, and libtorch's
// torch::save and pickle_save.

namespace sy {

// Reads a file as a tree. Nothing in it is run. A dict, an OrderedDict and a
// module of C++ or TorchScript (its parameters, buffers, attributes and
// children) become dicts; torch.Size a tuple; a dtype "torch.float16"; a device
// "cpu", or ("cuda", 0). Parameters and tensors with a gradient require one.
//
// Tensors are on the CPU, wherever they were, and over the mapped file, as
// those of load_safetensors. Tensors of one storage share it. Check sums of
// their bytes are not checked unless they are deflated. Files that were written
// without check sums are read too.
//
// Throws FileError for anything else: other classes, functions and opcodes,
// which it names with their byte in the pickle; complex, quantized and sparse
// tensors; tensors that do not fit their storages; values that hold
// themselves or are nested deeper than 200; big-endian files; the format of
// before 1.6.
SY_API ArchiveValue read_torch_file(const std::string& path);
// The same from memory. The bytes are copied.
SY_API ArchiveValue read_torch_bytes(const void* data, size_t size);

// Writes a file that Python's torch.load reads with its default,
// weights_only=True, and libtorch's pickle_load if keys are strings. Tensors of
// one storage share it there as well. A tensor that is a part of a storage of
// which the file has no other part is written alone, in row-major order.
// Nobody sees a half-written file. Throws FileError; ValueError for a tensor
// without elements to read, and for values that are nested deeper than 200.
SY_API void write_torch_file(const std::string& path,
                             const ArchiveValue& value);
// The bytes of that file.
SY_API std::string torch_file_bytes(const ArchiveValue& value);

}  // namespace sy
