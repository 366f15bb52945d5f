#pragma once

#include <cstdint>

#include "aten/tensor.h"

// Checks that contracts consist of. Engines, generated guards and hand-written
// kernels call them. All throw "[op] argument: expected X, got Y".

namespace sy {

class OperatorEntry;

// Throws ValueError unless all tensors are on one device. CPU tensors without
// dims go with any device, and undefined tensors and nullptr are skipped.
// Returns the device; CPU if there is no tensor.
SY_API Device check_same_device(const char* op,
                                const TensorBase* const* tensors, size_t n);

SY_API void check_defined(const char* op, const char* argument,
                          const TensorBase& t);
SY_API void check_dtype(const char* op, const char* argument,
                        const TensorBase& t, ScalarType dtype);
SY_API void check_dim(const char* op, const char* argument, const TensorBase& t,
                      int64_t dim);

enum class Overlap : uint8_t { No, Yes, TooHard };
// Whether two elements of t share memory.
SY_API Overlap internal_overlap(const TensorBase& t);
enum class Sharing : uint8_t { None, Full, Partial, TooHard };
// How a and b share memory. Full: element by element.
SY_API Sharing sharing(const TensorBase& a, const TensorBase& b);

// Throws unless every element of a tensor that is written has memory of its
// own.
SY_API void assert_no_internal_overlap(const char* op, const char* argument,
                                       const TensorBase& t);
// Throws if `out` shares memory with `in`, unless element by element.
SY_API void assert_no_partial_overlap(const char* op, const TensorBase& out,
                                      const char* argument,
                                      const TensorBase& in);
// Throws if they share memory.
SY_API void assert_no_overlap(const char* op, const TensorBase& out,
                              const char* argument, const TensorBase& in);

// Throws unless elements of dtype `from` may be stored as dtype `to`.
SY_API void check_can_cast(const char* op, const char* argument,
                           ScalarType from, ScalarType to);

// Throws OutOfMemoryError unless there is room for a tensor like `t` whose last
// sizes are `last`.
SY_API void check_room(const TensorBase& t, IntArrayRef last);

// Resizes `out` to `sizes` if it has others. Throws ValueError if its storage
// cannot grow. Returns whether the sizes changed.
SY_API bool resize_output(const char* op, Tensor& out, IntArrayRef sizes);

// Makes a new version of `t`, which is written. `writer` may be nullptr.
inline void bump_version(const TensorBase& t, const OperatorEntry* writer) {
  t.impl()->bump_version(writer);
}
// Names the operator that was called, `writer`, as the writer of a tensor that
// a kernel made of other operators has written.
inline void name_writer(const TensorBase& t, const OperatorEntry* writer) {
  t.storage()->set_last_writer(writer);
}

}  // namespace sy
