#pragma once

#include <optional>

#include "aten/tensor.h"
#include "c10/device/generator.h"

namespace sy::cuda {

// The whole numbers of a dtype.
struct Bounds {
  int64_t low, high;  // of the values of the dtype
  int64_t largest;    // it holds all whole numbers up to this
};
Bounds bounds_of(ScalarType dtype);

// The counters of `words` words of the generator, or of the default one of the
// device. Throws ValueError for a generator of another backend.
GeneratorImpl::Range reserve_words(const char* op,
                                   const std::optional<Generator>& generator,
                                   Device device, int64_t words);

}  // namespace sy::cuda
