#pragma once

#include <memory>

#include "aten/tensor.h"
#include "frontend/io/format/file_view.h"

// Conversions between tensors and the bytes of files.

namespace sy::io {

// A tensor over the row-major elements at file.data + begin. `data` is the same
// memory, writable; `owner` keeps it alive. The tensor is a copy if the
// elements are not aligned. Throws FileError for a bool that is neither 0 nor
// 1.
Tensor tensor_over(const FileView& file, uint8_t* data, uint64_t begin,
                   ScalarType dtype, IntArrayRef sizes,
                   const std::shared_ptr<void>& owner);

// Throws ValueError "[op] name: ..." for a tensor that has no elements to read:
// undefined, or on Meta.
void check_savable(std::string_view op, std::string_view name, const Tensor& t);
// The elements in row-major order on the CPU, without a gradient. Returns the
// tensor itself if it is so.
Tensor on_cpu(const char* op, const Tensor& t);

}  // namespace sy::io
