#include "frontend/nn/functional/vision.h"

#include <gtest/gtest.h>

#include "sy/sy.h"
#include "test/frontend/nn/recorded.h"
#include "test/frontend/nn/text.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::value_error;
using In = const std::vector<Tensor>&;
using GridSample = F::GridSampleFuncOptions;

test::NnCase grid_sample_case(const GridSample& o) {
  return function_case([o](In x) { return F::grid_sample(x[0], x[1], o); });
}

TEST(Vision, GivesWhatPyTorchGives) {
  test::check_recorded(
      "vision.safetensors",
      {{"affine_grid", function_case([](In x) {
          return F::affine_grid(x[0], {2, 1, 2, 3});
        })},
       {"affine_grid_corners", function_case([](In x) {
          return F::affine_grid(x[0], {2, 1, 2, 3}, true);
        })},
       {"affine_grid_3d", function_case([](In x) {
          return F::affine_grid(x[0], {1, 2, 2, 1, 3});
        })},
       {"affine_grid_3d_corners", function_case([](In x) {
          return F::affine_grid(x[0], {1, 2, 2, 1, 3}, true);
        })},
       {"grid_sample",
        function_case([](In x) { return F::grid_sample(x[0], x[1]); })},
       {"grid_sample_nearest", grid_sample_case(GridSample().mode(kNearest))},
       {"grid_sample_bicubic", grid_sample_case(GridSample().mode(kBicubic))},
       {"grid_sample_border",
        grid_sample_case(
            GridSample().padding_mode(kBorder).align_corners(true))},
       {"grid_sample_reflection",
        grid_sample_case(
            GridSample().padding_mode(kReflection).align_corners(true))},
       {"grid_sample_3d",
        grid_sample_case(GridSample().mode(kBilinear).align_corners(false))}});
}

TEST(Vision, NamesWrongSizes) {
  const Tensor theta = ones({1, 2, 3});
  EXPECT_EQ(value_error([&] {
              F::affine_grid(theta, {1, 2, 3});
            }),
            "[affine_grid] size: expected 4 or 5 values, got [1, 2, 3]");
  EXPECT_EQ(value_error([&] {
              F::affine_grid(theta, {1, 1, 2, 2, 2});
            }),
            "[affine_grid] theta: expected sizes [1, 3, 4], got [1, 2, 3]");
  EXPECT_EQ(value_error([&] {
              F::affine_grid(theta, {1, 0, 2, 2});
            }),
            "[affine_grid] size: expected values above 0, got [1, 0, 2, 2]");
  EXPECT_THROW(F::affine_grid(ones({1, 2, 3}, kLong), {1, 1, 2, 2}), TypeError);
}

}  // namespace
}  // namespace sy::nn
