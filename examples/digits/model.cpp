#include "examples/digits/model.h"

#include <cmath>

namespace digits {
namespace {

constexpr int64_t kPixels = 64;
constexpr int64_t kClasses = 10;

// Uniform, with the variance 1 / inputs that keeps the signal's size.
sy::Tensor random_weight(int64_t outputs, int64_t inputs,
                         std::mt19937_64& random) {
  sy::Tensor w = sy::empty({outputs, inputs});
  float* data = w.mutable_data_ptr<float>();
  const double bound = std::sqrt(3.0 / static_cast<double>(inputs));
  for (int64_t i = 0; i < w.numel(); ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    data[i] = static_cast<float>((2 * unit - 1) * bound);
  }
  return w;
}

}  // namespace

Classifier::Classifier(int64_t hidden, std::mt19937_64& random,
                       sy::Device device)
    : hidden_weight_(random_weight(hidden, kPixels, random).to(device)),
      hidden_bias_(sy::zeros({hidden}).to(device)),
      weight_(random_weight(kClasses, hidden, random).to(device)),
      bias_(sy::zeros({kClasses}).to(device)) {
  for (const sy::Tensor& p : parameters()) p.requires_grad_();
}

sy::Tensor Classifier::scores(const sy::Tensor& images) const {
  const sy::Tensor hidden =
      sy::relu(sy::linear(images, hidden_weight_, hidden_bias_));
  return sy::linear(hidden, weight_, bias_);
}

sy::Tensor Classifier::log_probabilities(const sy::Tensor& images) const {
  return sy::log_softmax(scores(images), 1);
}

sy::Tensor Classifier::predict(const sy::Tensor& images) const {
  const sy::NoGradGuard no_grad;
  return scores(images).argmax(1);
}

std::vector<sy::Tensor> Classifier::parameters() const {
  return {hidden_weight_, hidden_bias_, weight_, bias_};
}

Classifier Classifier::to(sy::Device device) const {
  Classifier copy;
  copy.hidden_weight_ = hidden_weight_.detach().to(device);
  copy.hidden_bias_ = hidden_bias_.detach().to(device);
  copy.weight_ = weight_.detach().to(device);
  copy.bias_ = bias_.detach().to(device);
  return copy;
}

double accuracy(const Classifier& model, const sy::Tensor& images,
                const sy::Tensor& labels) {
  const sy::Tensor right = model.predict(images).eq(labels).sum();
  return static_cast<double>(right.item<int64_t>()) /
         static_cast<double>(labels.numel());
}

}  // namespace digits
