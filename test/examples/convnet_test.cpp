#include "examples/convnet/convnet.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "examples/common/model.h"

namespace models {
namespace {

class ConvnetOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, ConvnetOn,
                         testing::Values("cpu", "lazy", "cuda"));

TEST_P(ConvnetOn, IsLibtorchs) {
  Uniform random(1, device_of(GetParam()));
  const Convnet model(8, 10);
  random.fill(*model);
  const sy::Tensor images = random.tensor({4, 1, 8, 8}, 1);
  const sy::Tensor labels = random.integers({4}, 10);
  const Trial t = try_out(model, images, labels);
  const auto record =
      sy::load_safetensors("examples/convnet/reference.safetensors");
  EXPECT_LT(difference(t, record), 1e-4);
  EXPECT_LT(t.losses[9].item<float>(), t.losses[0].item<float>());
  // Training has left its statistics, evaluation none.
  EXPECT_GT(model->stem->norm->running_mean.abs().amax().item<float>(), 0);
  EXPECT_EQ(model->stem->norm->num_batches_tracked.item<int64_t>(), kSteps);
}

// An image's scores do not depend on the batch that it is in.
TEST(Convnet, ScoresImagesOneByOne) {
  Uniform random(1);
  const Convnet model(8, 10);
  random.fill(*model);
  const sy::Tensor images = random.tensor({4, 1, 8, 8}, 1);
  const sy::Tensor all = evaluate(model, images);
  for (int64_t i = 0; i < 4; ++i) {
    const sy::Tensor one = evaluate(model, images.narrow(0, i, 1));
    EXPECT_LT(one.sub(all.narrow(0, i, 1)).abs().amax().item<float>(), 1e-5);
  }
}

// Weights and the statistics of the training.
TEST(Convnet, IsTheSameFromAFile) {
  Uniform random(1);
  const Convnet model(8, 10);
  random.fill(*model);
  const sy::Tensor images = random.tensor({4, 1, 8, 8}, 1);
  try_out(model, images, random.integers({4}, 10));
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path =
      std::string(folder != nullptr ? folder : "/tmp") + "/convnet.safetensors";
  sy::save_safetensors(path, model->state_dict());
  const Convnet loaded(8, 10);
  loaded->load_state_dict(sy::load_safetensors(path));
  EXPECT_TRUE(evaluate(loaded, images).equal(evaluate(model, images)));
}

}  // namespace
}  // namespace models
