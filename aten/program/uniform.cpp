#include "aten/program/program.h"

#include <limits>

namespace sy::program {

namespace {

// x, or the least Int where it does not fit, as the CPU's instruction gives.
template <class Int>
Int truncated(double x) {
  constexpr double kLimit =
      static_cast<double>(uint64_t{1} << (8 * sizeof(Int) - 1));
  return x >= -kLimit && x < kLimit ? static_cast<Int>(x)
                                    : std::numeric_limits<Int>::min();
}

// The integer that narrower ones wrap from.
int64_t whole(ComputeType, int64_t value) { return value; }
int64_t whole(ComputeType type, double value) {
  return type == ComputeType::i64 || type == ComputeType::u8
             ? truncated<int64_t>(value)
             : truncated<int32_t>(value);
}

template <class T>
Uniform uniform_of(ComputeType type, bool is_bool, T value) {
  Uniform u;
  u.bits[0] = u.bits[1] = 0;
  if (is_bool) type = ComputeType::b8;
  switch (type) {
    case ComputeType::f32: u.f32 = static_cast<float>(value); break;
    case ComputeType::f64: u.f64 = static_cast<double>(value); break;
    case ComputeType::u8:
      u.u8 = static_cast<uint8_t>(whole(type, value));
      break;
    case ComputeType::i8: u.i8 = static_cast<int8_t>(whole(type, value)); break;
    case ComputeType::i16:
      u.i16 = static_cast<int16_t>(whole(type, value));
      break;
    case ComputeType::i32:
      u.i32 = static_cast<int32_t>(whole(type, value));
      break;
    case ComputeType::i64: u.i64 = whole(type, value); break;
    case ComputeType::b8: u.u8 = value != 0; break;
  }
  return u;
}

}  // namespace

Uniform make_uniform(ComputeType type, bool is_bool, int64_t value) noexcept {
  return uniform_of(type, is_bool, value);
}
Uniform make_uniform(ComputeType type, bool is_bool, double value) noexcept {
  return uniform_of(type, is_bool, value);
}

}  // namespace sy::program
