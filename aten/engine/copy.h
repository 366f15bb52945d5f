#pragma once

#include <optional>

#include "aten/tensor.h"

// Moving elements: within CPU memory at any strides and dtypes, and between
// devices by way of DeviceInterface.

namespace sy {

// dst = src for CPU tensors: src broadcasts to dst's sizes and converts to its
// dtype. They do not overlap, or element by element. Checks nothing. What is
// more than a few contiguous bytes the CPU's kernel of _copy_from does.
SY_API void copy_cpu(const TensorBase& dst, const TensorBase& src);

// The same for tensors of any device, as copy_ does it once its arguments are
// checked: by the device's own kernel of copy_ or, without one, of _copy_from;
// else as copy_between. With non_blocking it may return when the copy is begun.
SY_API void copy_tensor(const TensorBase& dst, const TensorBase& src,
                        bool non_blocking = false);

// The same without a kernel of the device, so that those may call it: by the
// copies of DeviceInterface, in as few pieces as the strides allow, and by way
// of the host where these are too many or the dtypes differ. Meta as
// destination does nothing. Throws ValueError if the sizes do not broadcast or
// src is on Meta.
SY_API void copy_between(const TensorBase& dst, const TensorBase& src);

// How often copies within one device, other than of whole dense tensors, went
// each way. Thread-safe.
struct CopyCounts {
  int64_t by_kernel = 0;
  int64_t in_pieces = 0;
  int64_t by_host = 0;
};
SY_API CopyCounts copy_counts() noexcept;

// Begins dst = src between pinned memory and the device that it is pinned for,
// in the stream of this thread, and returns: neither may be written, nor dst
// read by the host, before that stream has come so far. False: nothing was
// begun, since the tensors, or the device, allow none.
SY_API bool begin_copy(const TensorBase& dst, const TensorBase& src);

// A dense copy on another device, with the strides of `t` if it is dense.
SY_API Tensor to_device(const Tensor& t, Device device);

// A contiguous tensor of the same elements: t itself if it is one. CPU.
SY_API Tensor contiguous_cpu(const Tensor& t);
// And of that dtype.
SY_API Tensor contiguous_cpu(const Tensor& t, ScalarType dtype);

// The bytes of a storage that a tensor's elements reach: from `first` on,
// `bytes` of them, in bytes from the storage's start. Empty for no elements.
struct StorageSpan {
  size_t first = 0;
  size_t bytes = 0;
};
SY_API StorageSpan storage_span(const TensorBase& t);

// Sizes and dense strides of a tensor like `t`: its own strides if they are
// dense, else row-major in the order of its dims. For empty_like and clone.
SY_API void dense_strides_like(const TensorBase& t, MemoryFormat format,
                               int64_t* strides);

}  // namespace sy
