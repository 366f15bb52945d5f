#pragma once

#include <cstdint>
#include <limits>

#include "c10/device/philox.h"
#include "c10/macros.h"
#include "c10/tensor/half.h"

// Random words, and the numbers that are made of them. Compiled for each
// instruction set, with the same results on all.

namespace sy::cpu {

// The binary digits of a floating type, with the hidden one.
template <class T>
inline constexpr int kDigits = std::numeric_limits<T>::digits;
template <>
inline constexpr int kDigits<Half> = 11;
template <>
inline constexpr int kDigits<BFloat16> = 8;

template <class T>
inline constexpr int kWordsOf = sizeof(T) == 8 ? 2 : 1;

// A number in [0, 1), with as many digits as T holds exactly.
template <class T>
SY_ALWAYS_INLINE auto unit(const uint32_t* words) {
  if constexpr (sizeof(T) == 8) {
    return uniform_double(words[0], words[1]);
  } else {
    constexpr float kScale =
        1.0f / static_cast<float>(uint32_t{1} << kDigits<T>);
    return static_cast<float>(words[0] >> (32 - kDigits<T>)) * kScale;
  }
}

// How many blocks philox_words makes side by side. It writes a multiple of
// them.
inline constexpr int64_t kPhiloxLanes = 16;
// How many numbers normal_float and normal_double make at a time.
inline constexpr int64_t kNormals = 32;

struct RandomKernels {
  // The words of `blocks` blocks from `offset` on in the stream of `seed`.
  void (*philox_words)(uint64_t seed, uint64_t offset, int64_t blocks,
                       uint32_t* words);
  // Makes n numbers of the standard normal distribution, where n is rounded up
  // to a multiple of kNormals. Words 2k and 2k + 1 (two each for double) give
  // the numbers 2k and 2k + 1 by the method of Box and Muller.
  void (*normal_float)(const uint32_t* words, int64_t n, float* to);
  void (*normal_double)(const uint32_t* words, int64_t n, double* to);
};
const RandomKernels& random_kernels();

}  // namespace sy::cpu
