#include <cstdio>
#include <exception>
#include <random>

#include "examples/common/model.h"
#include "examples/convnet/convnet.h"
#include "examples/digits/data.h"

// Holds a small convolutional network against libtorch's record of the same,
// times a larger one, and teaches one to read digits. reference.py is the
// other side.

namespace models {
namespace {

void compare(const char* path, sy::Device device) {
  Uniform random(1, device);
  const Convnet model(8, 10);
  random.fill(*model);
  const sy::Tensor images = random.tensor({4, 1, 8, 8}, 1);
  const sy::Tensor labels = random.integers({4}, 10);
  const Trial r = try_out(model, images, labels);
  std::printf("largest relative difference from libtorch %.1e\n",
              difference(r, sy::load_safetensors(path)));
}

void measure(sy::Device device) {
  Uniform random(2, device);
  const Convnet model(32, 10);
  random.fill(*model);
  const sy::Tensor images = random.tensor({32, 1, 32, 32}, 1);
  const sy::Tensor labels = random.integers({32}, 10);
  sy::set_num_threads(1);
  print_times(model, images, labels);
}

void teach(sy::Device device) {
  digits::Dataset all = digits::read_csv("examples/digits/data/digits.csv");
  // One channel of 8 x 8.
  all.images = all.images.view({-1, 1, 8, 8});
  const digits::Split data = digits::split(all.to(device), 0.8, 1);
  const Convnet model(16, 10);
  Uniform(3, device).fill(*model);
  sy::optim::SGD sgd(model->parameters(),
                     sy::optim::SGDOptions(0.05).momentum(0.9));
  std::mt19937_64 shuffle(1);
  constexpr int64_t kBatch = 32;
  for (int epoch = 1; epoch <= 5; ++epoch) {
    const auto train =
        data.train.rows(digits::permutation(data.train.size(), shuffle));
    for (int64_t i = 0; i + kBatch <= train.size(); i += kBatch) {
      train_step(model, sgd, train.images.narrow(0, i, kBatch),
                 train.labels.narrow(0, i, kBatch));
    }
    const sy::Tensor guesses = evaluate(model, data.test.images).argmax(1);
    const sy::Tensor right = guesses.eq(data.test.labels).to(sy::kDouble);
    std::printf("epoch %d  test %.1f %%\n", epoch,
                100 * right.mean().item<double>());
  }
}

}  // namespace
}  // namespace models

// convnet [DEVICE [REFERENCE]]
int main(int argc, char** argv) try {
  const sy::Device device = models::device_of(argc > 1 ? argv[1] : "cpu");
  models::compare(argc > 2 ? argv[2] : "examples/convnet/reference.safetensors",
                  device);
  models::measure(device);
  models::teach(device);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
