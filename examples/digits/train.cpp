#include "examples/digits/train.h"

#include <sy/optim.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace digits {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void check(const Options& o, const Dataset& train) {
  if (o.epochs < 1) throw std::invalid_argument("epochs: expected at least 1");
  if (o.batch < 1 || o.batch > train.size()) {
    throw std::invalid_argument("batch: expected 1 to " +
                                std::to_string(train.size()));
  }
}

}  // namespace

Run train(const Dataset& all, const Options& options, const Watcher& watcher) {
  using Clock = std::chrono::steady_clock;
  std::mt19937_64 random(options.seed);
  Run run{.options = options,
          .data = split(all, options.train_part, options.seed),
          .model = Classifier(options.hidden, random),
          .epochs = {}};
  run.model->to(all.images.device());
  const Dataset& train = run.data.train;
  check(options, train);
  sy::optim::SGD optimizer(run.model->parameters(),
                           sy::optim::SGDOptions(options.learning_rate)
                               .momentum(options.momentum)
                               .weight_decay(options.weight_decay));
  sy::optim::CosineAnnealingLR schedule(optimizer, options.epochs);
  const int64_t batches = train.size() / options.batch;
  std::vector<double> times;

  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const Dataset shuffled = train.rows(permutation(train.size(), random));
    double loss_sum = 0;
    for (int64_t i = 0; i < batches; ++i) {
      const int64_t first = i * options.batch;
      const auto start = Clock::now();
      const sy::Tensor images = shuffled.images.narrow(0, first, options.batch);
      const sy::Tensor labels = shuffled.labels.narrow(0, first, options.batch);
      const sy::Tensor loss = sy::cross_entropy_loss(run.model(images), labels);
      loss.backward();
      optimizer.step();
      optimizer.zero_grad();
      if (watcher.on_step) watcher.on_step();
      loss_sum += loss.item<float>();
      times.push_back(
          std::chrono::duration<double, std::micro>(Clock::now() - start)
              .count());
      if (watcher.on_batch) {
        watcher.on_batch(epoch + 1, double(i + 1) / double(batches));
      }
    }
    schedule.step();
    run.epochs.push_back(
        {epoch + 1, loss_sum / double(batches),
         accuracy(run.model, run.data.test.images, run.data.test.labels)});
    if (watcher.on_epoch) watcher.on_epoch(run.epochs.back());
  }
  run.step_us = median(std::move(times));
  return run;
}

}  // namespace digits
