#pragma once

#include "aten/tensor.h"
#include "c10/tensor/intrusive_ptr.h"
#include "c10/tensor/storage_payload.h"

// Tensors whose elements something outside of this thread is making: the
// results of collectives, of reads from a file. The maker returns a pending
// tensor at once and goes on; the first operator that takes the tensor waits.
//
// A pending tensor has sizes, strides, dtype and device like any other, but no
// memory, and it has the key Pending. Its storage holds a payload of the maker,
// whose materialize() waits and gives the storage its memory
// (c10/tensor/storage_payload.h). The kernel of Pending does that for the
// arguments of a call, takes the key away and goes on with the call. Code that
// asks for elements without an operator (data_ptr, printing, DLPack) waits as
// well. Autograd is a layer above: a pending tensor may require a gradient.
// Nothing waits for a tensor that is dropped.

namespace sy {

// A contiguous tensor whose elements `maker` will give. Throws ValueError for
// invalid sizes. materialize() has nothing to give for a tensor without
// elements: it waits, and throws what went wrong, for the first operator.
SY_API Tensor pending_tensor(IntArrayRef sizes, ScalarType dtype, Device device,
                             intrusive_ptr<StoragePayload> maker);

// Whether operators still have to look whether the elements have come.
SY_API bool is_pending(const TensorBase& t) noexcept;

// Waits for the elements. Throws what the maker throws; the tensor stays
// pending then. Does nothing for other tensors. Thread-safe.
SY_API void wait_pending(const TensorBase& t, const char* asked = "wait");

}  // namespace sy
