#include "examples/transformer/transformer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "examples/common/model.h"

namespace models {
namespace {

constexpr TransformerShape kShape = {20, 12, 32, 2, 2};

class TransformerOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, TransformerOn,
                         testing::Values("cpu", "lazy", "cuda"));

TEST_P(TransformerOn, IsLibtorchs) {
  Uniform random(1, device_of(GetParam()));
  const Transformer model(kShape);
  random.fill(*model);
  const sy::Tensor tokens = random.integers({2, 12}, 20);
  const sy::Tensor targets = random.integers({2, 12}, 20);
  const Trial r = try_out(model, tokens, targets);
  const auto record =
      sy::load_safetensors("examples/transformer/reference.safetensors");
  EXPECT_LT(difference(r, record), 1e-4);
  EXPECT_LT(r.losses[9].item<float>(), r.losses[0].item<float>());
}

TEST(Transformer, IsTheSameFromAFile) {
  Uniform random(1);
  const Transformer model(kShape);
  random.fill(*model);
  const sy::Tensor tokens = random.integers({2, 12}, 20);
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path =
      std::string(folder != nullptr ? folder : "/tmp") + "/model.safetensors";
  sy::save_safetensors(path, model->state_dict());
  const Transformer loaded(kShape);
  loaded->load_state_dict(sy::load_safetensors(path));
  EXPECT_TRUE(evaluate(loaded, tokens).equal(evaluate(model, tokens)));
}

TEST(Transformer, DoesNotSeeTheFuture) {
  Uniform random(1);
  const Transformer model(kShape);
  random.fill(*model);
  const sy::Tensor tokens = random.integers({1, 12}, 20);
  const sy::Tensor before = evaluate(model, tokens).slice(1, 0, 8);
  tokens.slice(1, 8).fill_(3);
  const sy::Tensor after = evaluate(model, tokens).slice(1, 0, 8);
  EXPECT_LT(before.sub(after).abs().amax().item<float>(), 1e-5);
}

}  // namespace
}  // namespace models
