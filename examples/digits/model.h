#pragma once

#include <sy/sy.h>

#include <random>
#include <vector>

namespace digits {

// Pixels -> hidden units -> one score for each digit.
class Classifier {
 public:
  // Random weights that require gradients.
  Classifier(int64_t hidden, std::mt19937_64& random,
             sy::Device device = sy::kCPU);

  // Scores [n, 10] of images [n, 64].
  sy::Tensor scores(const sy::Tensor& images) const;
  // Logarithms of probabilities [n, 10].
  sy::Tensor log_probabilities(const sy::Tensor& images) const;
  // The likeliest digit of each image, int64 [n].
  sy::Tensor predict(const sy::Tensor& images) const;

  std::vector<sy::Tensor> parameters() const;
  // A copy on another device, without gradients.
  Classifier to(sy::Device device) const;

 private:
  Classifier() = default;

  sy::Tensor hidden_weight_, hidden_bias_, weight_, bias_;
};

// The part of `data` that the model gets right, 0 to 1.
double accuracy(const Classifier& model, const sy::Tensor& images,
                const sy::Tensor& labels);

}  // namespace digits
