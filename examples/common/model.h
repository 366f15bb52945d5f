#pragma once

#include <sy/io.h>
#include <sy/sy.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace models {

// Numbers that a few lines in any language make alike (splitmix64), so that a
// model elsewhere has the same weights. Tensors are on one device.
class Uniform {
 public:
  explicit Uniform(uint64_t seed, sy::Device device = sy::kCPU)
      : state_(seed), device_(device) {}

  // From -bound to bound.
  sy::Tensor tensor(sy::IntArrayRef sizes, double bound);
  // 0 to high - 1, int64.
  sy::Tensor integers(sy::IntArrayRef sizes, uint64_t high);
  // No random number.
  sy::Tensor full(sy::IntArrayRef sizes, double value) const;

 private:
  uint64_t next();

  uint64_t state_;
  sy::Device device_;
};

// The device of that name; "lazy" is loaded.
sy::Device device_of(const char* name);

// Every weight requires a gradient.
void require_gradients(const sy::NamedTensors& weights);

// Gradient descent with momentum, over all weights by one operator each.
class Sgd {
 public:
  Sgd(const sy::NamedTensors& weights, double learning_rate, double momentum);
  // Moves the weights along their gradients, and drops these. On device lazy
  // the step runs then.
  void step();

 private:
  std::vector<sy::Tensor> weights_, velocity_;
  double learning_rate_, momentum_;
};

using Function = std::function<sy::Tensor()>;

// What a model does, for comparison with libtorch's.
struct Trial {
  sy::Tensor before;  // scores
  sy::Tensor losses;  // of kSteps steps of training
  sy::Tensor after;   // scores
};
constexpr int kSteps = 10;
constexpr double kRate = 0.1, kMomentum = 0.9;

Trial try_out(const sy::NamedTensors& weights, const Function& scores,
              const Function& loss);

// The largest of the relative differences from a recorded trial.
double difference(const Trial& trial, const sy::NamedTensors& record);

// Prints the median times of a call of `scores` without gradients, and of a
// step of training.
void print_times(const sy::NamedTensors& weights, const Function& scores,
                 const Function& loss);

}  // namespace models
