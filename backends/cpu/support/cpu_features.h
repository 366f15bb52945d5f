#pragma once

// The dtypes that this machine multiplies, beside float and double. Kernels for
// them are used only with the widest instruction set.

namespace sy::cpu {

// Pairs of bfloat16 (AVX512_BF16), and tiles of them (AMX_BF16).
bool has_bf16_products() noexcept;
bool has_bf16_tiles() noexcept;
// float16 (AVX512_FP16).
bool has_f16_products() noexcept;

}  // namespace sy::cpu
