// Places of elements: of a value in a run, of the best down columns.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/choose.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

template <class T>
int64_t find(const void* x, int64_t n, const void* v) {
  constexpr int64_t kBlock = 256 / sizeof(T);
  const T* p = static_cast<const T*>(x);
  const T want = *static_cast<const T*>(v);
  const bool nan = want != want;
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    int found = 0;
    SY_TILE_LOOP
    for (int64_t k = 0; k < kBlock; ++k) {
      const T e = p[i + k];
      found |= (e == want) | (nan & (e != e));
    }
    if (found) break;
  }
  for (; i < n; ++i) {
    if (p[i] == want || (nan && p[i] != p[i])) break;
  }
  return i;
}

template <bool kMax, class T>
void choose_rows(void* best, int32_t* place, const void* x, int64_t row_stride,
                 int32_t first, int32_t rows, int64_t n) {
  T* b = static_cast<T*>(best);
  const char* row = static_cast<const char*>(x);
  for (int32_t r = first; r < first + rows; ++r, row += row_stride) {
    const T* p = reinterpret_cast<const T*>(row);
    SY_TILE_LOOP
    for (int64_t j = 0; j < n; ++j) {
      const T v = p[j], old = b[j];
      const bool take = (kMax ? v > old : v < old) | ((v != v) & (old == old));
      b[j] = take ? v : old;
      place[j] = take ? r : place[j];
    }
  }
}

template <class T>
void set(KernelTable& t) {
  constexpr int type = static_cast<int>(TileTypeOf<T>::value);
  t.finds[type] = &find<T>;
  t.choose_rows[0][type] = &choose_rows<false, T>;
  t.choose_rows[1][type] = &choose_rows<true, T>;
}

void fill(KernelTable& t) {
  set<float>(t);
  set<double>(t);
  set<uint8_t>(t);
  set<int8_t>(t);
  set<int16_t>(t);
  set<int32_t>(t);
  set<int64_t>(t);
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_choose(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
