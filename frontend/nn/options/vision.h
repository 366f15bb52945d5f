#pragma once

#include <optional>

#include "frontend/nn/arg.h"
#include "frontend/nn/options/enums.h"

namespace sy::nn::functional {

struct GridSampleFuncOptions {
  using mode_t = enumtype::OneOf<enumtype::kBilinear, enumtype::kNearest,
                                 enumtype::kBicubic>;
  using padding_mode_t = enumtype::OneOf<enumtype::kZeros, enumtype::kBorder,
                                         enumtype::kReflection>;

  SY_ARG(mode_t, mode) = kBilinear;
  // The values outside of the input.
  SY_ARG(padding_mode_t, padding_mode) = kZeros;
  // Whether -1 and 1 are the centers of the first and last pixels, not their
  // outer edges; std::nullopt is false.
  SY_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

}  // namespace sy::nn::functional
