#pragma once

#include <cstddef>
#include <cstdint>

namespace sy::cpu::tiles {

// dst[i] = *element, for n contiguous elements of 1, 2, 4 or 8 bytes. The
// element may be one of dst. For the primitive `copy`.
using SpreadFn = void (*)(void* dst, const void* element, int64_t n);
SpreadFn spread_fn(size_t element_size) noexcept;

}  // namespace sy::cpu::tiles
