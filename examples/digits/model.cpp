#include "examples/digits/model.h"

#include <cmath>

namespace digits {
namespace {

constexpr int64_t kPixels = 64;
constexpr int64_t kClasses = 10;

// Weights are uniform, with the variance 1 / inputs that keeps the signal's
// size. Biases are 0.
nn::Linear random_layer(int64_t inputs, int64_t outputs,
                        std::mt19937_64& random) {
  nn::Linear layer(inputs, outputs);
  float* const data = layer->weight.mutable_data_ptr<float>();
  const double bound = std::sqrt(3.0 / static_cast<double>(inputs));
  for (int64_t i = 0; i < layer->weight.numel(); ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    data[i] = static_cast<float>((2 * unit - 1) * bound);
  }
  nn::init::zeros_(layer->bias);
  return layer;
}

}  // namespace

ClassifierImpl::ClassifierImpl(int64_t hidden_units, std::mt19937_64& random) {
  hidden =
      register_module("hidden", random_layer(kPixels, hidden_units, random));
  scores =
      register_module("scores", random_layer(hidden_units, kClasses, random));
}

sy::Tensor ClassifierImpl::forward(const sy::Tensor& images) {
  return scores(hidden(images).relu());
}

sy::Tensor predict(const Classifier& model, const sy::Tensor& images) {
  const sy::NoGradGuard no_grad;
  return model(images).argmax(1);
}

double accuracy(const Classifier& model, const sy::Tensor& images,
                const sy::Tensor& labels) {
  const sy::Tensor right = predict(model, images).eq(labels).sum();
  return static_cast<double>(right.item<int64_t>()) /
         static_cast<double>(labels.numel());
}

}  // namespace digits
