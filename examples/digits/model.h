#pragma once

#include <sy/nn.h>
#include <sy/sy.h>

#include <random>

namespace digits {

namespace nn = sy::nn;

// Pixels -> hidden units -> one score for each digit: images [n, 64] to scores
// [n, 10].
struct ClassifierImpl : nn::Module {
  ClassifierImpl(int64_t hidden_units, std::mt19937_64& random);
  sy::Tensor forward(const sy::Tensor& images);

  nn::Linear hidden{nullptr}, scores{nullptr};
};
SY_MODULE(Classifier);

// The likeliest digit of each image, int64 [n].
sy::Tensor predict(const Classifier& model, const sy::Tensor& images);

// The part of the images that the model gets right, 0 to 1.
double accuracy(const Classifier& model, const sy::Tensor& images,
                const sy::Tensor& labels);

}  // namespace digits
