#include "frontend/nn/modules/upsampling.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/upsampling.h"
#include "sy/sy.h"
#include "test/frontend/nn/recorded.h"
#include "test/frontend/nn/text.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::module_case;
using test::printed;
using test::value_error;
using In = const std::vector<Tensor>&;
using Options = F::InterpolateFuncOptions;

test::NnCase case_of(const Options& o) {
  return function_case([o](In x) { return F::interpolate(x[0], o); });
}

TEST(Upsampling, GivesWhatPyTorchGives) {
  const std::vector<int64_t> sizes[] = {{5}, {3, 5}, {3, 2, 4}};
  const std::vector<double> scales[] = {{1.7}, {1.7, 2.4}, {1.7, 2.0, 1.4}};
  test::NnCases all;
  const auto add = [&](Options::mode_t mode, int dim) {
    const std::string name =
        std::string(mode.name()) + "_" + std::to_string(dim);
    const auto& size = sizes[dim - 3];
    all[name + "_size"] = case_of(Options().mode(mode).size(size));
    all[name + "_scale"] =
        case_of(Options().mode(mode).scale_factor(scales[dim - 3]));
    if (mode == kNearest || mode == kNearestExact || mode == kArea) return;
    all[name + "_corners"] =
        case_of(Options().mode(mode).size(size).align_corners(true));
  };
  for (const int dim : {3, 4, 5}) {
    add(kNearest, dim);
    add(kNearestExact, dim);
    add(kArea, dim);
  }
  add(kLinear, 3);
  add(kBilinear, 4);
  add(kBicubic, 4);
  add(kTrilinear, 5);
  const std::vector<int64_t> small{2, 3};
  all["bilinear_antialias"] =
      case_of(Options().mode(kBilinear).size(small).antialias(true));
  all["bicubic_antialias"] =
      case_of(Options().mode(kBicubic).size(small).antialias(true));
  all["recompute"] = case_of(
      Options().mode(kBilinear).scale_factor(scales[1]).recompute_scale_factor(
          true));
  all["Upsample"] = module_case(+[] {
    return Upsample(UpsampleOptions().scale_factor(std::vector<double>{2, 2}));
  });
  all["Upsample_options"] = module_case(+[] {
    return Upsample(UpsampleOptions()
                        .size(std::vector<int64_t>{3, 5})
                        .mode(kBilinear)
                        .align_corners(true));
  });
  test::check_recorded("upsampling.safetensors", all);
}

TEST(Upsampling, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(Upsample(
                UpsampleOptions().scale_factor(std::vector<double>{2, 2}))),
            "Upsample(scale_factor=2.0, mode='nearest')");
  EXPECT_EQ(
      printed(Upsample(
          UpsampleOptions().size(std::vector<int64_t>{3, 5}).mode(kBicubic))),
      "Upsample(size=(3, 5), mode='bicubic')");
}

TEST(Upsampling, NamesWrongOptions) {
  const std::vector<int64_t> size{4, 4};
  const auto error = [](const Options& o, IntArrayRef sizes = {1, 1, 2, 2}) {
    return value_error([&] { F::interpolate(ones(sizes), o); });
  };
  EXPECT_EQ(error(Options()),
            "[interpolate] expected one of size and scale_factor, got none");
  EXPECT_EQ(
      error(Options().size(size).scale_factor(std::vector<double>{2.0, 2.0})),
      "[interpolate] expected one of size and scale_factor, got both");
  EXPECT_EQ(error(Options().size(std::vector<int64_t>{4})),
            "[interpolate] size: expected 2 values for an input of 4 "
            "dimensions, got 1");
  EXPECT_EQ(error(Options().size(size), {2, 2}),
            "[interpolate] input: expected 3 to 5 dimensions, got 2");
  EXPECT_EQ(error(Options().size(size).mode(kLinear)),
            "[interpolate] mode: 'linear' expects an input of 3 dimensions, "
            "got 4");
  EXPECT_EQ(error(Options().size(size).align_corners(true)),
            "[interpolate] align_corners: expected none with the mode "
            "'nearest'");
  EXPECT_EQ(error(Options().size(size).mode(kArea).antialias(true)),
            "[interpolate] antialias: expected false with the mode 'area'");
  EXPECT_EQ(error(Options().size(size).recompute_scale_factor(true)),
            "[interpolate] recompute_scale_factor: expected false with a "
            "size, got true");
}

}  // namespace
}  // namespace sy::nn
