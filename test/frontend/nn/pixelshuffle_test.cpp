#include "frontend/nn/modules/pixelshuffle.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/pixelshuffle.h"
#include "sy/sy.h"
#include "test/frontend/nn/recorded.h"
#include "test/frontend/nn/text.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::module_case;
using test::printed;
using In = const std::vector<Tensor>&;

TEST(PixelShuffle, GivesWhatPyTorchGives) {
  test::check_recorded(
      "pixelshuffle.safetensors",
      {{"PixelShuffle", module_case(+[] { return PixelShuffle(2); })},
       {"PixelUnshuffle", module_case(+[] { return PixelUnshuffle(2); })},
       {"ChannelShuffle", module_case(+[] { return ChannelShuffle(3); })},
       {"pixel_shuffle", function_case([](In x) {
          return F::pixel_shuffle(x[0], F::PixelShuffleFuncOptions(3));
        })},
       {"pixel_unshuffle", function_case([](In x) {
          return F::pixel_unshuffle(x[0], F::PixelUnshuffleFuncOptions(3));
        })},
       {"channel_shuffle", function_case([](In x) {
          return F::channel_shuffle(x[0], F::ChannelShuffleFuncOptions(2));
        })}});
}

TEST(PixelShuffle, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(PixelShuffle(PixelShuffleOptions(2))),
            "PixelShuffle(upscale_factor=2)");
  EXPECT_EQ(printed(PixelUnshuffle(3)), "PixelUnshuffle(downscale_factor=3)");
  EXPECT_EQ(printed(ChannelShuffle(4)), "ChannelShuffle(groups=4)");
}

}  // namespace
}  // namespace sy::nn
