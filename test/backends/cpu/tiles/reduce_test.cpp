#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/tiles/compiled.h"
#include "backends/cpu/tiles/kernels.h"
#include "test/backends/cpu/tiles/reference.h"

namespace sy::cpu::tiles {
namespace {

using testing::Random;

template <class T, class Acc>
Acc reference(Reduction r, Acc acc, const std::vector<T>& x) {
  for (T v : x) {
    switch (r) {
      case Reduction::sum:
        acc = static_cast<Acc>(acc + static_cast<Acc>(v));
        break;
      case Reduction::prod:
        acc = static_cast<Acc>(acc * static_cast<Acc>(v));
        break;
      case Reduction::max:
        acc =
            acc != acc || acc > static_cast<Acc>(v) ? acc : static_cast<Acc>(v);
        break;
      case Reduction::min:
        acc =
            acc != acc || acc < static_cast<Acc>(v) ? acc : static_cast<Acc>(v);
        break;
      case Reduction::any: acc = static_cast<Acc>(acc != 0 || v != 0); break;
      case Reduction::all: acc = static_cast<Acc>(acc != 0 && v != 0); break;
    }
  }
  return acc;
}

// Small integers: every order of the additions gives the same.
template <class T>
std::vector<T> small_values(Random& random, int64_t n) {
  std::vector<T> x(static_cast<size_t>(n));
  for (T& v : x) {
    v = static_cast<T>(random.bits() % 7);
    if (std::is_signed_v<T> && random.bits() % 2) v = static_cast<T>(-v);
  }
  return x;
}

template <class T, class Acc>
void check_run(Reduction r, ComputeType type, Acc start) {
  Random random(3);
  for (int64_t n = 0; n < 5000; n = n < 300 ? n + 1 : n + 777) {
    std::vector<T> x = small_values<T>(random, n);
    if (r == Reduction::prod) {
      for (T& v : x) v = static_cast<T>(v > T(2) ? 1 : 2);
      for (size_t i = 20; i < x.size(); ++i) x[i] = 1;
    }
    if (r == Reduction::any || r == Reduction::all) {
      const T usual = r == Reduction::all;
      for (T& v : x) v = usual;
      if (n > 0 && n % 3 != 0) {
        x[random.bits() % static_cast<uint64_t>(n)] = usual != 0 ? T(0) : T(2);
      }
    }
    Acc acc = start;
    reduce_fn(r, type)(&acc, x.data(), n);
    ASSERT_EQ(acc, (reference<T, Acc>(r, start, x)))
        << "reduction " << static_cast<int>(r) << " type "
        << static_cast<int>(type) << " n " << n;
  }
}

template <class T, class Acc>
void check_rows(Reduction r, ComputeType type, Acc start) {
  Random random(4);
  for (int64_t rows : {0, 1, 3, 7, 8, 9, 16, 20}) {
    for (int64_t n : {1, 2, 15, 16, 33, 130}) {
      constexpr int64_t kPad = 3;
      std::vector<T> x = small_values<T>(random, rows * (n + kPad));
      if (r == Reduction::prod) {
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(1 + i % 2);
      }
      std::vector<Acc> acc(static_cast<size_t>(n), start);
      reduce_rows_fn(r, type)(acc.data(), x.data(),
                              (n + kPad) * static_cast<int64_t>(sizeof(T)),
                              rows, n);
      for (int64_t j = 0; j < n; ++j) {
        std::vector<T> column;
        for (int64_t i = 0; i < rows; ++i) {
          column.push_back(x[static_cast<size_t>(i * (n + kPad) + j)]);
        }
        ASSERT_EQ(acc[static_cast<size_t>(j)],
                  (reference<T, Acc>(r, start, column)))
            << "reduction " << static_cast<int>(r) << " type "
            << static_cast<int>(type) << " rows " << rows << " n " << n;
      }
    }
  }
}

template <class T, class Wide>
void check_type(ComputeType type) {
  testing::for_each_isa([type](Isa) {
    ASSERT_EQ(compute_type_size(accumulator_type(Reduction::sum, type)),
              sizeof(Wide));
    check_run<T, Wide>(Reduction::sum, type, Wide(5));
    check_run<T, Wide>(Reduction::prod, type, Wide(3));
    check_run<T, T>(Reduction::max, type, T(2));
    check_run<T, T>(Reduction::min, type, T(2));
    check_run<T, uint8_t>(Reduction::any, type, 0);
    check_run<T, uint8_t>(Reduction::all, type, 1);
    check_rows<T, Wide>(Reduction::sum, type, Wide(5));
    check_rows<T, Wide>(Reduction::prod, type, Wide(3));
    check_rows<T, T>(Reduction::max, type, T(2));
    check_rows<T, T>(Reduction::min, type, T(2));
    check_rows<T, uint8_t>(Reduction::any, type, 0);
    check_rows<T, uint8_t>(Reduction::all, type, 1);
  });
}

TEST(TileReduce, Float) { check_type<float, double>(ComputeType::f32); }
TEST(TileReduce, Double) { check_type<double, double>(ComputeType::f64); }
TEST(TileReduce, UInt8) { check_type<uint8_t, int64_t>(ComputeType::u8); }
TEST(TileReduce, Int8) { check_type<int8_t, int64_t>(ComputeType::i8); }
TEST(TileReduce, Int16) { check_type<int16_t, int64_t>(ComputeType::i16); }
TEST(TileReduce, Int32) { check_type<int32_t, int64_t>(ComputeType::i32); }
TEST(TileReduce, Int64) { check_type<int64_t, int64_t>(ComputeType::i64); }
TEST(TileReduce, Bool) { check_type<uint8_t, int64_t>(ComputeType::b8); }

TEST(TileReduce, SumsOfFloatsAreAccurateAndTheSameOnEveryMachine) {
  Random random(8);
  std::vector<float> x(1000003);
  double want = 0, magnitude = 0;
  for (float& v : x) {
    v = static_cast<float>(random.uniform(-1, 1));
    want += v;
    magnitude += std::fabs(v);
  }
  double first = 0;
  bool any = false;
  testing::for_each_isa([&](Isa) {
    double acc = 0;
    reduce_fn(Reduction::sum, ComputeType::f32)(&acc, x.data(),
                                                static_cast<int64_t>(x.size()));
    EXPECT_LE(std::fabs(acc - want), 1e-8 * magnitude);
    if (any) {
      EXPECT_EQ(acc, first);
    }
    first = acc;
    any = true;
  });
  // Pieces that end where blocks do add up to the same.
  double pieces = 0;
  for (size_t i = 0; i < x.size(); i += 1024) {
    const size_t n = std::min<size_t>(1024, x.size() - i);
    reduce_fn(Reduction::sum, ComputeType::f32)(&pieces, x.data() + i,
                                                static_cast<int64_t>(n));
  }
  EXPECT_EQ(pieces, first);
}

TEST(TileReduce, MaxAndMinKeepNanWhereverItStands) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  testing::for_each_isa([nan](Isa) {
    for (size_t n : {1u, 5u, 64u, 100u, 3000u}) {
      for (size_t at : {size_t{0}, n / 2, n - 1}) {
        std::vector<float> x(n, 1.f);
        x[at] = nan;
        for (Reduction r : {Reduction::max, Reduction::min}) {
          float acc = 0;
          reduce_fn(r, ComputeType::f32)(&acc, x.data(),
                                         static_cast<int64_t>(n));
          EXPECT_TRUE(acc != acc);
        }
      }
    }
    float rows[2] = {1, nan}, acc = 0;
    reduce_rows_fn(Reduction::max, ComputeType::f32)(&acc, rows, 4, 2, 1);
    EXPECT_TRUE(acc != acc);
    acc = nan;
    reduce_fn(Reduction::min, ComputeType::f32)(&acc, rows, 1);
    EXPECT_TRUE(acc != acc);
  });
}

template <class T>
void check_mapped(ComputeType type, const Program& map, Reduction r) {
  const Uniform zero = make_uniform(type, false, 0.0);
  const ReduceFn mapped = mapped_reduce_fn(r, map, &zero, type);
  ASSERT_NE(mapped, nullptr);
  for (const int64_t n : {1, 63, 64, 100, 1024, 2500}) {
    std::vector<T> x(static_cast<size_t>(n)), y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>(static_cast<int>(i * 37 % 101) - 50);
    }
    for (const bool with_nan : {false, true}) {
      if (with_nan) x[x.size() / 2] = static_cast<T>(NAN);
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      run_contiguous(map, type, in, 0, &zero, out, n);
      double want[1] = {}, got[1] = {};
      reduce_fn(r, type)(want, y.data(), n);
      mapped(got, x.data(), n);
      T a, b;
      std::memcpy(&a, want, sizeof a);
      std::memcpy(&b, got, sizeof b);
      if (accumulator_type(r, type) == ComputeType::f64) {
        EXPECT_TRUE(want[0] == got[0] ||
                    (std::isnan(want[0]) && std::isnan(got[0])));
      } else {
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)));
      }
    }
  }
}

TEST(TileReduce, MapsAreDoneOnTheWay) {
  using lang::Prim;
  const Step abs[] = {{Prim::abs, 1, 0}}, square[] = {{Prim::square, 1, 0}};
  const Result second = {1, false};
  Program map;
  testing::for_each_isa([&](Isa) {
    const auto both = [&](Reduction r) {
      check_mapped<float>(ComputeType::f32, map, r);
      check_mapped<double>(ComputeType::f64, map, r);
    };
    map = {.steps = abs, .results = &second};
    map.n_steps = 1;
    map.n_registers = 2;
    map.n_inputs = 1;
    both(Reduction::sum);
    both(Reduction::max);
    map.steps = square;
    both(Reduction::sum);
    map =
        program::kCompiled[static_cast<int>(program::Compiled::nansum_map) - 1];
    both(Reduction::sum);
    const Uniform one = make_uniform(ComputeType::f32, false, 1.0);
    EXPECT_EQ(mapped_reduce_fn(Reduction::sum, map, &one, ComputeType::f32),
              nullptr);
  });
}

TEST(TileReduce, InfinitiesAreValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float x[] = {-inf, -inf, -inf};
  float acc = -inf;
  reduce_fn(Reduction::max, ComputeType::f32)(&acc, x, 3);
  EXPECT_EQ(acc, -inf);
  const std::vector<float> low(70, -std::numeric_limits<float>::max());
  acc = -inf;
  reduce_fn(Reduction::max, ComputeType::f32)(&acc, low.data(), 70);
  EXPECT_EQ(acc, -std::numeric_limits<float>::max());
}

template <class T>
void check_transpose() {
  for (int64_t rows : {0, 1, 3, 4, 15, 16, 17, 64, 70}) {
    for (int64_t cols : {1, 2, 8, 16, 31, 64, 65}) {
      const int64_t src_row = cols + 3, dst_row = rows + 5;
      std::vector<T> src(static_cast<size_t>(rows * src_row)),
          dst(static_cast<size_t>(cols * dst_row), T(99));
      for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<T>(i * 31);
      constexpr int64_t kSize = sizeof(T);
      transpose(sizeof(T), dst.data(), dst_row * kSize, src.data(),
                src_row * kSize, rows, cols);
      for (int64_t c = 0; c < cols; ++c) {
        for (int64_t r = 0; r < dst_row; ++r) {
          const T want =
              r < rows ? src[static_cast<size_t>(r * src_row + c)] : T(99);
          ASSERT_EQ(dst[static_cast<size_t>(c * dst_row + r)], want)
              << "size " << kSize << " at " << r << ", " << c << " of " << rows
              << " x " << cols;
        }
      }
    }
  }
}
TEST(TileTranspose, MovesEveryElementAndNoOther) {
  testing::for_each_isa([](Isa) {
    check_transpose<uint8_t>();
    check_transpose<uint16_t>();
    check_transpose<uint32_t>();
    check_transpose<uint64_t>();
  });
}

template <class T>
void check_choice(ComputeType type) {
  constexpr bool kFloats = std::numeric_limits<T>::has_quiet_NaN;
  const T nan = kFloats ? std::numeric_limits<T>::quiet_NaN() : T(3);
  Random random(5);
  for (int64_t n : {1, 7, 31, 32, 33, 64, 300, 1000}) {
    std::vector<T> x = small_values<T>(random, n);
    const size_t at = random.bits() % x.size();
    const T want = static_cast<T>(100);
    EXPECT_EQ(find_fn(type)(x.data(), n, &want), n);
    x[at] = want;
    EXPECT_EQ(find_fn(type)(x.data(), n, &want), static_cast<int64_t>(at));
    if (kFloats) {
      EXPECT_EQ(find_fn(type)(x.data(), n, &nan), n);
      x[at] = nan;
      EXPECT_EQ(find_fn(type)(x.data(), n, &nan), static_cast<int64_t>(at));
    }
  }
  constexpr int64_t kRows = 9, kColumns = 37;
  for (const bool max : {false, true}) {
    std::vector<T> x = small_values<T>(random, kRows * kColumns);
    for (size_t i = 11; i < x.size(); i += 50) x[i] = nan;
    std::vector<T> best(x.begin(), x.begin() + kColumns);
    std::vector<int32_t> place(kColumns, 0);
    choose_rows_fn(max, type)(best.data(), place.data(), &x[kColumns],
                              kColumns * sizeof(T), 1, kRows - 1, kColumns);
    for (size_t j = 0; j < kColumns; ++j) {
      int32_t want = 0;
      T value = x[j];
      for (int32_t r = 1; r < kRows; ++r) {
        const T v = x[static_cast<size_t>(r) * kColumns + j];
        const bool better = max ? v > value : v < value;
        if (value != value || !(better || v != v)) continue;
        want = r;
        value = v;
      }
      EXPECT_EQ(place[j], want) << "column " << j;
      EXPECT_EQ(std::memcmp(&best[j], &value, sizeof(T)), 0);
    }
  }
}

TEST(TileChoose, FindsTheFirstOfTheBest) {
  testing::for_each_isa([](Isa) {
    check_choice<float>(ComputeType::f32);
    check_choice<double>(ComputeType::f64);
    check_choice<uint8_t>(ComputeType::u8);
    check_choice<int8_t>(ComputeType::i8);
    check_choice<int16_t>(ComputeType::i16);
    check_choice<int32_t>(ComputeType::i32);
    check_choice<int64_t>(ComputeType::i64);
  });
}

// Numbers far from 0: the difference of two large sums would hold nothing.
template <class T>
void check_moments(ComputeType type) {
  Random random(7);
  for (int64_t n : {1, 2, 31, 32, 33, 100, 1024}) {
    std::vector<T> x(static_cast<size_t>(n));
    for (T& v : x) v = static_cast<T>(1e6 + random.uniform(-1, 1));
    long double mean = 0, m2 = 0;
    for (T v : x) mean += v;
    mean /= static_cast<long double>(n);
    for (T v : x) m2 += (v - mean) * (v - mean);
    double got_mean, got_m2;
    moments_fn(type)(&got_mean, &got_m2, x.data(), n);
    EXPECT_NEAR(got_mean, static_cast<double>(mean), 1e-9);
    EXPECT_NEAR(got_m2, static_cast<double>(m2), 1e-9 * static_cast<double>(n));
    // The rows of a matrix with one column, in two calls.
    double means[1] = {}, m2s[1] = {};
    const int64_t half = n / 2;
    moments_rows_fn(type)(means, m2s, x.data(), sizeof(T), 0, half, 1);
    moments_rows_fn(type)(means, m2s, x.data() + half, sizeof(T), half,
                          n - half, 1);
    EXPECT_NEAR(means[0], static_cast<double>(mean), 1e-9);
    EXPECT_NEAR(m2s[0], static_cast<double>(m2), 1e-9 * static_cast<double>(n));
  }
}

TEST(TileMoments, AreThoseOfTwoPasses) {
  testing::for_each_isa([](Isa) {
    check_moments<float>(ComputeType::f32);
    check_moments<double>(ComputeType::f64);
  });
}

TEST(TileStream, CopiesAnyLengthAtAnyOffset) {
  std::vector<unsigned char> src(1000), dst;
  for (size_t i = 0; i < src.size(); ++i) {
    src[i] = static_cast<unsigned char>(i * 7);
  }
  for (size_t offset : {0u, 1u, 16u, 63u}) {
    for (size_t n : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 500u, 900u}) {
      dst.assign(1100, 0xee);
      stream_copy(dst.data() + offset, src.data() + 3, n);
      stream_fence();
      EXPECT_EQ(std::memcmp(dst.data() + offset, src.data() + 3, n), 0);
      EXPECT_EQ(dst[offset + n], 0xee);
      if (offset > 0) {
        EXPECT_EQ(dst[offset - 1], 0xee);
      }
    }
  }
}

TEST(TileIsa, OnlyWhatTheMachineHasCanBeSet) {
  const Isa before = active_isa();
  EXPECT_TRUE(set_isa(Isa::sse4));
  EXPECT_EQ(active_isa(), Isa::sse4);
  EXPECT_TRUE(set_isa(before));
  EXPECT_EQ(active_isa(), before);
}

}  // namespace
}  // namespace sy::cpu::tiles
