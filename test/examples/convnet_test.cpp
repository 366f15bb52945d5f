#include "examples/convnet/convnet.h"

#include <gtest/gtest.h>

namespace models {
namespace {

class ConvnetOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, ConvnetOn, testing::Values("cpu", "lazy"));

TEST_P(ConvnetOn, IsLibtorchs) {
  Uniform random(1, device_of(GetParam()));
  const Convnet model(8, 10, random);
  const sy::Tensor images = random.tensor({4, 1, 8, 8}, 1);
  const sy::Tensor labels = random.integers({4}, 10);
  const Trial t = try_out(
      model.weights(), [&] { return model.scores(images); },
      [&] { return model.loss(images, labels); });
  const auto record =
      sy::load_safetensors("examples/convnet/reference.safetensors");
  EXPECT_LT(difference(t, record), 1e-4);
  EXPECT_LT(t.losses[9].item<float>(), t.losses[0].item<float>());
  // Training has left its statistics.
  EXPECT_GT(model.statistics()["stem.mean"].abs().amax().item<float>(), 0);
}

// An image's scores do not depend on the batch that it is in.
TEST(Convnet, ScoresImagesOneByOne) {
  Uniform random(1);
  const Convnet model(8, 10, random);
  const sy::Tensor images = random.tensor({4, 1, 8, 8}, 1);
  const sy::Tensor all = model.scores(images);
  for (int64_t i = 0; i < 4; ++i) {
    const sy::Tensor one = model.scores(images.narrow(0, i, 1));
    EXPECT_LT(one.sub(all.narrow(0, i, 1)).abs().amax().item<float>(), 1e-5);
  }
}

}  // namespace
}  // namespace models
