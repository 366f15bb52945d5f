#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "examples/digits/data.h"
#include "examples/digits/model.h"

namespace digits {

struct Options {
  int epochs = 40;
  uint64_t seed = 1;
  int64_t hidden = 128;
  int64_t batch = 32;
  double learning_rate = 0.2;  // at the start; falls to 0 along a cosine
  double momentum = 0.9;
  double weight_decay = 5e-4;
  double train_part = 0.8;
};

struct Epoch {
  int number;            // from 1
  double loss;           // mean over the epoch's batches
  double test_accuracy;  // measured, never used
};

struct Run {
  Options options;
  Split data;
  Classifier model;
  std::vector<Epoch> epochs;
  double step_us = 0;  // median of one batch: forward, backward, update

  double test_accuracy() const { return epochs.back().test_accuracy; }
};

// Called when the calls of a batch are made, after the batch, and with the
// epoch when one is complete.
struct Watcher {
  std::function<void()> on_step;
  std::function<void(int epoch, double part)> on_batch;
  std::function<void(const Epoch&)> on_epoch;
};

// Shuffles, splits and trains, all by options.seed: the same numbers each time.
// The model is on the device of the images.
Run train(const Dataset& all, const Options& options,
          const Watcher& watcher = {});

}  // namespace digits
