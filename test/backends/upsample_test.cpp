#include "aten/ops/upsample.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/image.h"
#include "aten/ops/math.h"
#include "aten/ops/number.h"
#include "aten/ops/ranges.h"
#include "aten/ops/upsample_nearest.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

constexpr std::array<bool, 2> kBoth = {true, true};

Tensor counted(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return arange(n, kFloat).view(sizes);
}

void expect_near(const Tensor& a, const Tensor& b) {
  const Values x = values(a), y = values(b);
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-4);
}

TEST(Upsample, NearestPlaces) {
  const Tensor a = counted({1, 1, 4});
  EXPECT_EQ(values(upsample_nearest1d(a, {6})), (Values{0, 0, 1, 2, 2, 3}));
  EXPECT_EQ(values(_upsample_nearest_exact1d(a, {3})), (Values{0, 2, 3}));
  EXPECT_EQ(values(upsample_nearest2d(counted({1, 1, 2, 2}).to(kByte), {3, 2})),
            (Values{0, 1, 0, 1, 2, 3}));
}

TEST(Upsample, LinearBetweenNeighbours) {
  const Tensor a = counted({1, 1, 3});
  EXPECT_EQ(values(upsample_linear1d(a, {5}, true)),
            (Values{0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(values(upsample_linear1d(a, {6}, false)),
            (Values{0, 0.25, 0.75, 1.25, 1.75, 2}));
}

TEST(Upsample, ResultsHaveTheFormatOfTheOperand) {
  const Tensor last =
      counted({2, 3, 5, 4}).contiguous(MemoryFormat::ChannelsLast);
  for (const bool align : {false, true}) {
    EXPECT_TRUE(upsample_bilinear2d(last, {9, 7}, align)
                    .is_contiguous(MemoryFormat::ChannelsLast));
  }
}

// A plane that is linear stays so, and all memory formats agree.
TEST(Upsample, AllFormatsAgree) {
  const Tensor a = counted({2, 3, 5, 4});
  const Tensor last = a.contiguous(MemoryFormat::ChannelsLast);
  for (const bool align : {false, true}) {
    const Tensor r = upsample_bilinear2d(last, {9, 7}, align);
    expect_near(upsample_bilinear2d(a, {9, 7}, align), r);
    expect_near(upsample_bicubic2d(a, {3, 7}, align),
                upsample_bicubic2d(last, {3, 7}, align));
    expect_near(_upsample_bilinear2d_aa(a, {2, 2}, align),
                _upsample_bilinear2d_aa(last, {2, 2}, align));
  }
  const Tensor v = counted({1, 2, 3, 4, 2});
  expect_near(upsample_trilinear3d(v, {5, 3, 4}, true),
              upsample_trilinear3d(v.contiguous(MemoryFormat::ChannelsLast3d),
                                   {5, 3, 4}, true));
}

// sum(resize(x) * g) is sum(x * backward(g)).
TEST(Upsample, BackwardIsTheTranspose) {
  const Tensor x = counted({1, 2, 5, 4}).remainder(3);
  const Tensor g = counted({1, 2, 3, 7}).remainder(5);
  expect_near(
      upsample_bicubic2d(x, {3, 7}, false).mul(g).sum(),
      upsample_bicubic2d_backward(g, {3, 7}, {1, 2, 5, 4}, false).mul(x).sum());
}

// A scale that leads beyond the image leaves rows without a window: they are 0.
TEST(Upsample, RowsWithoutAWindow) {
  const Tensor x = counted({1, 1, 4, 4}).add(1);
  const Tensor g = counted({1, 1, 6, 2}).remainder(5).add(1);
  const Tensor r =
      _upsample_bilinear2d_aa(x, {6, 2}, false, 0.25, std::nullopt);
  expect_near(r.narrow(2, 2, 4), zeros({1, 1, 4, 2}));
  expect_near(r.mul(g).sum(),
              _upsample_bilinear2d_aa_backward(g, {6, 2}, {1, 1, 4, 4}, false,
                                               0.25, std::nullopt)
                  .mul(x)
                  .sum());
}

TEST(Upsample, SizesAndFactors) {
  const Tensor a = counted({1, 1, 4});
  const std::vector<double> half = {0.5};
  EXPECT_EQ(values(upsample_nearest1d(a, std::nullopt, half)), (Values{0, 2}));
  SY_EXPECT_ERROR(upsample_nearest1d(a, std::nullopt, std::nullopt), ValueError,
                  "neither");
  const std::vector<double> none = {0.1};
  SY_EXPECT_ERROR(upsample_nearest1d(a, std::nullopt, none), ValueError,
                  "scale_factors");
  SY_EXPECT_ERROR(upsample_linear1d(a, {0}, false), ValueError, "output_size");
  SY_EXPECT_ERROR(upsample_linear1d(a.to(kLong), {2}, false), ValueError,
                  "floating");
  SY_EXPECT_ERROR(upsample_bilinear2d(a, {2, 2}, false), ValueError, "4 dims");
}

TEST(Image, ColumnsAndBack) {
  const Tensor a = counted({1, 1, 3, 3});
  const Tensor c = im2col(a, {2, 2}, {1, 1}, {0, 0}, {1, 1});
  EXPECT_EQ(values(c),
            (Values{0, 1, 3, 4, 1, 2, 4, 5, 3, 4, 6, 7, 4, 5, 7, 8}));
  EXPECT_EQ(values(col2im(c, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1})),
            (Values{0, 2, 2, 6, 16, 10, 6, 14, 8}));
  SY_EXPECT_ERROR(im2col(a, {4, 4}, {1, 1}, {0, 0}, {1, 1}), ValueError,
                  "at least one window");
  SY_EXPECT_ERROR(im2col(a, {2, 2}, {1, 1}, {0, 0}, {0, 1}), ValueError,
                  "positive");
}

TEST(Image, Shuffles) {
  const Tensor a = counted({4, 1, 2});
  EXPECT_EQ(values(pixel_shuffle(a, 2)), (Values{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(values(pixel_unshuffle(pixel_shuffle(a, 2), 2)), values(a));
  EXPECT_EQ(values(channel_shuffle(counted({1, 4, 1}), 2)),
            (Values{0, 2, 1, 3}));
  SY_EXPECT_ERROR(pixel_shuffle(a, 3), ValueError, "divisible by 9");
  SY_EXPECT_ERROR(pixel_shuffle(a, 0), ValueError, "upscale_factor");
}

TEST(Image, TheIdentityMapSamplesTheImage) {
  const Tensor a = counted({1, 2, 3, 4});
  const Tensor map = tensor({{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}});
  for (const bool align : {false, true}) {
    const Tensor grid =
        affine_grid_generator(map.to(kFloat).unsqueeze(0), {1, 2, 3, 4}, align);
    for (const int64_t mode : {0, 1, 2}) {
      expect_near(grid_sampler(a, grid, mode, 0, align), a);
    }
    SY_EXPECT_ERROR(grid_sampler(a, grid, 3, 0, align), ValueError,
                    "interpolation_mode");
  }
}

// Many channels go another way than few.
TEST(Image, ChannelsAreSampledAlike) {
  constexpr int64_t kChannels = 19;
  const float inf = std::numeric_limits<float>::infinity();
  for (const int64_t n : {2, 3}) {
    const std::vector<int64_t> places =
        n == 2 ? std::vector<int64_t>{5, 7} : std::vector<int64_t>{3, 4, 5};
    std::vector<int64_t> sizes = {2, kChannels}, points = {2};
    sizes.insert(sizes.end(), places.begin(), places.end());
    points.insert(points.end(), places.begin(), places.end());
    const Tensor a = sin(counted(sizes));
    const Tensor g = cos(counted(sizes));
    points.push_back(n);
    const Tensor grid = mul(sin(counted(points)), 1.3);
    const Tensor wild = grid.clone();
    wild.view({-1})[0].fill_(inf);
    wild.view({-1})[n].fill_(-inf);
    wild.view({-1})[2 * n].fill_(NAN);
    wild.view({-1})[3 * n].fill_(1e30);
    const auto forward = n == 2 ? grid_sampler_2d : grid_sampler_3d;
    const auto backward =
        n == 2 ? grid_sampler_2d_backward : grid_sampler_3d_backward;
    for (int64_t mode = 0; mode < (n == 2 ? 3 : 2); ++mode) {
      const Tensor all = forward(a, grid, mode, 0, false);
      const Tensor all_wild = nan_to_num(forward(a, wild, mode, 0, false), 99);
      const auto [by_a, by_grid] = backward(g, a, grid, mode, 0, false, kBoth);
      Tensor sum = zeros_like(by_grid);
      for (int64_t c = 0; c < kChannels; ++c) {
        const Tensor own = a.narrow(1, c, 1);
        expect_near(all.narrow(1, c, 1), forward(own, grid, mode, 0, false));
        expect_near(all_wild.narrow(1, c, 1),
                    nan_to_num(forward(own, wild, mode, 0, false), 99));
        const auto [own_by_a, own_by_grid] =
            backward(g.narrow(1, c, 1), own, grid, mode, 0, false, kBoth);
        expect_near(by_a.narrow(1, c, 1), own_by_a);
        sum.add_(own_by_grid);
      }
      expect_near(by_grid, sum);
    }
  }
}

// Points near and far in all vectors and what is left of them.
TEST(Image, TheNearestElementIsTakenAsItIs) {
  const Tensor a = tensor({-0.0, 3.0, -2.0, 7.0}).to(kFloat).view({1, 1, 1, 4});
  Tensor grid = zeros({1, 1, 37, 2});
  grid.select(3, 0).copy_(arange(37, kFloat).div(6).sub(3));  // [-3, 3]
  const auto at = [&](int64_t beyond, int64_t point) {
    return values(
        grid_sampler(a, grid, 1, beyond, true))[static_cast<size_t>(point)];
  };
  EXPECT_TRUE(std::signbit(at(0, 12)));  // -1: the first element
  EXPECT_FALSE(std::signbit(at(0, 0)));  // -3: nothing
  EXPECT_EQ(at(0, 36), 0);
  EXPECT_EQ(at(1, 36), 7);  // 3: the last one
  EXPECT_EQ(at(2, 36), 0);  // 3 is -1, reflected at 1
  EXPECT_EQ(at(2, 33), 3);  // 2.5 is -0.5
  EXPECT_EQ(at(2, 0), 7);   // -3 is 1, reflected at -1
  EXPECT_EQ(at(2, 20), at(0, 20));
}

}  // namespace
}  // namespace sy::families
