#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/tensor_base.h"

// Note [Packed weights]
// oneDNN's kernels read a weight in a layout of their own. Bringing it there
// takes as long as multiplying 8 to 16 rows by it, so the second call with a
// weight that has not changed keeps the result for those to come.
// - A weight is known by its storage and place, sizes, strides, dtype and
//   version. A write through any alias raises the version; the next call drops
//   what was kept. Writes through data_ptr() are not counted: hence nothing is
//   kept while gradients are on, nor of memory that is not the library's own.
//   With gradients off some elements are compared, which shows a weight that
//   was filled anew; who writes a part calls trim_memory() afterwards.
// - What is kept holds no storage alive. It goes with one of the next 64 calls
//   once its weight is gone, with trim_memory(), and when memory runs out.
// - At most SWITCHYARD_PACKED_LIMIT bytes are kept (an eighth of the memory
//   limit; 0: none), as allocated memory. At the limit what no call has used
//   for long gives way; a network that is too large keeps a part of it.
// - Results are the same, bit by bit.

namespace sy::cpu {

// Up to how many rows of the other matrix a weight is packed for.
inline constexpr int64_t kPackedRows = 64;

// A weight during one call.
class PackedWeight {
 public:
  // nullptr for none. `weight` must stay as it is during the call.
  explicit PackedWeight(const TensorBase* weight) noexcept
      : weight_(weight), why_not_(look_up()) {}

  // nullptr: the call is to take the weight packed. Else why not.
  const char* why_not() const noexcept { return why_not_; }
  // OneDnnPacked of it; its context is the PackedWeight. nullptr where there is
  // no memory for it.
  static void* memory(void* context, uint64_t layout, size_t bytes,
                      bool* filled) noexcept;
  // The call has succeeded: what it has packed is kept.
  void keep() noexcept;

 private:
  const char* look_up() const noexcept;

  const TensorBase* weight_;
  const char* why_not_;
  Storage memory_;
  uint64_t layout_ = 0;
  bool fills_ = false;
};

// What is kept now.
struct PackedWeightStats {
  int64_t count = 0, bytes = 0;
  int64_t hits = 0;  // calls so far that found their weight packed
};
SY_API PackedWeightStats packed_weight_stats();

}  // namespace sy::cpu
