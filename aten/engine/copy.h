#pragma once

#include <optional>

#include "aten/tensor.h"

// Copies elements: within CPU memory, with any strides and dtypes, and between
// devices, through DeviceInterface.

namespace sy {

// dst = src for CPU tensors. src broadcasts to dst's sizes and is converted to
// its dtype. The two must not overlap, except element by element. Checks
// nothing. The CPU's kernel of _copy_from copies everything but small
// contiguous tensors.
SY_API void copy_cpu(const TensorBase& dst, const TensorBase& src);

// dst = src for tensors of any device. This is what copy_ does after it has
// checked its arguments. It calls the device's own kernel of copy_ or, without
// one, of _copy_from; else it does copy_between. With non_blocking it may
// return when the copy has begun.
SY_API void copy_tensor(const TensorBase& dst, const TensorBase& src,
                        bool non_blocking = false);

// dst = src without a kernel of the device, so that such a kernel may call it.
// It uses the copies of DeviceInterface, in as few pieces as the strides allow.
// It goes through the host if the pieces are too many or the dtypes differ.
// Does nothing if dst is on Meta. Throws ValueError if the sizes do not
// broadcast, NotImplementedError if src is on Meta.
SY_API void copy_between(const TensorBase& dst, const TensorBase& src);

// Throws ValueError if the sizes of src do not broadcast to those of dst. For
// kernels of _copy_from: those of copy_ are called after it. `argument` is what
// the operator calls src.
SY_API void check_copied_sizes(const char* op, const char* argument,
                               const TensorBase& dst, const TensorBase& src);

// How often copies within one device took each path. Copies of whole dense
// tensors by DeviceInterface are not counted. Thread-safe.
struct CopyCounts {
  int64_t by_kernel = 0;
  int64_t in_pieces = 0;
  int64_t by_host = 0;
};
SY_API CopyCounts copy_counts() noexcept;

// Begins dst = src in the stream of this thread, between pinned memory and the
// device that it is pinned for, and returns. Until the stream has done the
// copy, neither may be written, and the host must not read dst. Returns false,
// and begins nothing, if the tensors or the device do not allow it.
SY_API bool begin_copy(const TensorBase& dst, const TensorBase& src);

// A dense copy of `t` on another device. It has the strides of `t` if these are
// dense.
SY_API Tensor to_device(const Tensor& t, Device device);

// A contiguous CPU tensor with the elements of t: t itself if it is contiguous.
SY_API Tensor contiguous_cpu(const Tensor& t);
// The same in another dtype.
SY_API Tensor contiguous_cpu(const Tensor& t, ScalarType dtype);

// The bytes of a storage that a tensor's elements reach: `bytes` of them, from
// byte `first` of the storage on. Both are 0 if there are no elements.
struct StorageSpan {
  size_t first = 0;
  size_t bytes = 0;
};
SY_API StorageSpan storage_span(const TensorBase& t);

// The strides of a dense tensor like `t`: its own strides if these are dense,
// else strides in the order of its dims. Another `format` than Preserve fixes
// the order. For empty_like and clone.
SY_API void dense_strides_like(const TensorBase& t, MemoryFormat format,
                               int64_t* strides);

}  // namespace sy
