// Transposition of tiles.

#include <cstring>

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/transpose.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/loop.inc"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// 16 bytes of each of several rows `step` apart, one behind another.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const char* from, int64_t step) {
  using T = hn::TFromD<D>;
  constexpr auto kBlocks =
      static_cast<int64_t>(hn::MaxLanes(D()) * sizeof(T)) / 16;
  if constexpr (kBlocks == 1) {
    return hn::LoadU(d, reinterpret_cast<const T*>(from));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, from + kBlocks / 2 * step, step),
                       load_blocks(half, from, step));
  }
}

// Squares of 16 bytes, N x N elements, one below another, as many as a vector
// of D has blocks: row i of all of them is one vector. Interleaving row i with
// row i + N/2 rotates the bits of (row, column) by one; log2(N) times swaps
// them.
template <class D>
HWY_INLINE void transpose_squares(D d, char* dst, int64_t dst_stride,
                                  const char* src, int64_t src_stride) {
  using T = hn::TFromD<D>;
  constexpr int kN = 16 / sizeof(T);
  using V = hn::Vec<D>;
  V a[kN];
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) {
    a[i] = load_blocks(d, src + i * src_stride, kN * src_stride);
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

// A patch is as many rows and columns as elements fill 64 bytes. A buffer lets
// each line of src be read at once, and each of dst be written: rows a power of
// two apart would push each other out of L1 in between.
template <class T>
HWY_INLINE void transpose_patch(char* dst, int64_t dst_stride, const char* src,
                                int64_t src_stride) {
  const hn::ScalableTag<T> d;
  constexpr auto kLanes =
      static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  constexpr int64_t kN = 16 / sizeof(T);
  constexpr int64_t kPatch = 64 / sizeof(T);
  constexpr int64_t kSize = sizeof(T);
  alignas(64) char room[kPatch * 64];
  for (int64_t r = 0; r < kPatch; ++r) {
    __builtin_memcpy(room + r * 64, src + r * src_stride, 64);
  }
  for (int64_t c = 0; c < kPatch; c += kN) {
    for (int64_t r = 0; r < kPatch; r += kLanes) {
      transpose_squares(d, dst + c * dst_stride + r * kSize, dst_stride,
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
          transpose_squares(hn::FixedTag<T, kN>(),
                            d + c * dst_stride + r * kSize, dst_stride,
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
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_transpose(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
