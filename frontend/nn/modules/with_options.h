#pragma once

#include <concepts>
#include <utility>

#include "frontend/nn/module.h"

namespace sy::nn::detail {

// A module that has options, and nothing else that forward needs.
template <class Options>
class SY_API WithOptions : public Module {
 public:
  WithOptions() requires std::default_initializable<Options> {}
  explicit WithOptions(Options options) : options(std::move(options)) {}

  // For modules with parameters: makes them anew.
  void reset() {}

  Options options;
};

}  // namespace sy::nn::detail
