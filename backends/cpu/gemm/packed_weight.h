#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/tensor/tensor_base.h"

// Note [Packed weights]
// oneDNN's kernels read a weight in a layout of their own. Packing it takes as
// long as multiplying 8 to 16 rows by it. So the second call with an unchanged
// weight keeps the packed copy for later calls.
// - A weight is known by its storage and place, sizes, strides, dtype and
//   version. A write through any alias raises the version, and the next call
//   drops the copy. Writes through data_ptr() are not counted. Therefore
//   nothing is kept for memory that is not the library's own, nor once a
//   pointer to it was handed out, unless the user promises to write no more
//   (c10/memory/packed_weights.h). Nor while gradients are on: such weights
//   change.
// - A copy keeps no storage alive. It is freed by one of the next 64 calls
//   after its weight is gone, by trim_memory(), and when memory runs out.
// - At most SWITCHYARD_PACKED_LIMIT bytes are kept (default: an eighth of the
//   memory limit; 0: none). They count as allocated memory. At the limit,
//   copies that no call has used for long are dropped. A network that is too
//   large keeps a part of its copies.
// - Results are the same, bit by bit.

namespace sy::cpu {

// A weight is packed for at most so many rows of the other matrix.
inline constexpr int64_t kPackedRows = 64;

// A weight during one call.
class PackedWeight {
 public:
  // nullptr: there is no weight. `weight` must not change during the call.
  explicit PackedWeight(const TensorBase* weight) noexcept
      : weight_(weight), why_not_(look_up()) {}

  // nullptr if the call should take the packed weight; else the reason why not.
  const char* why_not() const noexcept { return why_not_; }
  // The OneDnnPacked function of the weight; its context is the PackedWeight.
  // nullptr if there is no memory for the copy.
  static void* memory(void* context, uint64_t layout, size_t bytes,
                      bool* filled) noexcept;
  // Call this after the call has succeeded. It keeps what the call has packed.
  void keep() noexcept;

 private:
  const char* look_up() const noexcept;

  const TensorBase* weight_;
  const char* why_not_;
  Storage memory_;
  uint64_t layout_ = 0;
  bool fills_ = false;
};

// The copies that are kept now.
struct PackedWeightStats {
  int64_t count = 0, bytes = 0;
  int64_t hits = 0;  // calls so far that found their weight packed
};
SY_API PackedWeightStats packed_weight_stats();

}  // namespace sy::cpu
