#pragma once

#include <cstdint>

#include "c10/tensor/tensor_base.h"

// The weights that the CPU may keep packed, in a layout of its own, for later
// calls (backends/cpu/gemm/packed_weight.h). By itself it keeps weights whose
// memory only operators can write: each write by an operator is counted. Once
// data_ptr(), an accessor or DLPack has handed a pointer out, writes through it
// are not seen, and nothing is kept.

namespace sy {

// Promises that from now on only operators write to the storage of `weight`,
// though a pointer to it was handed out: its packed copies may be kept again.
// After writing through the pointer, call it again before the next operator;
// this drops the copies made before. Does nothing for an undefined tensor.
// Thread-safe.
SY_API void allow_packed_weights(const TensorBase& weight);

// 0 if there is no promise for the storage; else its number, which each promise
// changes. May give 0 while another thread makes a promise.
SY_API uint64_t packed_weights_promise(const StorageImpl& storage) noexcept;

}  // namespace sy
