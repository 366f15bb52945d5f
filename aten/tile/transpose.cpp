// Transposition of tiles.

#include <cstring>

#include "aten/tile/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/tile/transpose.cpp"
#include "hwy/foreach_target.h"

#include "aten/tile/loop.inc"

HWY_BEFORE_NAMESPACE();
namespace sy::tiles::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// 16 bytes square: N x N elements in N vectors. Interleaving row i with row
// i + N/2 rotates the bits of (row, column) by one; log2(N) times swaps them.
template <class T>
HWY_INLINE void transpose_square(char* dst, int64_t dst_stride, const char* src,
                                 int64_t src_stride) {
  constexpr int kN = 16 / sizeof(T);
  const hn::FixedTag<T, kN> d;
  using V = hn::Vec<decltype(d)>;
  V a[kN];
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) {
    a[i] = hn::LoadU(d, reinterpret_cast<const T*>(src + i * src_stride));
  }
#pragma GCC unroll 4
  for (int stage = 1; stage < kN; stage *= 2) {
    V b[kN];
#pragma GCC unroll 8
    for (int i = 0; i < kN / 2; ++i) {
      b[2 * i] = hn::InterleaveLower(d, a[i], a[i + kN / 2]);
      b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + kN / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i) a[i] = b[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) {
    hn::StoreU(a[i], d, reinterpret_cast<T*>(dst + i * dst_stride));
  }
}

// A patch is as many rows and columns as elements fill 64 bytes. By way of a
// buffer each line of src is read at once, and each of dst written: rows a
// power of two apart would push each other out of L1 in between.
template <class T>
HWY_INLINE void transpose_patch(char* dst, int64_t dst_stride, const char* src,
                                int64_t src_stride) {
  constexpr int64_t kN = 16 / sizeof(T);
  constexpr int64_t kPatch = 64 / sizeof(T);
  alignas(64) char room[kPatch * 64];
  for (int64_t r = 0; r < kPatch; ++r) {
    __builtin_memcpy(room + r * 64, src + r * src_stride, 64);
  }
  for (int64_t c = 0; c < kPatch; c += kN) {
    for (int64_t r = 0; r < kPatch; r += kN) {
      constexpr int64_t kSize = sizeof(T);
      transpose_square<T>(dst + c * dst_stride + r * kSize, dst_stride,
                          room + r * 64 + c * kSize, 64);
    }
  }
}

template <class T>
void transpose_tile(void* dst, int64_t dst_stride, const void* src,
                    int64_t src_stride, int64_t rows, int64_t cols) {
  constexpr int64_t kN = 16 / sizeof(T);
  constexpr int64_t kPatch = 64 / sizeof(T);
  constexpr int64_t kSize = sizeof(T);
  char* d = static_cast<char*>(dst);
  const char* s = static_cast<const char*>(src);
  const int64_t whole_rows = rows / kN * kN;
  const int64_t whole_cols = cols / kN * kN;
  for (int64_t r0 = 0; r0 < whole_rows; r0 += kPatch) {
    const int64_t r1 = r0 + kPatch < whole_rows ? r0 + kPatch : whole_rows;
    for (int64_t c0 = 0; c0 < whole_cols; c0 += kPatch) {
      const int64_t c1 = c0 + kPatch < whole_cols ? c0 + kPatch : whole_cols;
      if (r1 - r0 == kPatch && c1 - c0 == kPatch) {
        transpose_patch<T>(d + c0 * dst_stride + r0 * kSize, dst_stride,
                           s + r0 * src_stride + c0 * kSize, src_stride);
        continue;
      }
      for (int64_t r = r0; r < r1; r += kN) {
        for (int64_t c = c0; c < c1; c += kN) {
          transpose_square<T>(d + c * dst_stride + r * kSize, dst_stride,
                              s + r * src_stride + c * kSize, src_stride);
        }
      }
    }
  }
  const auto one = [&](int64_t r, int64_t c) {
    std::memcpy(d + c * dst_stride + r * kSize, s + r * src_stride + c * kSize,
                sizeof(T));
  };
  for (int64_t r = 0; r < whole_rows; ++r) {
    for (int64_t c = whole_cols; c < cols; ++c) one(r, c);
  }
  for (int64_t r = whole_rows; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) one(r, c);
  }
}

void fill(KernelTable& t) {
  t.transposes[0] = &transpose_tile<uint8_t>;
  t.transposes[1] = &transpose_tile<uint16_t>;
  t.transposes[2] = &transpose_tile<uint32_t>;
  t.transposes[3] = &transpose_tile<uint64_t>;
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_transpose(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
