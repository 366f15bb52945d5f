#pragma once

#include "frontend/nn/module.h"
#include "frontend/nn/options/upsampling.h"

namespace sy::nn {

// Resizes the dimensions beyond the first two, as functional::interpolate does.
class SY_API UpsampleImpl : public Module {
 public:
  explicit UpsampleImpl(UpsampleOptions options = {})
      : options(std::move(options)) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  UpsampleOptions options;
};
SY_MODULE(Upsample);

}  // namespace sy::nn
