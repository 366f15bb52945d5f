#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "backends/cpu/tiles/kernels.h"
#include "test/backends/cpu/tiles/reference.h"

namespace sy::cpu::tiles {
namespace {

using lang::Prim;
using testing::Random;
using testing::signature;
using testing::Signature;

template <class T>
constexpr ComputeType type_of() {
  if constexpr (std::is_same_v<T, float>) return ComputeType::f32;
  if constexpr (std::is_same_v<T, double>) return ComputeType::f64;
  if constexpr (std::is_same_v<T, uint8_t>) return ComputeType::u8;
  if constexpr (std::is_same_v<T, int8_t>) return ComputeType::i8;
  if constexpr (std::is_same_v<T, int16_t>) return ComputeType::i16;
  if constexpr (std::is_same_v<T, int32_t>) return ComputeType::i32;
  return ComputeType::i64;
}

// Functions with a tolerance are math_test.cpp's.
bool is_exact(Prim p, ComputeType t) {
  if (t != ComputeType::f32 && t != ComputeType::f64) return true;
  switch (p) {
    case Prim::pow:
    case Prim::atan2:
    case Prim::hypot:
    case Prim::xlogy: return false;
    default: break;
  }
  if (p >= Prim::zeta && p <= Prim::legendre_p) return false;
  return p < Prim::exp || p >= Prim::floor;
}

bool in_domain(Prim p, ComputeType t) {
  const bool is_float = t == ComputeType::f32 || t == ComputeType::f64;
  switch (lang::kPrims[static_cast<int>(p)].domain) {
    case lang::PrimDomain::ALL: return true;
    case lang::PrimDomain::NUM: return t != ComputeType::b8;
    case lang::PrimDomain::INT: return !is_float;
    case lang::PrimDomain::FLT: return is_float;
  }
  return false;
}

template <class T>
std::vector<T> interesting() {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {
      T(0), T(1),     T(2),        T(3),
      T(7), L::max(), L::lowest(), static_cast<T>(L::max() - 1)};
  if constexpr (std::is_signed_v<T>) {
    for (int i : {-1, -2, -3, -7}) v.push_back(static_cast<T>(i));
  }
  if constexpr (std::is_floating_point_v<T>) {
    for (double d : {-0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.3, 1e-3, 1e10,
                     -1e10, 123456.75}) {
      v.push_back(static_cast<T>(d));
    }
    v.insert(v.end(), {L::infinity(), -L::infinity(), L::quiet_NaN(), L::min(),
                       L::denorm_min(), -L::denorm_min()});
  } else {
    for (int i : {5, 8, 15, 16, 31, 32, 63, 64, 100}) {
      v.push_back(static_cast<T>(i));
    }
  }
  return v;
}

template <class T>
T draw(Random& random) {
  const uint64_t bits = random.bits();
  static const std::vector<T> kValues = interesting<T>();
  if (bits % 3 == 0) return kValues[(bits >> 8) % kValues.size()];
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(random.uniform(-50, 50));
  } else {
    return bits % 3 == 1 ? static_cast<T>(bits >> 8)
                         : static_cast<T>((bits >> 8) % 20);
  }
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a != a && b != b;
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
// maximum(0, -0) may be either zero.
bool zero_sign_matters(Prim p) {
  return p != Prim::maximum && p != Prim::minimum && p != Prim::fmax &&
         p != Prim::fmin && p != Prim::clamp;
}

// Runs a primitive on n elements and compares each with the reference. b8 is
// uint8_t with ComputeType::b8.
template <class T>
class Checker {
 public:
  Checker(Prim prim, ComputeType type, uint64_t seed)
      : prim_(prim), type_(type), signature_(signature(prim)), random_(seed) {}

  // alias: the operand whose memory the result takes, or -1.
  void run(int64_t n, uint32_t mask, int alias) {
    const bool b8 = type_ == ComputeType::b8;
    std::vector<T> values[3];
    std::vector<char> memory[3];
    const void* at[3] = {};
    for (int k = 0; k < signature_.arity; ++k) {
      const int64_t count = (mask >> k & 1) ? 1 : n;
      const bool is_bool = b8 || signature_.bool_operand[k];
      values[k].resize(static_cast<size_t>(count));
      const size_t size = is_bool ? 1 : sizeof(T);
      // A uniform operand too has room for the result.
      memory[k].resize(static_cast<size_t>(n > 0 ? n : 1) * size + kGuard);
      for (int64_t i = 0; i < count; ++i) {
        T& v = values[k][static_cast<size_t>(i)];
        v = is_bool ? static_cast<T>(random_.bits() & 1) : draw<T>(random_);
        const uint8_t byte = static_cast<uint8_t>(v != T(0));
        std::memcpy(memory[k].data() + i * static_cast<int64_t>(size),
                    is_bool ? static_cast<const void*>(&byte) : &v, size);
      }
      at[k] = memory[k].data();
    }
    const size_t result_size = b8 || signature_.bool_result ? 1 : sizeof(T);
    std::vector<char> own(static_cast<size_t>(n) * result_size + kGuard);
    std::vector<char>& out = alias < 0 ? own : memory[alias];
    const size_t end = static_cast<size_t>(n) * result_size;
    for (size_t i = end; i < out.size(); ++i) out[i] = 0x5a;
    prim_fn(prim_, type_)(out.data(), at[0], at[1], at[2], mask, n);
    for (int64_t i = 0; i < n; ++i) {
      T operand[3] = {};
      for (int k = 0; k < signature_.arity; ++k) {
        operand[k] = values[k][(mask >> k & 1) ? 0 : static_cast<size_t>(i)];
      }
      compare(out.data() + i * static_cast<int64_t>(result_size), operand, n, i,
              mask);
      if (::testing::Test::HasFailure()) return;
    }
    for (size_t i = end; i < out.size(); ++i) {
      ASSERT_EQ(out[i], 0x5a) << name() << " wrote past the end, n = " << n;
    }
  }

 private:
  static constexpr size_t kGuard = 64;

  std::string name() const {
    return std::string(lang::kPrims[static_cast<int>(prim_)].name) + " type " +
           std::to_string(static_cast<int>(type_)) + " isa " +
           std::to_string(static_cast<int>(active_isa()));
  }
  void compare(const char* got, const T* x, int64_t n, int64_t i,
               uint32_t mask) {
    const auto where = [&] {
      return name() + "(" + std::to_string(x[0]) + ", " + std::to_string(x[1]) +
             ", " + std::to_string(x[2]) + ") element " + std::to_string(i) +
             " of " + std::to_string(n) + " mask " + std::to_string(mask);
    };
    if (type_ == ComputeType::b8 || signature_.bool_result) {
      const uint8_t want =
          type_ == ComputeType::b8
              ? testing::exact_bool(prim_, x[0] != 0, x[1] != 0, x[2] != 0)
              : testing::exact_reference<T>(prim_, x[0], x[1], x[2]) != 0;
      ASSERT_EQ(static_cast<int>(*got), static_cast<int>(want)) << where();
      return;
    }
    T y;
    std::memcpy(&y, got, sizeof(T));
    const T want = testing::exact_reference<T>(prim_, x[0], x[1], x[2]);
    if (y == want && !zero_sign_matters(prim_)) return;
    ASSERT_TRUE(same(y, want)) << where() << ": got " << y << ", want " << want;
  }

  Prim prim_;
  ComputeType type_;
  Signature signature_;
  Random random_;
};

template <class T>
void check_type(ComputeType type) {
  testing::for_each_isa([&](Isa) {
    for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
      const Prim prim = static_cast<Prim>(p);
      if (prim_fn(prim, type) == nullptr || !is_exact(prim, type)) continue;
      const Signature s = signature(prim);
      Checker<T> checker(prim, type, 1234 + static_cast<uint64_t>(p));
      for (int64_t n = 0; n <= 70; ++n) checker.run(n, 0, -1);
      for (int64_t n : {127, 128, 129, 1000, 4099}) checker.run(n, 0, -1);
      for (uint32_t mask = 1; mask < 1u << s.arity; ++mask) {
        for (int64_t n : {1, 2, 5, 63, 64, 65, 300}) checker.run(n, mask, -1);
      }
      for (int k = 0; k < s.arity; ++k) {
        const bool sizes_agree = sizeof(T) == 1 || type == ComputeType::b8 ||
                                 s.bool_operand[k] == s.bool_result;
        if (!sizes_agree) continue;
        for (int64_t n : {1, 5, 64, 67, 300}) {
          checker.run(n, 0, k);
          const uint32_t others = ((1u << s.arity) - 1) & ~(1u << k);
          checker.run(n, others, k);
          // A uniform operand may be overwritten too.
          checker.run(n, 1u << k, k);
        }
      }
      if (::testing::Test::HasFailure()) return;
    }
  });
  take_error();
}

TEST(TilePrimitives, EveryPrimitiveHasKernelsForItsDomainAndNoOther) {
  testing::for_each_isa([](Isa) {
    for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
      for (int t = 0; t < kNumComputeTypes; ++t) {
        const Prim prim = static_cast<Prim>(p);
        const ComputeType type = static_cast<ComputeType>(t);
        EXPECT_EQ(prim_fn(prim, type) != nullptr, in_domain(prim, type))
            << lang::kPrims[p].name << " type " << t;
      }
    }
  });
  EXPECT_EQ(prim_fn(Prim::kCount, ComputeType::f32), nullptr);
}

TEST(TilePrimitives, Float) { check_type<float>(ComputeType::f32); }
TEST(TilePrimitives, Double) { check_type<double>(ComputeType::f64); }
TEST(TilePrimitives, UInt8) { check_type<uint8_t>(ComputeType::u8); }
TEST(TilePrimitives, Int8) { check_type<int8_t>(ComputeType::i8); }
TEST(TilePrimitives, Int16) { check_type<int16_t>(ComputeType::i16); }
TEST(TilePrimitives, Int32) { check_type<int32_t>(ComputeType::i32); }
TEST(TilePrimitives, Int64) { check_type<int64_t>(ComputeType::i64); }
TEST(TilePrimitives, Bool) { check_type<uint8_t>(ComputeType::b8); }

TEST(TilePrimitives, EveryPairOfSmallIntegersDivides) {
  testing::for_each_isa([](Isa) {
    std::vector<int8_t> a(256), d(256);
    for (int i = 0; i < 256; ++i)
      a[static_cast<size_t>(i)] = static_cast<int8_t>(i);
    for (Prim prim :
         {Prim::trunc_div, Prim::floor_div, Prim::fmod, Prim::remainder}) {
      for (int b = -128; b < 128; ++b) {
        const int8_t divisor = static_cast<int8_t>(b);
        prim_fn(prim, ComputeType::i8)(d.data(), a.data(), &divisor, nullptr, 2,
                                       256);
        EXPECT_EQ(take_error(), b == 0);
        for (size_t i = 0; i < 256; ++i) {
          ASSERT_EQ(d[i],
                    testing::exact_reference<int8_t>(prim, a[i], divisor, 0))
              << static_cast<int>(a[i]) << " by " << b;
        }
      }
    }
  });
}

// Integers where double stops holding every one, and at the ends.
TEST(TilePrimitives, LargeIntegersDivideExactly) {
  std::vector<int64_t> some = {INT64_MIN, INT64_MIN + 1, INT64_MAX, 1, -1, 7};
  for (const int bits : {31, 32, 51, 52, 53, 54, 62}) {
    for (const int64_t near : {-2, -1, 0, 1, 2}) {
      some.push_back((int64_t{1} << bits) + near);
      some.push_back(near - (int64_t{1} << bits));
    }
  }
  testing::for_each_isa([&some](Isa) {
    for (Prim prim :
         {Prim::trunc_div, Prim::floor_div, Prim::fmod, Prim::remainder}) {
      for (const int64_t divisor : some) {
        // Alone, so that no other decides how its block divides.
        for (const int64_t a : some) {
          const std::vector<int64_t> x(8, a);
          std::vector<int64_t> d(8);
          prim_fn(prim, ComputeType::i64)(d.data(), x.data(), &divisor, nullptr,
                                          2, 8);
          ASSERT_EQ(d[3],
                    testing::exact_reference<int64_t>(prim, a, divisor, 0))
              << a << " by " << divisor;
        }
      }
    }
  });
}

template <class T>
void check_zero_division() {
  constexpr ComputeType type = type_of<T>();
  for (Prim prim :
       {Prim::trunc_div, Prim::floor_div, Prim::fmod, Prim::remainder}) {
    for (int64_t n : {1, 3, 17, 100}) {
      const size_t count = static_cast<size_t>(n);
      std::vector<T> a(count, T(7)), b(count, T(2)), d(count);
      prim_fn(prim, type)(d.data(), a.data(), b.data(), nullptr, 0, n);
      EXPECT_FALSE(take_error());
      b[count - 1] = 0;
      prim_fn(prim, type)(d.data(), a.data(), b.data(), nullptr, 0, n);
      EXPECT_TRUE(take_error()) << lang::kPrims[static_cast<int>(prim)].name;
      EXPECT_FALSE(take_error());
      EXPECT_EQ(d[count - 1], T(0));
      if (n > 1) {
        EXPECT_EQ(d[0], testing::exact_reference<T>(prim, T(7), T(2), T(0)));
      }
    }
  }
}
TEST(TilePrimitives, DividingIntegersByZeroRaisesTheFlagOnly) {
  testing::for_each_isa([](Isa) {
    check_zero_division<uint8_t>();
    check_zero_division<int8_t>();
    check_zero_division<int16_t>();
    check_zero_division<int32_t>();
    check_zero_division<int64_t>();
  });
}

TEST(TilePrimitives, DividingFloatsByZeroIsNoError) {
  const float a = 1, zero = 0;
  float d = 0;
  prim_fn(Prim::floor_div, ComputeType::f32)(&d, &a, &zero, nullptr, 0, 1);
  EXPECT_EQ(d, std::numeric_limits<float>::infinity());
  prim_fn(Prim::remainder, ComputeType::f32)(&d, &a, &zero, nullptr, 0, 1);
  EXPECT_TRUE(d != d);
  EXPECT_FALSE(take_error());
}

}  // namespace
}  // namespace sy::cpu::tiles
