#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/nn/arg.h"
#include "frontend/nn/options/enums.h"

namespace sy::nn {

namespace functional {

// Either size or scale_factor is given, one value for each dimension beyond the
// first two.
struct InterpolateFuncOptions {
  using mode_t = enumtype::OneOf<enumtype::kNearest, enumtype::kLinear,
                                 enumtype::kBilinear, enumtype::kBicubic,
                                 enumtype::kTrilinear, enumtype::kArea,
                                 enumtype::kNearestExact>;

  SY_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  SY_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  SY_ARG(mode_t, mode) = kNearest;
  // Whether the centers of the corner pixels stay in place, not their edges;
  // std::nullopt is false. Only the modes kLinear to kTrilinear take it.
  SY_ARG(std::optional<bool>, align_corners) = std::nullopt;
  // Whether to interpolate by the ratio of the sizes, not by scale_factor.
  SY_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  // Smooths before it makes images smaller. Only kBilinear and kBicubic
  // take it.
  SY_ARG(bool, antialias) = false;
};

}  // namespace functional

struct UpsampleOptions {
  using mode_t = functional::InterpolateFuncOptions::mode_t;

  SY_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  SY_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  SY_ARG(mode_t, mode) = kNearest;
  SY_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

}  // namespace sy::nn
