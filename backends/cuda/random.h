#pragma once

#include <optional>

#include "aten/tensor.h"
#include "c10/generator.h"

namespace sy::cuda {

// The counters of `words` words of the generator, or of the default one of the
// device. Throws ValueError for a generator of another backend.
GeneratorImpl::Range reserve_words(const char* op,
                                   const std::optional<Generator>& generator,
                                   Device device, int64_t words);

}  // namespace sy::cuda
