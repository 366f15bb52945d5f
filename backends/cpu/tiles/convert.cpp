// Conversions between all storage types.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/convert.cpp"
#include "hwy/foreach_target.h"

#include <bit>
#include <cstring>
#include <limits>

#include "backends/cpu/tiles/loop.inc"
#include "backends/cpu/tiles/narrow.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

using Bool = BoolByte;

// One conversion after the other, in one loop.
template <class First, class Then>
struct Both {
  template <class From>
  static HWY_INLINE auto f(From x) {
    return Then::f(First::f(x));
  }
};

void from_half(void* dst, const void* const* operands, const int64_t*,
               int64_t n_blocks) {
  float* d = static_cast<float*>(dst);
  const uint16_t* x = static_cast<const uint16_t*>(operands[0]);
  for (; n_blocks > 0; --n_blocks, d += kNarrowBlock, x += kNarrowBlock) {
    HalfBlock::load(d, x);
  }
}
void to_half(void* dst, const void* const* operands, const int64_t*,
             int64_t n_blocks) {
  uint16_t* d = static_cast<uint16_t*>(dst);
  const float* x = static_cast<const float*>(operands[0]);
  for (; n_blocks > 0; --n_blocks, d += kNarrowBlock, x += kNarrowBlock) {
    HalfBlock::store(d, x);
  }
}

void half_to_float(void* dst, const void* src, int64_t n) {
  const void* operands[3] = {src, nullptr, nullptr};
  drive(&from_half, {kNarrowBlock, 4, {2, 0, 0}}, dst, operands, 0, n);
}
void float_to_half(void* dst, const void* src, int64_t n) {
  const void* operands[3] = {src, nullptr, nullptr};
  drive(&to_half, {kNarrowBlock, 2, {4, 0, 0}}, dst, operands, 0, n);
}

template <class F, class To, class From>
void convert(void* dst, const void* src, int64_t n) {
  prim<F, To, From>(dst, src, nullptr, nullptr, 0, n);
}

template <size_t size>
void copy(void* dst, const void* src, int64_t n) {
  if (dst != src) std::memcpy(dst, src, static_cast<size_t>(n) * size);
}

// Two conversions with float between them.
template <ConvertFn kToFloat, ConvertFn kFromFloat, size_t from_size,
          size_t to_size>
void through_float(void* dst, const void* src, int64_t n) {
  constexpr int64_t kPiece = 512;
  float middle[kPiece];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t m = n - i < kPiece ? n - i : kPiece;
    kToFloat(middle, static_cast<const char*>(src) + i * from_size, m);
    kFromFloat(static_cast<char*>(dst) + i * to_size, middle, m);
  }
}

constexpr int index(ScalarType t) { return static_cast<int>(t); }

template <class To, class From>
void fill_pair(KernelTable& t, ScalarType to, ScalarType from) {
  t.converts[index(from)][index(to)] = std::is_same_v<To, From>
                                           ? &copy<sizeof(To)>
                                           : &convert<ConvertTo<To>, To, From>;
}

template <class T>
void fill_type(KernelTable& t, ScalarType type) {
  fill_pair<T, Bool>(t, type, ScalarType::Bool);
  fill_pair<T, uint8_t>(t, type, ScalarType::Byte);
  fill_pair<T, int8_t>(t, type, ScalarType::Char);
  fill_pair<T, int16_t>(t, type, ScalarType::Short);
  fill_pair<T, int32_t>(t, type, ScalarType::Int);
  fill_pair<T, int64_t>(t, type, ScalarType::Long);
  fill_pair<T, float>(t, type, ScalarType::Float);
  fill_pair<T, double>(t, type, ScalarType::Double);
  if constexpr (std::is_same_v<T, float>) return;
  constexpr ConvertFn from_float = &convert<ConvertTo<T>, T, float>;
  constexpr ConvertFn to_float = &convert<ConvertTo<float>, float, T>;
  const int i = index(type);
  constexpr int half = index(ScalarType::Half);
  constexpr int bfloat = index(ScalarType::BFloat16);
  t.converts[half][i] =
      &through_float<&half_to_float, from_float, 2, sizeof(T)>;
  t.converts[bfloat][i] =
      &convert<Both<FromBFloat16, ConvertTo<T>>, T, uint16_t>;
  t.converts[i][half] = &through_float<to_float, &float_to_half, sizeof(T), 2>;
  t.converts[i][bfloat] =
      &convert<Both<ConvertTo<float>, ToBFloat16>, uint16_t, T>;
}

void fill(KernelTable& t) {
  fill_type<Bool>(t, ScalarType::Bool);
  fill_type<uint8_t>(t, ScalarType::Byte);
  fill_type<int8_t>(t, ScalarType::Char);
  fill_type<int16_t>(t, ScalarType::Short);
  fill_type<int32_t>(t, ScalarType::Int);
  fill_type<int64_t>(t, ScalarType::Long);
  fill_type<float>(t, ScalarType::Float);
  fill_type<double>(t, ScalarType::Double);
  constexpr ConvertFn from_bfloat = &convert<FromBFloat16, float, uint16_t>;
  constexpr ConvertFn to_bfloat = &convert<ToBFloat16, uint16_t, float>;
  constexpr int f32 = index(ScalarType::Float);
  constexpr int half = index(ScalarType::Half);
  constexpr int bfloat = index(ScalarType::BFloat16);
  t.converts[half][f32] = &half_to_float;
  t.converts[f32][half] = &float_to_half;
  t.converts[bfloat][f32] = from_bfloat;
  t.converts[f32][bfloat] = to_bfloat;
  t.converts[half][bfloat] = &through_float<&half_to_float, to_bfloat, 2, 2>;
  t.converts[bfloat][half] = &through_float<from_bfloat, &float_to_half, 2, 2>;
  t.converts[half][half] = &copy<2>;
  t.converts[bfloat][bfloat] = &copy<2>;
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_convert(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
