#include <sy/distributed.h>

#include <cstdio>

#include "examples/common/model.h"
#include "examples/transformer/transformer.h"

// Holds a small transformer against libtorch's record of the same, times a
// larger one, and teaches one to sort. reference.py is the other side. Several
// ranks, `sy launch -n 2 transformer`, only teach.

namespace models {
namespace {

namespace dist = sy::distributed;

void compare(const char* path, sy::Device device) {
  Uniform random(1, device);
  const Transformer model(TransformerShape{20, 12, 32, 2, 2});
  random.fill(*model);
  const sy::Tensor tokens = random.integers({2, 12}, 20);
  const sy::Tensor targets = random.integers({2, 12}, 20);
  const Trial r = try_out(model, tokens, targets);
  std::printf("largest relative difference from libtorch %.1e\n",
              difference(r, sy::load_safetensors(path)));
}

void measure(sy::Device device) {
  Uniform random(2, device);
  const Transformer model(TransformerShape{256, 64, 128, 4, 4});
  random.fill(*model);
  const sy::Tensor tokens = random.integers({8, 64}, 256);
  const sy::Tensor targets = random.integers({8, 64}, 256);
  sy::set_num_threads(1);
  print_times(model, tokens, targets);
}

// Six digits, a mark, and the digits in order: 3 1 4 1 5 9 = 1 1 3 4 5 9.
constexpr int64_t kDigits = 6, kMark = 10;
// The batch of all ranks together.
constexpr int64_t kBatch = 32;

sy::Tensor exercises(Uniform& random, int64_t count) {
  const sy::Tensor digits = random.integers({count, kDigits}, 10);
  const auto sorted = std::get<0>(digits.sort());
  const sy::Tensor mark = sy::full_like(digits.slice(1, 0, 1), kMark);
  return sy::cat({digits, mark, sorted}, 1);
}

// The part of new exercises that the model completes without a mistake.
double score(const Transformer& model, Uniform& random) {
  const sy::Tensor all = exercises(random, 200);
  sy::Tensor tokens = all.slice(1, 0, kDigits + 1);
  for (int64_t i = 0; i < kDigits; ++i) {
    const sy::Tensor next =
        evaluate(model, tokens).select(1, -1).argmax(-1, true);
    tokens = sy::cat({tokens, next}, 1);
  }
  return tokens.eq(all).all(1).to(sy::kDouble).mean().item<double>();
}

void teach(sy::Device device) {
  Uniform random(3, device);
  const Transformer model(TransformerShape{11, 2 * kDigits, 32, 4, 2});
  random.fill(*model);
  // The line that makes all ranks train one model.
  dist::DistributedDataParallel ddp(model);
  sy::optim::SGD sgd(model->parameters(),
                     sy::optim::SGDOptions(0.1).momentum(0.9));
  // All ranks draw the same exercises; each learns from its own.
  const int64_t rows = kBatch / dist::get_world_size();
  for (int i = 0; i <= 1500; ++i) {
    const sy::Tensor all =
        exercises(random, kBatch).narrow(0, dist::get_rank() * rows, rows);
    // Only what follows the mark can be known.
    const sy::Tensor targets = all.slice(1, 1).clone();
    targets.slice(1, 0, kDigits).fill_(-100);
    const sy::Tensor loss =
        train_step(model, sgd, all.slice(1, 0, -1), targets);
    if (i % 500 != 0) continue;
    const double mean = mean_over_ranks(loss);
    const double sorted = 100 * score(model, random);
    if (dist::get_rank() != 0) continue;
    std::printf("step %4d  loss %.3f  sorted %3.0f %%\n", i, mean, sorted);
  }
}

}  // namespace
}  // namespace models

// transformer [DEVICE [REFERENCE]]
int main(int argc, char** argv) try {
  const sy::Device device = models::device_of(argc > 1 ? argv[1] : "cpu");
  sy::distributed::init();
  if (sy::distributed::get_world_size() == 1) {
    models::compare(
        argc > 2 ? argv[2] : "examples/transformer/reference.safetensors",
        device);
    models::measure(device);
  }
  models::teach(device);
} catch (const sy::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
