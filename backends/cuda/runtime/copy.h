#pragma once

#include <cstddef>
#include <cstdint>

#include "aten/tensor.h"
#include "c10/tensor/storage.h"

// Copies and fills of bytes, in the current stream of the thread, behind what
// is in the other streams of the device.

namespace sy::cuda {

// The host's memory is the caller's again when the call returns. Bytes of
// memory that is not pinned go through a ring of pinned buffers.
void copy_from_host(int device, void* dst, const void* src, size_t bytes);
// Waits; then throws the first error of a kernel that nobody has seen.
void copy_to_host(int device, void* dst, const void* src, size_t bytes);
// The two may overlap.
void copy_on_device(int device, void* dst, const void* src, size_t bytes);
// Copies between two devices, after what is in the current streams of both;
// these wait for it.
void copy_across(void* dst, int to, const void* src, int from, size_t bytes);

// See DeviceInterface::begin_copy(). False if neither storage is pinned.
bool begin_copy(int device, const Storage& dst, size_t dst_first,
                const Storage& src, size_t src_first, size_t bytes);

// For kernels: within the memory of the tensors, whose storages are used by the
// work as by a launch. These wait for no other stream.
void fill_bytes(const TensorBase& t, void* at, unsigned char value,
                size_t bytes);
void copy_bytes(const TensorBase& dst, void* to, const TensorBase& src,
                const void* from, size_t bytes);
// The host's memory, which lies as the tensor's, is the caller's again when the
// call returns. The call waits for the current stream if that memory is pinned,
// and else for no work but, where the ring is full, copies before it.
void upload_bytes(const TensorBase& dst, const void* src, size_t bytes);

}  // namespace sy::cuda
