#pragma once

#include <cstdint>
#include <string_view>

#include "aten/engine/dims.h"
#include "aten/tensor.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/runtime/launch.h"

// Copies within a device, and what the kernels that move elements share. Work
// goes into the current stream of the thread.

namespace sy::cuda {

// dst = src, converted: two tensors of one device, of the same sizes, that do
// not overlap but element by element.
void copy_strided(const TensorBase& dst, const TensorBase& src);

// A part of a tensor's memory. Strides are in elements, of any sign; `data` is
// the first element.
struct Part {
  const TensorBase* owner;
  void* data;
  IntArrayRef strides;
};
// The same for parts of two tensors, which have the dtype of `to`'s.
void copy_part(IntArrayRef sizes, const Part& to, const Part& from);

// A fresh contiguous tensor.
Tensor empty_on(Device device, IntArrayRef sizes, ScalarType dtype);
// A copy of a CPU tensor, in the current stream.
Tensor uploaded(const Tensor& t, Device device);
// `t` with its elements in a row: itself or a copy.
Tensor contiguous_on_device(const Tensor& t);
// A fresh dense tensor with the elements of `t`, which may be a number on the
// CPU.
Tensor copy_of(const Tensor& t);
// `t`, or a copy on the device of a CPU tensor, as which a number may come.
// Throws ValueError if it lies elsewhere.
Tensor on_device(const Tensor& t, Device device);
// Every element of the tensor = value, which fits or throws ValueError.
void fill(const TensorBase& t, const Scalar& value);

// "1" … "16", the definition SY_ITEM of sources that move elements.
std::string_view item_text(int64_t item) noexcept;
// The kernel of a source that is compiled for elements of `item` bytes.
const Function& item_kernel(int device, std::string_view source,
                            std::string_view name, int64_t item);
// The name of the elements of a dtype in device code (device/element.cuh).
std::string_view device_type(ScalarType dtype);

// Blocks for n elements, of which a thread may take several.
LaunchShape shape_for_items(int device, int64_t n);

}  // namespace sy::cuda
