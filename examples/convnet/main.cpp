#include <sy/distributed.h>

#include <cstdio>
#include <exception>

#include "examples/common/model.h"
#include "examples/convnet/convnet.h"
#include "examples/digits/data.h"

// Holds a small convolutional network against libtorch's record of the same,
// times a larger one, and teaches one to read digits. reference.py is the
// other side. Several ranks, `sy launch -n 2 convnet`, only teach.

namespace models {
namespace {

namespace dist = sy::distributed;

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

// The batch of all ranks together: 1, 2, 3, 4, 6 … ranks give the same losses.
constexpr int64_t kBatch = 48;

void teach(sy::Device device) {
  digits::Dataset all = digits::read_csv("examples/digits/data/digits.csv");
  // One channel of 8 x 8.
  all.images = all.images.view({-1, 1, 8, 8});
  const digits::Split data = digits::split(all.to(device), 0.8, 1);
  const Convnet model(16, 10);
  Uniform(3, device).fill(*model);
  // The line that makes all ranks train one model.
  dist::DistributedDataParallel ddp(model, {.sync_batch_norm = true});
  sy::optim::SGD sgd(model->parameters(),
                     sy::optim::SGDOptions(0.05).momentum(0.9));
  // Gives all samples in a random order if alone, else this rank's.
  dist::DistributedSampler sampler(data.train.size(), {.drop_last = true});
  const int64_t rows = kBatch / dist::get_world_size();
  for (int epoch = 1; epoch <= 5; ++epoch) {
    sampler.set_epoch(epoch);
    const int64_t steps = sampler.size() / rows;
    sy::Tensor losses = sy::zeros({}, sy::TensorOptions(device));
    for (int64_t i = 0; i < steps; ++i) {
      const auto which = sampler.next(static_cast<size_t>(rows));
      const auto batch = data.train.rows({which->begin(), which->end()});
      losses += train_step(model, sgd, batch.images, batch.labels);
    }
    const double loss = mean_over_ranks(losses) / static_cast<double>(steps);
    const sy::Tensor guesses = evaluate(model, data.test.images).argmax(1);
    const sy::Tensor right = guesses.eq(data.test.labels).to(sy::kDouble);
    if (dist::get_rank() != 0) continue;
    std::printf("epoch %d  loss %.4f  test %.1f %%\n", epoch, loss,
                100 * right.mean().item<double>());
  }
}

}  // namespace
}  // namespace models

// convnet [DEVICE [REFERENCE]]
int main(int argc, char** argv) try {
  const sy::Device device = models::device_of(argc > 1 ? argv[1] : "cpu");
  sy::distributed::init();
  if (sy::distributed::get_world_size() == 1) {
    models::compare(
        argc > 2 ? argv[2] : "examples/convnet/reference.safetensors", device);
    models::measure(device);
  }
  models::teach(device);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
