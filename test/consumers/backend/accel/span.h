#pragma once

#include <sy/library.h>

#include <vector>

#include "memory.h"

namespace accel {

// The place of a tensor's elements, kept by a kernel that runs later. The
// memory is stamped by launch(), so the tensor itself may go.
class Span {
 public:
  explicit Span(const sy::Tensor& t)
      : device_(t.device().index()),
        numel_(t.numel()),
        address_(t.data_ptr()),
        sizes_(t.sizes().vec()),
        strides_(t.strides().vec()) {}
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t numel() const { return numel_; }
  sy::IntArrayRef sizes() const { return sizes_; }
  sy::IntArrayRef strides() const { return strides_; }
  int64_t size(int64_t d) const { return sizes_[static_cast<size_t>(d)]; }
  int64_t stride(int64_t d) const { return strides_[static_cast<size_t>(d)]; }
  // The address of the first, for kernels.
  float* elements() const {
    return static_cast<float*>(
        DeviceMemory::of(device_).translate(address_, sizeof(float)));
  }

 private:
  int device_;
  int64_t numel_;
  void* address_;
  std::vector<int64_t> sizes_, strides_;
};

}  // namespace accel
