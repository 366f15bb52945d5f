#pragma once

#include <sy/io.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <cstdint>

namespace models {

namespace nn = sy::nn;

// Numbers that a few lines in any language make alike (splitmix64), so that a
// model elsewhere has the same weights. Tensors are on one device.
class Uniform {
 public:
  explicit Uniform(uint64_t seed, sy::Device device = sy::kCPU)
      : state_(seed), device_(device) {}

  // Numbers from -bound to bound.
  sy::Tensor tensor(sy::IntArrayRef sizes, double bound);
  // 0 to high - 1, int64.
  sy::Tensor integers(sy::IntArrayRef sizes, uint64_t high);
  // Moves a model to the device, and draws its matrices and kernels in the
  // order of its parameters: from -1 to 1 for embeddings, else from -sqrt(3 /
  // inputs) to sqrt(3 / inputs). Biases become 0; weights of norms stay 1.
  void fill(nn::Module& model);

 private:
  uint64_t next();

  uint64_t state_;
  sy::Device device_;
};

// The device of that name; the library of "lazy" or of "cuda" is loaded.
sy::Device device_of(const char* name);

// The result of a model in evaluation, without gradients. The model is in
// training afterwards.
sy::Tensor evaluate(const nn::AnyModule& model, const sy::Tensor& input);

// A step of training: the weights follow the gradients of the mean loss of the
// model's scores [..., classes] for `targets` [...]. Returns the loss before
// the step, and on device lazy runs what is recorded.
sy::Tensor train_step(const nn::AnyModule& model,
                      sy::optim::Optimizer& optimizer, const sy::Tensor& input,
                      const sy::Tensor& targets);

// The mean of a number over all ranks; alone, the number itself.
double mean_over_ranks(const sy::Tensor& number);

// The results of a model, for comparison with libtorch's.
struct Trial {
  sy::Tensor before;  // scores
  sy::Tensor losses;  // of kSteps steps of training
  sy::Tensor after;   // scores
};
constexpr int kSteps = 10;
constexpr double kRate = 0.1, kMomentum = 0.9;

Trial try_out(const nn::AnyModule& model, const sy::Tensor& input,
              const sy::Tensor& targets);

// The largest of the relative differences from a recorded trial.
double difference(const Trial& trial, const sy::NamedTensors& record);

// Prints the median times of an evaluation and of a step of training.
void print_times(const nn::AnyModule& model, const sy::Tensor& input,
                 const sy::Tensor& targets);

}  // namespace models
