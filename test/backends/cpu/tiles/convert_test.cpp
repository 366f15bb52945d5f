#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/tiles/kernels.h"
#include "c10/tensor/half.h"
#include "test/backends/cpu/tiles/reference.h"

namespace sy::cpu::tiles {
namespace {

using testing::Random;

// One conversion as PyTorch does it on x86.
template <class To, class From>
To convert_one(From x) {
  constexpr bool kFromReduced =
      std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  if constexpr (kFromReduced) {
    if constexpr (std::is_same_v<From, To>) return x;
    return convert_one<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_same_v<To, Half> ||
                       std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<From> &&
                       std::is_integral_v<To>) {
    constexpr bool kLong = sizeof(To) == 8 || std::is_same_v<To, uint8_t>;
    const double d = static_cast<double>(x);
    if constexpr (kLong) {
      const bool fits = d >= -0x1p63 && d < 0x1p63;
      return static_cast<To>(fits ? static_cast<int64_t>(d)
                                  : std::numeric_limits<int64_t>::min());
    } else {
      // In float, as there: a float below 2^31 is at most 2^31 - 128.
      const bool fits = x >= From(-0x1p31) && x < From(0x1p31);
      return static_cast<To>(fits ? static_cast<int32_t>(x)
                                  : std::numeric_limits<int32_t>::min());
    }
  } else {
    return static_cast<To>(x);
  }
}

template <class T>
std::vector<T> samples() {
  std::vector<T> v;
  Random random(9);
  if constexpr (std::is_same_v<T, bool>) {
    return {};  // see below
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    v.resize(65536);
    for (uint32_t i = 0; i < 65536; ++i) v[i].bits = static_cast<uint16_t>(i);
  } else if constexpr (std::is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    v = {T(0),
         T(-0.0),
         T(0.5),
         T(-0.5),
         T(0.99),
         T(-0.99),
         L::infinity(),
         -L::infinity(),
         L::quiet_NaN(),
         L::max(),
         L::lowest(),
         L::min(),
         L::denorm_min(),
         T(0x1p31),
         T(-0x1p31),
         T(0x1p63),
         T(-0x1p63),
         T(2147483583.0),
         T(65504),
         T(65520),
         T(65519.9),
         T(1.5 * 0x1p-25),
         T(0x1p-25),
         T(255),
         T(256),
         T(257),
         T(-1),
         T(300.7),
         T(0x1p40 + 3)};
    for (int i = 0; i < 3000; ++i) {
      v.push_back(static_cast<T>(random.uniform(-300, 300)));
      v.push_back(static_cast<T>(random.uniform(-70000, 70000)));
      v.push_back(static_cast<T>(
          random.uniform(-1, 1) *
          std::ldexp(1.0, static_cast<int>(random.bits() % 140) - 70)));
    }
  } else {
    v = {T(0), T(1), std::numeric_limits<T>::max(),
         std::numeric_limits<T>::min()};
    for (int i = 0; i < 2000; ++i) {
      v.push_back(static_cast<T>(random.bits()));
      v.push_back(static_cast<T>(random.bits() >> 40));
    }
  }
  return v;
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    const float f = static_cast<float>(x);
    return f != f;
  } else {
    return x != x;
  }
}

template <class To, class From>
void check_values(ScalarType to, ScalarType from, const From* x, int64_t n) {
  std::vector<unsigned char> out(static_cast<size_t>(n) * sizeof(To) + 16,
                                 0xa5);
  convert_fn(from, to)(out.data(), x, n);
  for (int64_t i = 0; i < n; ++i) {
    To got;
    std::memcpy(&got, out.data() + i * static_cast<int64_t>(sizeof(To)),
                sizeof(To));
    const To want = convert_one<To>(x[i]);
    if (is_nan(want)) {
      ASSERT_TRUE(is_nan(got)) << static_cast<int>(from) << " to "
                               << static_cast<int>(to) << " element " << i;
      continue;
    }
    ASSERT_EQ(std::memcmp(&got, &want, sizeof(To)), 0)
        << kScalarTypeInfo[static_cast<int>(from)].name << " "
        << static_cast<double>(x[i]) << " to "
        << kScalarTypeInfo[static_cast<int>(to)].name << ": got "
        << static_cast<double>(got) << ", want " << static_cast<double>(want)
        << " element " << i << " of " << n << ", isa "
        << static_cast<int>(active_isa());
  }
  for (size_t i = static_cast<size_t>(n) * sizeof(To); i < out.size(); ++i) {
    ASSERT_EQ(out[i], 0xa5) << "wrote past the end";
  }
}

template <class To, class From>
void check_pair(ScalarType to, ScalarType from) {
  if constexpr (std::is_same_v<From, bool>) {
    bool x[200];
    for (int i = 0; i < 200; ++i) x[i] = i % 3 == 1;
    check_values<To, From>(to, from, x, 200);
    for (int64_t n = 0; n < 70; ++n) check_values<To, From>(to, from, x, n);
  } else {
    const std::vector<From> x = samples<From>();
    check_values<To, From>(to, from, x.data(), static_cast<int64_t>(x.size()));
    for (int64_t n = 0; n < 70; ++n) {
      check_values<To, From>(to, from, x.data() + n % 5, n);
    }
  }
}

template <class From>
void check_from(ScalarType from) {
#define SY_CHECK_TO(cpp, Enum)                   \
  check_pair<cpp, From>(ScalarType::Enum, from); \
  if (::testing::Test::HasFatalFailure()) return;
  SY_FORALL_SCALAR_TYPES(SY_CHECK_TO)
#undef SY_CHECK_TO
}

#define SY_TEST_FROM(cpp, Enum)                                            \
  TEST(TileConvert, From##Enum) {                                          \
    testing::for_each_isa([](Isa) { check_from<cpp>(ScalarType::Enum); }); \
  }
SY_FORALL_SCALAR_TYPES(SY_TEST_FROM)
#undef SY_TEST_FROM

TEST(TileConvert, UndefinedHasNone) {
  EXPECT_EQ(convert_fn(ScalarType::Undefined, ScalarType::Int), nullptr);
  EXPECT_EQ(convert_fn(ScalarType::Int, ScalarType::Undefined), nullptr);
}

TEST(TileConvert, TypesOfOneSizeConvertInPlace) {
  for (int64_t n = 0; n < 50; ++n) {
    std::vector<int32_t> x(50);
    for (int i = 0; i < 50; ++i) x[static_cast<size_t>(i)] = i * 1000 - 7;
    convert_fn(ScalarType::Int, ScalarType::Float)(x.data(), x.data(), n);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(std::bit_cast<float>(x[static_cast<size_t>(i)]),
                static_cast<float>(i * 1000 - 7));
    }
  }
}

TEST(TileStrided, GathersAndScattersEverySize) {
  for (size_t size : {1, 2, 4, 8, 16}) {
    for (int64_t step : {-3, -1, 0, 1, 2, 7}) {
      constexpr int64_t kN = 150;  // vectors and a rest, backwards too
      const int64_t stride = step * static_cast<int64_t>(size);
      std::vector<unsigned char> memory(2 * 8 * kN * size), dense(kN * size),
          back(memory.size(), 0);
      for (size_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<unsigned char>(i * 37);
      }
      const int64_t middle = 8 * kN * static_cast<int64_t>(size);
      load_strided(size, dense.data(), memory.data() + middle, stride, kN);
      store_strided(size, back.data() + middle, stride, dense.data(), kN);
      for (int64_t i = 0; i < kN; ++i) {
        const int64_t at = middle + i * stride;
        EXPECT_EQ(std::memcmp(dense.data() + i * static_cast<int64_t>(size),
                              memory.data() + at, size),
                  0);
        EXPECT_EQ(std::memcmp(back.data() + at, memory.data() + at, size), 0);
      }
    }
  }
}

TEST(TileStrided, TransposesEverySize) {
  for (size_t size : {1, 2, 4, 8, 16}) {
    const auto item = static_cast<int64_t>(size);
    for (const auto& [rows, cols] :
         {std::pair<int64_t, int64_t>{1, 5}, {16, 16}, {33, 70}, {130, 9}}) {
      const int64_t from_row = (cols + 3) * item, to_row = (rows + 1) * item;
      std::vector<unsigned char> from(static_cast<size_t>(rows * from_row)),
          to(static_cast<size_t>(cols * to_row));
      for (size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<unsigned char>(i * 41);
      }
      transpose(size, to.data(), to_row, from.data(), from_row, rows, cols);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) {
          ASSERT_EQ(std::memcmp(to.data() + c * to_row + r * item,
                                from.data() + r * from_row + c * item, size),
                    0)
              << size << " " << r << " " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sy::cpu::tiles
