#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "aten/ops/activation.h"
#include "aten/ops/convolution.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/view.h"
#include "c10/process/parallel.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

struct Shape {
  std::vector<int64_t> input, weight;
  int64_t stride, padding, dilation, groups;
  bool transposed = false;
  int64_t output_padding = 0;
};

const Shape kShapes[] = {
    {{2, 3, 9}, {4, 3, 3}, 1, 1, 1, 1},
    {{2, 8, 12, 11}, {16, 8, 3, 3}, 1, 1, 1, 1},
    {{3, 16, 10, 9}, {24, 16, 1, 1}, 1, 0, 1, 1},
    {{2, 12, 14, 13}, {8, 6, 3, 5}, 2, 2, 1, 2},
    {{1, 3, 40, 40}, {16, 3, 7, 7}, 2, 3, 1, 1},
    {{2, 16, 15, 15}, {16, 1, 3, 3}, 1, 1, 1, 16},
    {{2, 8, 15, 15}, {16, 1, 3, 3}, 2, 1, 1, 8},
    {{2, 32, 15, 13}, {32, 1, 5, 5}, 2, 2, 1, 32},
    {{1, 32, 40}, {32, 1, 3}, 1, 1, 1, 32},
    {{1, 16, 6, 7, 8}, {16, 1, 3, 3, 3}, 1, 1, 1, 16},
    {{2, 24, 9, 9}, {24, 1, 3, 3}, 1, 1, 1, 24},
    {{2, 8, 16, 16}, {8, 8, 3, 3}, 1, 2, 2, 1},
    {{1, 4, 6, 7, 8}, {8, 4, 3, 3, 3}, 1, 1, 1, 1},
    {{2, 8, 7, 7}, {8, 4, 3, 3}, 2, 1, 1, 1, true, 1},
    {{2, 8, 9, 7}, {8, 4, 3, 2}, 3, 1, 2, 2, true, 2},
    {{3, 16, 20, 20}, {32, 16, 3, 3}, 1, 1, 1, 1},
    {{2, 48, 31, 30}, {56, 48, 1, 1}, 2, 0, 1, 1},
    {{2, 64, 31, 30}, {96, 32, 1, 1}, 2, 0, 1, 2},
};

Tensor convolve(const Tensor& x, const Tensor& w, const Tensor& b,
                const Shape& s) {
  return sy::convolution(x, w, b, s.stride, s.padding, s.dilation, s.transposed,
                         s.output_padding, s.groups);
}

std::array<Tensor, 3> gradients(const Tensor& g, const Tensor& x,
                                const Tensor& w, const Shape& s) {
  const auto [dx, dw, db] = sy::convolution_backward(
      g, x, w, std::nullopt, s.stride, s.padding, s.dilation, s.transposed,
      s.output_padding, s.groups, {true, true, true});
  return {dx, dw, db};
}

struct Operands {
  Tensor x, w, b;
};

// Small whole numbers: sums of products are exact in every dtype.
Operands whole_numbers(const Shape& s, ScalarType dtype) {
  manual_seed(3);
  const int64_t out = s.transposed ? s.weight[1] * s.groups : s.weight[0];
  const auto draw = [&](IntArrayRef sizes) {
    return sy::randint(-1, 2, sizes, dtype);
  };
  return {draw(s.input), draw(s.weight), draw({out})};
}

// Written from the definition, for two dims.
std::vector<double> by_definition(const Operands& o, const Shape& s,
                                  const Tensor& like) {
  const auto x = values(o.x), w = values(o.w), b = values(o.b);
  const int64_t in = o.x.size(1), h = o.x.size(2), width = o.x.size(3);
  const int64_t out = like.size(1), kh = o.w.size(2), kw = o.w.size(3);
  const int64_t group_in = in / s.groups, group_out = out / s.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < like.size(0); ++n) {
    for (int64_t c = 0; c < out; ++c) {
      for (int64_t i = 0; i < like.size(2); ++i) {
        for (int64_t j = 0; j < like.size(3); ++j) {
          double sum = b[static_cast<size_t>(c)];
          for (int64_t k = 0; k < group_in; ++k) {
            for (int64_t p = 0; p < kh; ++p) {
              for (int64_t q = 0; q < kw; ++q) {
                const int64_t r = i * s.stride - s.padding + p * s.dilation;
                const int64_t t = j * s.stride - s.padding + q * s.dilation;
                if (r < 0 || r >= h || t < 0 || t >= width) continue;
                const int64_t channel = c / group_out * group_in + k;
                sum += x[static_cast<size_t>(
                           ((n * in + channel) * h + r) * width + t)] *
                       w[static_cast<size_t>(
                           ((c * group_in + k) * kh + p) * kw + q)];
              }
            }
          }
          y.push_back(sum);
        }
      }
    }
  }
  return y;
}

TEST(Convolution, IsWhatItsDefinitionSays) {
  for (const Shape& s : kShapes) {
    if (s.transposed || s.input.size() != 4) continue;
    const Operands o = whole_numbers(s, kDouble);
    const Tensor y = convolve(o.x, o.w, o.b, s);
    EXPECT_EQ(values(y), by_definition(o, s, y)) << s.weight[0];
  }
}

// oneDNN, rows and columns of every dtype against float64.
TEST(Convolution, EveryDtypeAndLayoutGivesTheSame) {
  for (const Shape& s : kShapes) {
    const Operands d = whole_numbers(s, kDouble);
    const Tensor want = convolve(d.x, d.w, d.b, s);
    const auto grads = gradients(want.clamp(-2, 2), d.x, d.w, s);
    for (const ScalarType dtype : {kFloat, kBFloat16, kHalf, kLong}) {
      for (const bool last : {false, true}) {
        const bool reduced = dtype == kBFloat16 || dtype == kHalf;
        if (last && (s.input.size() != 4 || reduced)) continue;
        const auto format =
            last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
        const Tensor x = d.x.to(dtype).contiguous(format);
        const Tensor w = d.w.to(dtype).contiguous(format);
        const Tensor y = convolve(x, w, d.b.to(dtype), s);
        EXPECT_TRUE(y.is_contiguous(format));
        // Sums above 256 are rounded to bfloat16.
        const Tensor exact = want.to(dtype);
        EXPECT_EQ(values(y), values(exact)) << dtype_name(dtype);
        const auto got =
            gradients(want.clamp(-2, 2).to(dtype).contiguous(format), x, w, s);
        for (size_t i = 0; i < 3; ++i) {
          EXPECT_EQ(values(got[i]), values(grads[i].to(dtype)))
              << dtype_name(dtype) << " gradient " << i;
        }
      }
    }
  }
}

TEST(Convolution, TakesStridesAsTheyCome) {
  const Tensor x = sy::randn({12, 8, 2, 11}).permute({2, 1, 0, 3});
  const Tensor w = sy::randn({3, 16, 3, 8}).permute({1, 3, 0, 2});
  const Shape s{{}, {}, 1, 1, 1, 1};
  EXPECT_EQ(values(convolve(x, w, Tensor(), s)),
            values(convolve(x.contiguous(), w.contiguous(), Tensor(), s)));
}

TEST(Convolution, ResultsDoNotDependOnThreads) {
  const int before = get_num_threads();
  for (const Shape& s : kShapes) {
    for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
      manual_seed(4);
      const Tensor x = sy::randn(s.input).to(dtype);
      const Tensor w = sy::randn(s.weight).to(dtype);
      std::vector<std::vector<double>> first;
      for (const int threads : {1, 3}) {
        set_num_threads(threads);
        const Tensor y = convolve(x, w, Tensor(), s);
        std::vector<std::vector<double>> all{values(y)};
        for (const Tensor& g : gradients(y, x, w, s)) all.push_back(values(g));
        if (threads == 1) first = all;
        // oneDNN cuts the sums of its types by the number of threads.
        const double tolerance = dtype == kDouble  ? 0
                                 : dtype == kFloat ? 1e-4
                                                   : 0.1;
        for (size_t i = 0; i < all.size(); ++i) {
          ASSERT_EQ(all[i].size(), first[i].size());
          for (size_t k = 0; k < all[i].size(); ++k) {
            EXPECT_NEAR(all[i][k], first[i][k],
                        tolerance * (1 + std::abs(first[i][k])))
                << dtype_name(dtype);
          }
        }
      }
    }
  }
  set_num_threads(before);
}

// The derivative is cut by images, by channels, or not at all.
TEST(Convolution, DerivativesByWeightInPartsAreTheSameForAnyThreads) {
  const int before = get_num_threads();
  const Shape shapes[] = {
      {{9, 16, 33, 32}, {32, 16, 3, 3}, 1, 1, 1, 1},
      {{8, 64, 14, 14}, {128, 64, 3, 3}, 1, 1, 1, 1},
      {{8, 128, 7, 7}, {500, 128, 3, 3}, 1, 1, 1, 1},
      {{9, 64, 24, 24}, {64, 16, 3, 3}, 1, 1, 1, 4},
      {{2, 8, 9, 9}, {16, 8, 3, 3}, 1, 1, 1, 1},
  };
  for (const Shape& s : shapes) {
    for (const ScalarType dtype : {kFloat, kBFloat16}) {
      for (const MemoryFormat f :
           {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
        const Tensor x = sy::randn(s.input).to(dtype).contiguous(f);
        const Tensor w = sy::randn(s.weight).to(dtype).contiguous(f);
        const Tensor g = sy::ones_like(convolve(x, w, Tensor(), s));
        g.normal_();
        std::vector<double> first;
        for (const int threads : {1, 2, 3}) {
          set_num_threads(threads);
          const std::vector<double> dw = values(gradients(g, x, w, s)[1]);
          if (threads == 1) first = dw;
          EXPECT_EQ(dw, first) << threads;
        }
        const std::vector<double> want = values(
            gradients(g.to(kDouble), x.to(kDouble), w.to(kDouble), s)[1]);
        for (size_t i = 0; i < want.size(); ++i) {
          ASSERT_NEAR(first[i], want[i],
                      dtype == kFloat ? 1e-2 : 1 + std::abs(want[i]) / 64)
              << dtype_name(dtype);
        }
      }
    }
  }
  set_num_threads(before);
}

TEST(Convolution, WithoutElements) {
  const Shape s{{}, {}, 1, 0, 1, 1};
  const Tensor w = sy::ones({3, 2, 1, 1}), b = sy::ones({3});
  EXPECT_EQ(ints(convolve(sy::ones({0, 2, 4, 4}), w, b, s).sizes()),
            (std::vector<int64_t>{0, 3, 4, 4}));
  // No channels: only the bias is left.
  const Tensor y =
      convolve(sy::ones({1, 0, 2, 2}), sy::ones({3, 0, 1, 1}), b, s);
  EXPECT_EQ(values(y), std::vector<double>(12, 1));
  const auto g =
      gradients(sy::ones({0, 3, 4, 4}), sy::ones({0, 2, 4, 4}), w, s);
  EXPECT_EQ(values(g[1]), std::vector<double>(6, 0));
}

TEST(Convolution, WhatDoesNotFitIsAnError) {
  const Tensor x = sy::ones({1, 2, 4, 4}), w = sy::ones({4, 2, 3, 3});
  const auto call = [&](int64_t stride, int64_t padding, int64_t dilation,
                        int64_t groups) {
    return [=] {
      sy::convolution(x, w, Tensor(), stride, padding, dilation, false, 0,
                      groups);
    };
  };
  constexpr int64_t kHuge = int64_t{1} << 62;
  SY_EXPECT_ERROR(call(0, 0, 1, 1)(), ValueError, "[convolution] stride");
  SY_EXPECT_ERROR(call(1, -1, 1, 1)(), ValueError, "[convolution] padding");
  SY_EXPECT_ERROR(call(1, kHuge, 1, 1)(), ValueError, "[convolution] padding");
  SY_EXPECT_ERROR(call(1, 0, 0, 1)(), ValueError, "[convolution] dilation");
  SY_EXPECT_ERROR(call(1, 0, kHuge, 1)(), ValueError, "[convolution] dilation");
  SY_EXPECT_ERROR(call(1, 0, 1, 0)(), ValueError, "[convolution] groups");
  SY_EXPECT_ERROR(call(1, 0, 1, 3)(), ValueError, "[convolution] weight");
  SY_EXPECT_ERROR(call(1, 0, 1, 2)(), ValueError,
                  "[convolution] input: expected 4 channels");
  SY_EXPECT_ERROR(call(1, 0, 2, 1)(), ValueError,
                  "[convolution] weight: expected kernels");
  SY_EXPECT_ERROR(sy::conv1d(x, sy::ones({4, 2, 3})), ValueError,
                  "[conv1d] input");
  SY_EXPECT_ERROR(sy::conv_transpose2d(x, sy::ones({2, 4, 3, 3}), {}, 2, 0, 2),
                  ValueError, "[convolution] output_padding");
  SY_EXPECT_ERROR(sy::conv2d(x, w.to(kDouble)), TypeError,
                  "[convolution] weight: expected the dtype");
  SY_EXPECT_ERROR(sy::convolution_backward(x, x, w, std::nullopt, 1, 0, 1,
                                           false, 0, 1, {true}),
                  ValueError, "[convolution_backward] output_mask");
}

}  // namespace
}  // namespace sy::families
