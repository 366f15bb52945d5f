#pragma once

#include <cstddef>
#include <cstdint>

namespace sy::cpu::tiles {

// dst[i] = last[-i], for n contiguous elements of 1, 2, 4, 8 or 16 bytes. No
// overlap. For load_strided (kernels.h).
using ReverseFn = void (*)(void* dst, const void* last, int64_t n);
ReverseFn reverse_fn(size_t element_size) noexcept;

}  // namespace sy::cpu::tiles
