#include "model.h"

#include <random>

namespace host {

sy::Tensor noise(sy::IntArrayRef sizes, uint32_t seed) {
  sy::Tensor t = sy::empty(sizes);
  std::mt19937 random(seed);
  float* data = t.mutable_data_ptr<float>();
  for (int64_t i = 0; i < t.numel(); ++i) {
    data[i] = static_cast<float>(random()) / 2147483648.0f - 1;
  }
  return t;
}

Model Model::make() {
  return {noise({32, 64}, 1), noise({32}, 2), noise({10, 32}, 3),
          noise({10}, 4)};
}

Model Model::to(sy::Device device) const {
  return {weight1.to(device), bias1.to(device), weight2.to(device),
          bias2.to(device)};
}

sy::Tensor Model::operator()(const sy::Tensor& images) const {
  const sy::Tensor hidden = sy::relu(sy::linear(images, weight1, bias1));
  return sy::log_softmax(sy::linear(hidden, weight2, bias2), 1);
}

}  // namespace host
