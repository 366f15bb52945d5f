#pragma once

#include <cstdint>

#include "aten/tensor.h"

// Checks that contracts are made of: engines, generated guards and hand-written
// kernels call them. All throw "[op] argument: expected X, got Y".

namespace sy {

class OperatorEntry;

// All defined tensors on one device; CPU tensors without dims go with any.
// Undefined ones (nullptr too) are skipped. Throws ValueError. Returns that
// device, CPU if there is no tensor.
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
// How the memory of a and b meets: Full if element by element.
SY_API Sharing sharing(const TensorBase& a, const TensorBase& b);

// For tensors that are written: every element has memory of its own.
SY_API void assert_no_internal_overlap(const char* op, const char* argument,
                                       const TensorBase& t);
// `out` does not meet `in`, or meets it element by element.
SY_API void assert_no_partial_overlap(const char* op, const TensorBase& out,
                                      const char* argument,
                                      const TensorBase& in);
// They do not meet at all.
SY_API void assert_no_overlap(const char* op, const TensorBase& out,
                              const char* argument, const TensorBase& in);

// Every element of a result may be stored to out's dtype.
SY_API void check_can_cast(const char* op, const char* argument,
                           ScalarType from, ScalarType to);

// Throws OutOfMemoryError unless there is room for a tensor like `t` with these
// as its last sizes.
SY_API void check_room(const TensorBase& t, IntArrayRef last);

// Makes `out` that size if it is not. Throws ValueError if its storage cannot
// grow. True if sizes changed.
SY_API bool resize_output(const char* op, Tensor& out, IntArrayRef sizes);

// What is written is a new version; nullptr as writer is allowed.
inline void bump_version(const TensorBase& t, const OperatorEntry* writer) {
  t.impl()->bump_version(writer);
}
// After the write of a kernel that is made of other operators: `writer` is what
// was called.
inline void name_writer(const TensorBase& t, const OperatorEntry* writer) {
  t.storage()->set_last_writer(writer);
}

}  // namespace sy
