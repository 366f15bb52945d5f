// gcc makes vector instructions of every loop below. The pragma comes before
// the headers: functions that gcc inlines must have the same options.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#include "frontend/distributed/group/reduce.h"

#include <bit>
#include <type_traits>

#include "c10/process/error.h"

namespace sy::distributed {

namespace {

// Integers are added and multiplied without a sign, in at least 32 bits: they
// wrap around.
template <class T>
auto unsign(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    return v;
  } else if constexpr (sizeof(T) < sizeof(uint32_t)) {
    return static_cast<uint32_t>(v);
  } else {
    return static_cast<std::make_unsigned_t<T>>(v);
  }
}

struct Sum {
  template <class T>
  static T f(T a, T b) {
    return static_cast<T>(unsign(a) + unsign(b));
  }
};
struct Product {
  template <class T>
  static T f(T a, T b) {
    return static_cast<T>(unsign(a) * unsign(b));
  }
};
// A NaN that is there stays; else one that comes is taken.
struct Min {
  template <class T>
  static T f(T a, T b) {
    return ((a < b) | (a != a)) ? a : b;
  }
};
struct Max {
  template <class T>
  static T f(T a, T b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};
struct And {
  template <class T>
  static T f(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T f(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T f(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class Op, class T>
void loop(T* acc, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) acc[i] = Op::f(acc[i], x[i]);
}

// condition ? a : b, of which gcc makes no branch.
SY_ALWAYS_INLINE uint32_t pick(bool condition, uint32_t a, uint32_t b) {
  return b ^ ((a ^ b) & (0u - static_cast<uint32_t>(condition)));
}

// The conversions of c10/tensor/half.h without branches; their results are the
// same bits.
SY_ALWAYS_INLINE float widen(Half h) {
  const uint32_t magnitude = h.bits & 0x7fffu;
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16;
  const uint32_t normal = (magnitude << 13) + 0x38000000u;
  const uint32_t special = (magnitude << 13) | 0x7f800000u;
  const uint32_t small = std::bit_cast<uint32_t>(
      static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  const uint32_t upper = pick(magnitude >= 0x7c00u, special, normal);
  return std::bit_cast<float>(sign | pick(magnitude < 0x400u, small, upper));
}
SY_ALWAYS_INLINE float widen(BFloat16 b) {
  return std::bit_cast<float>(static_cast<uint32_t>(b.bits) << 16);
}
SY_ALWAYS_INLINE void narrow(float value, Half& to) {
  const uint32_t f = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (f >> 16) & 0x8000u;
  const uint32_t magnitude = f & 0x7fffffffu;
  // 0.5 has the unit of the smallest half as its last bit: the sum rounds.
  const uint32_t small =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
      0x3f000000u;
  const uint32_t normal =
      (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
  uint32_t bits = pick(magnitude < 0x38800000u, small, normal);
  bits = pick(magnitude >= 0x47800000u, 0x7c00u, bits);
  bits = pick(magnitude > 0x7f800000u, nan, bits);
  to.bits = static_cast<uint16_t>(sign | bits);
}
SY_ALWAYS_INLINE void narrow(float value, BFloat16& to) {
  const uint32_t f = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = f + 0x7fffu + ((f >> 16) & 1u);
  const bool nan = (f & 0x7fffffffu) > 0x7f800000u;
  to.bits = static_cast<uint16_t>(pick(nan, f | 0x400000u, rounded) >> 16);
}

template <class Op, class T>
void loop_reduced(T* acc, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    narrow(Op::f(widen(acc[i]), widen(x[i])), acc[i]);
  }
}

// bool in memory is a byte, of which only 0 is false.
template <class Op>
void loop_bool(uint8_t* acc, const uint8_t* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    acc[i] = static_cast<uint8_t>(
        Op::f(static_cast<int>(acc[i] != 0), static_cast<int>(x[i] != 0)));
  }
}

template <class Op>
void of_dtype(void* acc, const void* x, int64_t n, ScalarType dtype) {
  constexpr bool bits = std::is_same_v<Op, And> || std::is_same_v<Op, Or> ||
                        std::is_same_v<Op, Xor>;
  const auto as = [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_same_v<T, bool>) {
      if constexpr (bits) {
        loop_bool<Op>(static_cast<uint8_t*>(acc),
                      static_cast<const uint8_t*>(x), n);
      }
    } else if constexpr (std::is_same_v<T, Half> ||
                         std::is_same_v<T, BFloat16>) {
      if constexpr (!bits) {
        loop_reduced<Op>(static_cast<T*>(acc), static_cast<const T*>(x), n);
      }
    } else if constexpr (std::is_integral_v<T> || !bits) {
      loop<Op>(static_cast<T*>(acc), static_cast<const T*>(x), n);
    }
  };
  switch (dtype) {
#define SY_CASE(cpp, Enum) \
  case ScalarType::Enum: return as(static_cast<cpp*>(nullptr));
    SY_FORALL_SCALAR_TYPES(SY_CASE)
#undef SY_CASE
    case ScalarType::Undefined: return;
  }
}

// bool has three reductions under five names.
ReduceOp of_bool(ReduceOp op) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::MAX: return ReduceOp::BOR;
    case ReduceOp::PRODUCT:
    case ReduceOp::MIN: return ReduceOp::BAND;
    default: return op;
  }
}

template <class T>
void divide_all(T* acc, int64_t n, T by) {
  for (int64_t i = 0; i < n; ++i) acc[i] /= by;
}

template <class T>
void divide_reduced(T* acc, int64_t n, float by) {
  for (int64_t i = 0; i < n; ++i) narrow(widen(acc[i]) / by, acc[i]);
}

const char* text_of(ScalarType dtype) {
  return dtype == ScalarType::Undefined ? "undefined" : dtype_name(dtype);
}

}  // namespace

bool reducible(ScalarType dtype, ReduceOp op) noexcept {
  if (dtype >= ScalarType::Undefined) return false;
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::PRODUCT:
    case ReduceOp::MIN:
    case ReduceOp::MAX: return true;
    case ReduceOp::AVG: return is_floating_type(dtype);
    case ReduceOp::BAND:
    case ReduceOp::BOR:
    case ReduceOp::BXOR: return !is_floating_type(dtype);
  }
  return false;
}

void reduce_into(void* acc, const void* x, int64_t n, ScalarType dtype,
                 ReduceOp op) {
  SY_CHECK(reducible(dtype, op), Type,
           "[reduce] op: expected a reduction of {}, got '{}'", text_of(dtype),
           name_of(op));
  switch (dtype == ScalarType::Bool ? of_bool(op) : op) {
    case ReduceOp::SUM:
    case ReduceOp::AVG: return of_dtype<Sum>(acc, x, n, dtype);
    case ReduceOp::PRODUCT: return of_dtype<Product>(acc, x, n, dtype);
    case ReduceOp::MIN: return of_dtype<Min>(acc, x, n, dtype);
    case ReduceOp::MAX: return of_dtype<Max>(acc, x, n, dtype);
    case ReduceOp::BAND: return of_dtype<And>(acc, x, n, dtype);
    case ReduceOp::BOR: return of_dtype<Or>(acc, x, n, dtype);
    case ReduceOp::BXOR: return of_dtype<Xor>(acc, x, n, dtype);
  }
}

void divide(void* acc, int64_t n, ScalarType dtype, int by) {
  switch (dtype) {
    case ScalarType::Float:
      return divide_all(static_cast<float*>(acc), n, static_cast<float>(by));
    case ScalarType::Double:
      return divide_all(static_cast<double*>(acc), n, static_cast<double>(by));
    case ScalarType::Half:
      return divide_reduced(static_cast<Half*>(acc), n, static_cast<float>(by));
    case ScalarType::BFloat16:
      return divide_reduced(static_cast<BFloat16*>(acc), n,
                            static_cast<float>(by));
    default:
      fail(ErrorKind::Type,
           "[reduce] dtype: expected a floating dtype for 'avg', got {}",
           text_of(dtype));
  }
}

}  // namespace sy::distributed
