#include "backends/cpu/gemm/gemm_bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "c10/process/parallel.h"

namespace sy::cpu {
namespace {

// Elements at the strides asked for, with numbers between them that no product
// may read or write.
struct Operand {
  std::vector<BFloat16> data;
  int64_t row, col;
  const BFloat16& at(int64_t i, int64_t j) const {
    return data[static_cast<size_t>(i * row + j * col)];
  }
};

enum class Layout { rows, columns, apart };

Operand random_operand(int64_t rows, int64_t cols, Layout layout,
                       uint32_t seed) {
  Operand o;
  switch (layout) {
    case Layout::rows: o.row = cols + 3, o.col = 1; break;
    case Layout::columns: o.row = 1, o.col = rows + 1; break;
    case Layout::apart: o.row = 2 * cols + 1, o.col = 2; break;
  }
  o.data.assign(
      static_cast<size_t>((rows + 1) * o.row + (cols + 1) * o.col + 2),
      BFloat16(NAN));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> numbers(-1, 1);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      o.data[static_cast<size_t>(i * o.row + j * o.col)] = numbers(random);
    }
  }
  return o;
}

struct Sizes {
  int64_t m, n, k;
};

// One product, every element against a sum in double.
void expect_product(Sizes s, Layout a_layout, Layout b_layout, bool c_is_float,
                    float alpha, float beta, bool with_bias) {
  SCOPED_TRACE(testing::Message()
               << s.m << " x " << s.k << " times " << s.k << " x " << s.n
               << ", layouts " << static_cast<int>(a_layout) << " and "
               << static_cast<int>(b_layout) << ", alpha " << alpha << ", beta "
               << beta << ", bias " << with_bias << ", float " << c_is_float);
  const Operand a = random_operand(s.m, s.k, a_layout, 1);
  const Operand b = random_operand(s.k, s.n, b_layout, 2);
  const Operand bias = random_operand(1, s.n, Layout::rows, 3);
  const int64_t c_row = s.n + 5;
  const auto size = static_cast<size_t>(s.m * c_row);
  std::vector<float> c(size);
  std::vector<BFloat16> small(size);
  for (size_t i = 0; i < size; ++i) {
    small[i] = static_cast<float>(i % 7) - 3;
    c[i] = small[i];
  }
  // Beta 0 ignores what was in c.
  const bool reads = beta != 0;
  const std::vector<float> before = c;
  if (!reads) {
    for (size_t i = 0; i < size; ++i) c[i] = NAN, small[i] = NAN;
  }
  gemm({s.m, s.n, s.k, a.data.data(), a.row, a.col, b.data.data(), b.row, b.col,
        c_is_float ? static_cast<void*>(c.data()) : small.data(), c_row,
        c_is_float, alpha, beta, with_bias ? bias.data.data() : nullptr});
  const auto got = [&](int64_t i, int64_t j) {
    const auto at = static_cast<size_t>(i * c_row + j);
    return c_is_float ? c[at] : static_cast<float>(small[at]);
  };
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0, size_of_terms = 0;
      for (int64_t p = 0; p < s.k; ++p) {
        const double x = double(float(a.at(i, p))) * float(b.at(p, j));
        sum += x;
        size_of_terms += std::abs(x);
      }
      double expected = alpha * sum;
      if (reads) {
        expected += double(beta) * before[static_cast<size_t>(i * c_row + j)];
      }
      if (with_bias) expected += float(bias.at(0, j));
      const double bound = 1e-6 * (size_of_terms + 10) +
                           (c_is_float ? 0 : std::abs(expected) / 256);
      ASSERT_NEAR(got(i, j), expected, bound) << "at " << i << ", " << j;
    }
    for (int64_t j = s.n; j < c_row; ++j) {
      const float beyond = got(i, j);
      if (reads) {
        ASSERT_EQ(beyond, before[static_cast<size_t>(i * c_row + j)]);
      } else {
        ASSERT_TRUE(std::isnan(beyond)) << "written at " << i << ", " << j;
      }
    }
  }
}

class GemmBf16Test : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_bf16_products()) {
      GTEST_SKIP() << "no AVX512_BF16: bfloat16 is multiplied by other means";
    }
  }
};

// Sizes around each number of rows and columns that a block of registers has,
// and each depth and width that is cut.
const Sizes kSizes[] = {
    {1, 1, 1},    {1, 40, 7},    {2, 33, 64},   {3, 5, 31},   {4, 64, 65},
    {5, 17, 2},   {11, 32, 9},   {12, 31, 16},  {13, 33, 33}, {97, 70, 12},
    {6, 600, 40}, {20, 3, 1100}, {14, 48, 513}, {3, 35, 512}, {100, 530, 515}};
const Layout kLayouts[] = {Layout::rows, Layout::columns, Layout::apart};

TEST_F(GemmBf16Test, EverySizeAndLayout) {
  for (const Sizes& s : kSizes) {
    for (const Layout a : kLayouts) {
      for (const Layout b : kLayouts) {
        expect_product(s, a, b, true, 1, 0, false);
        expect_product(s, a, b, false, 1, 0, true);
      }
    }
  }
}

TEST_F(GemmBf16Test, AlphaBetaAndBias) {
  for (const Sizes& s : kSizes) {
    for (const bool c_is_float : {false, true}) {
      expect_product(s, Layout::rows, Layout::rows, c_is_float, 0.5, 1, false);
      expect_product(s, Layout::rows, Layout::columns, c_is_float, -2, 0.25,
                     true);
    }
  }
}

TEST_F(GemmBf16Test, NoTermsGiveBias) {
  expect_product({3, 40, 0}, Layout::rows, Layout::rows, false, 1, 0, true);
  expect_product({20, 40, 0}, Layout::rows, Layout::columns, true, 1, 2, false);
}

TEST_F(GemmBf16Test, PackedOnceReadAgain) {
  for (const Sizes& s : {Sizes{20, 70, 600}, Sizes{5, 33, 7}}) {
    const Operand a = random_operand(s.m, s.k, Layout::rows, 1);
    Operand b = random_operand(s.k, s.n, Layout::columns, 2);
    std::vector<float> c[3];
    std::vector<char> room(static_cast<size_t>(bf16_packed_bytes(s.k, s.n)) +
                           64);
    void* aligned = room.data();
    size_t space = room.size();
    std::align(64, room.size() - 64, aligned, space);
    for (int i = 0; i < 3; ++i) {
      c[i].resize(static_cast<size_t>(s.m * s.n));
      GemmBf16 g{s.m,           s.n,   s.k,   a.data.data(), a.row, a.col,
                 b.data.data(), b.row, b.col, c[i].data(),   s.n,   true};
      ASSERT_TRUE(packs_bf16(g));
      if (i > 0) g.packed = aligned;
      g.is_packed = i == 2;
      // The product does not read b again once it is packed.
      if (i == 2) b.data.assign(b.data.size(), BFloat16(NAN));
      gemm(g);
    }
    EXPECT_EQ(c[0], c[1]);
    EXPECT_EQ(c[0], c[2]);
  }
}

TEST_F(GemmBf16Test, ThreadsChangeNothing) {
  const Sizes s{130, 700, 600};
  const Operand a = random_operand(s.m, s.k, Layout::rows, 1);
  const Operand b = random_operand(s.k, s.n, Layout::columns, 2);
  const auto product = [&](int threads) {
    const int before = get_num_threads();
    set_num_threads(threads);
    std::vector<float> c(static_cast<size_t>(s.m * s.n));
    gemm({s.m, s.n, s.k, a.data.data(), a.row, a.col, b.data.data(), b.row,
          b.col, c.data(), s.n, true});
    set_num_threads(before);
    return c;
  };
  EXPECT_EQ(product(1), product(3));
}

}  // namespace
}  // namespace sy::cpu
