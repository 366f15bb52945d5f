#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aten/tensor.h"
#include "frontend/nn/arg.h"

namespace sy::nn {

struct LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  SY_ARG(std::vector<int64_t>, normalized_shape);
  SY_ARG(double, eps) = 1e-5;
  SY_ARG(bool, elementwise_affine) = true;
  // false: of weight and bias only the weight.
  SY_ARG(bool, bias) = true;
};

struct RMSNormOptions {
  RMSNormOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  SY_ARG(std::vector<int64_t>, normalized_shape);
  // std::nullopt: the epsilon of the input's dtype.
  SY_ARG(std::optional<double>, eps) = std::nullopt;
  SY_ARG(bool, elementwise_affine) = true;
};

struct LocalResponseNormOptions {
  LocalResponseNormOptions(int64_t size) : size_(size) {}

  SY_ARG(int64_t, size);
  SY_ARG(double, alpha) = 1e-4;
  SY_ARG(double, beta) = 0.75;
  SY_ARG(double, k) = 1.0;
};

struct CrossMapLRN2dOptions {
  CrossMapLRN2dOptions(int64_t size) : size_(size) {}

  SY_ARG(int64_t, size);
  SY_ARG(double, alpha) = 1e-4;
  SY_ARG(double, beta) = 0.75;
  SY_ARG(int64_t, k) = 1;
};

struct GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}

  SY_ARG(int64_t, num_groups);
  SY_ARG(int64_t, num_channels);
  SY_ARG(double, eps) = 1e-5;
  SY_ARG(bool, affine) = true;
};

namespace functional {

struct LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  SY_ARG(std::vector<int64_t>, normalized_shape);
  SY_ARG(Tensor, weight);
  SY_ARG(Tensor, bias);
  SY_ARG(double, eps) = 1e-5;
};

struct RMSNormFuncOptions {
  RMSNormFuncOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  SY_ARG(std::vector<int64_t>, normalized_shape);
  SY_ARG(Tensor, weight);
  SY_ARG(std::optional<double>, eps) = std::nullopt;
};

using LocalResponseNormFuncOptions = LocalResponseNormOptions;

struct NormalizeFuncOptions {
  SY_ARG(double, p) = 2.0;
  SY_ARG(int64_t, dim) = 1;
  SY_ARG(double, eps) = 1e-12;
  SY_ARG(std::optional<Tensor>, out) = std::nullopt;
};

struct GroupNormFuncOptions {
  GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}

  SY_ARG(int64_t, num_groups);
  SY_ARG(Tensor, weight);
  SY_ARG(Tensor, bias);
  SY_ARG(double, eps) = 1e-5;
};

}  // namespace functional
}  // namespace sy::nn
